import { deviceOf } from '#lib/device-name.ts'
import { notify } from '#platform/notices.ts'
import { canUsePasskeys } from '#platform/sign-in-anew.ts'
import { Button } from '#ui/button.tsx'
import { Field } from '#ui/field.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { makePasskey, whyNoPasskey } from './make-passkey.ts'
import type { useProof } from './proof.tsx'
import { securityTexts } from './security-texts.ts'
import { useSubmit } from './use-submit.ts'

/** A form that makes a passkey on this device. */
export function AddPasskey({ run }: { readonly run: ReturnType<typeof useProof>['run'] }) {
  const t = useTexts(securityTexts)
  const { program, system } = deviceOf(navigator.userAgent)
  const device = t.deviceName(program, system)
  const { problem, isBusy, onSubmit } = useSubmit(
    async (form, field) => {
      const name = field('name').trim() || device
      if ((await run(() => makePasskey(name))) === 'given up') return
      form.reset()
      notify(t.added)
    },
    (error) => {
      const why = whyNoPasskey(error)
      return why && t[why]
    },
  )
  if (!canUsePasskeys()) return <p>{t.noSupport}</p>
  return (
    <form class="stack" onSubmit={onSubmit}>
      <Field
        label={t.passkeyName}
        hint={t.passkeyNameWhy}
        problem={problem}
        name="name"
        autocomplete="off"
        defaultValue={device}
        maxLength={100}
      />
      <div>
        <Button kind="primary" icon="key-round" type="submit" isBusy={isBusy}>
          {t.add}
        </Button>
      </div>
    </form>
  )
}
