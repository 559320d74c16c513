import { createAction, type Profile, parseRefId, type RefId, redeemJoinLink } from '@kith/protocol'
import { useMutation } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { peopleKey } from '#features/people/screens.ts'
import { shownName } from '#lib/identity.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { codeOf } from '#ui/explain.ts'
import { useExplain } from '#ui/problem.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { communitiesKey } from './communities-keys.ts'
import { joiningTexts } from './joining-texts.ts'

function codeOfPage(): RefId | undefined {
  return parseRefId(new URLSearchParams(location.hash.slice(1)).get('join') ?? '')
}

/** Where a link led here: asks whether one wants to join, since following a link agrees to nothing. */
export function JoinByLink({ profile }: { readonly profile: Profile }) {
  const t = useTexts(joiningTexts)
  const [code, setCode] = useState(codeOfPage)
  const name = shownName(profile.name, profile.idTag)
  const leave = () => {
    history.replaceState(history.state, '', location.pathname + location.search)
    setCode(undefined)
  }
  const join = useJoin(profile, { name, onJoined: leave })
  if (code === undefined || profile.connected === 'connected') return null
  return (
    <section class="card stack">
      <h2>{t.invited(name)}</h2>
      <p class="soft">{t.invitedWhy}</p>
      <div class="row">
        <Button kind="primary" icon="check" isBusy={join.isPending} onClick={() => join.mutate(code)}>
          {t.join}
        </Button>
        <Button onClick={leave}>{t.later}</Button>
      </div>
    </section>
  )
}

function useJoin(
  { idTag }: Pick<Profile, 'idTag'>,
  { name, onJoined }: { readonly name: string; readonly onJoined: () => void },
) {
  const t = useTexts(joiningTexts)
  const explain = useExplain()
  return useMutation({
    mutationFn: async (code: RefId) => {
      await client.at(idTag).call(redeemJoinLink, { body: { code } })
      // A community accepts it again where only the own server has forgotten the membership.
      const body = { type: 'CONN', audienceTag: idTag, idempotencyKey: crypto.randomUUID() } as const
      await client.call(createAction, { body })
    },
    onSuccess: () => {
      notify(t.joined(name))
      onJoined()
    },
    onError: (error) => {
      const why = codeOf(error) === 'E-NOTFOUND' ? t.over : explain(error)
      notify(`${t.joinFailed} ${why}`, { kind: 'failed' })
    },
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: communitiesKey })
      void queries.invalidateQueries({ queryKey: peopleKey })
    },
  })
}
