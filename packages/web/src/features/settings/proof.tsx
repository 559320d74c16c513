import { KithError } from '@kith/client'
import { useState } from 'preact/hooks'
import { canUsePasskeys, signInAnew, signInAnewWithPasskey } from '#platform/sign-in-anew.ts'
import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { Field } from '#ui/field.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { proofTexts } from './proof-texts.ts'
import { useSubmit } from './use-submit.ts'

/** Whether the server wants a fresh proof of who asks. */
function wantsProof(error: unknown): boolean {
  return error instanceof KithError && error.details?.reason === 'sign-in-again'
}

/** Does something dangerous: `run` tries it, and where the server wants a fresh proof of who asks, `dialog` takes one and it is
 * tried once more. */
export function useProof() {
  const [waiting, setWaiting] = useState<(isProven: boolean) => void>()
  const ask = () =>
    new Promise<boolean>((resolve) => {
      setWaiting(() => (isProven: boolean) => {
        setWaiting(undefined)
        resolve(isProven)
      })
    })
  async function run(work: () => Promise<unknown>): Promise<'done' | 'given up'> {
    try {
      await work()
    } catch (error) {
      if (!wantsProof(error)) throw error
      if (!(await ask())) return 'given up'
      await work()
    }
    return 'done'
  }
  return { run, dialog: waiting && <ProofDialog onAnswer={waiting} /> }
}

function ProofDialog({ onAnswer }: { readonly onAnswer: (isProven: boolean) => void }) {
  const t = useTexts(proofTexts)
  const reasonFor = (error: unknown) => reasonOf(error, t)
  const byPassword = useSubmit(async (_, field) => {
    await signInAnew(field('password'))
    onAnswer(true)
  }, reasonFor)
  const byPasskey = useSubmit(async () => {
    await signInAnewWithPasskey()
    onAnswer(true)
  }, reasonFor)
  return (
    <Dialog title={t.title} onClose={() => onAnswer(false)}>
      <form class="stack" onSubmit={byPassword.onSubmit}>
        <p>{t.why}</p>
        <Field
          label={t.password}
          problem={byPassword.problem}
          name="password"
          type="password"
          autocomplete="current-password"
          autofocus
          required
        />
        <div>
          <Button kind="primary" type="submit" isBusy={byPassword.isBusy}>
            {t.confirm}
          </Button>
        </div>
      </form>
      {canUsePasskeys() && (
        <form class="stack" onSubmit={byPasskey.onSubmit}>
          <p role="alert">{byPasskey.problem}</p>
          <div>
            <Button icon="key-round" type="submit" isBusy={byPasskey.isBusy}>
              {t.passkey}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}

function reasonOf(error: unknown, t: { readonly wrong: string; readonly notUsed: string }) {
  if (!(error instanceof KithError)) return error instanceof TypeError ? undefined : t.notUsed
  return error.code === 'E-AUTH-BADCRED' ? t.wrong : undefined
}
