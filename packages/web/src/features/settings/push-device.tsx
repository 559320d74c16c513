import { KithError } from '@kith/client'
import { queryOptions, useMutation, useQuery } from '@tanstack/preact-query'
import { notify } from '#platform/notices.ts'
import { canBePushed, endPush, isPushed, startPush } from '#platform/push.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { useExplain } from '#ui/problem.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { privacyTexts } from './privacy-texts.ts'

/** Whether this browser is notified. */
export const pushQuery = queryOptions({ queryKey: ['settings', 'push'], queryFn: isPushed, staleTime: 0 })

/** Notifications on this device, as a section. */
export function PushDevice() {
  const t = useTexts(privacyTexts)
  return (
    <section class="card stack" aria-labelledby="push-device">
      <h2 id="push-device">{t.device}</h2>
      <PushSwitch />
    </section>
  )
}

/** Whether this browser is notified; it is asked for on a tap, after the reason. */
export function PushSwitch() {
  const t = useTexts(privacyTexts)
  const { data: isOn = false } = useQuery({ ...pushQuery, enabled: canBePushed() })
  const change = useChangePush(isOn)
  return (
    <>
      <p>{!canBePushed() ? t.cannotPush : isOn ? t.pushIsOn : t.deviceWhy}</p>
      {canBePushed() && (
        <div>
          <Button
            kind={isOn ? 'plain' : 'primary'}
            icon="bell"
            isBusy={change.isPending}
            onClick={() => change.mutate()}
          >
            {isOn ? t.endPush : t.startPush}
          </Button>
        </div>
      )}
    </>
  )
}

function useChangePush(isOn: boolean) {
  const t = useTexts(privacyTexts)
  const explain = useExplain()
  return useMutation({
    mutationFn: async () => (isOn ? await endPush() : await startPush()),
    onSuccess: (outcome) => {
      if (outcome === 'denied') notify(t.pushDenied, { kind: 'failed' })
    },
    onError: (error) =>
      notify(error instanceof KithError ? explain(error) : t.pushFailed, { kind: 'failed' }),
    onSettled: () => queries.invalidateQueries({ queryKey: pushQuery.queryKey }),
  })
}
