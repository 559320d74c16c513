import { makePasskey, useProof, useSubmit, whyNoPasskey } from '#features/settings/screens.ts'
import { deviceOf } from '#lib/device-name.ts'
import { notify } from '#platform/notices.ts'
import { canUsePasskeys } from '#platform/sign-in-anew.ts'
import { Button } from '#ui/button.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { welcomeTexts } from './welcome-texts.ts'

interface PasskeyStepProps {
  readonly hasOne: boolean
  readonly onDone: () => void
}

/** A passkey of this device, named after it. */
export function PasskeyStep({ hasOne, onDone }: PasskeyStepProps) {
  const t = useTexts(welcomeTexts)
  const { run, dialog } = useProof()
  const make = async () => {
    const { program, system = '' } = deviceOf(navigator.userAgent)
    if ((await run(() => makePasskey(t.device(program, system)))) === 'given up') return
    notify(t.passkeyMade)
    onDone()
  }
  const { problem, isBusy, onSubmit } = useSubmit(make, (error) => {
    const why = whyNoPasskey(error)
    return why && { known: t.passkeyKnown, notMade: t.passkeyNotMade }[why]
  })
  if (!canUsePasskeys()) return <p>{t.passkeyCannot}</p>
  return (
    <>
      <form class="stack" onSubmit={onSubmit}>
        <p>{hasOne ? t.passkeyIs : t.passkeyWhy}</p>
        {!hasOne && (
          <div>
            <Button kind="primary" icon="key-round" type="submit" isBusy={isBusy}>
              {t.passkeyMake}
            </Button>
          </div>
        )}
        <p role="alert">{problem}</p>
      </form>
      {dialog}
    </>
  )
}
