import { KithError } from '@kith/client'
import { useState } from 'preact/hooks'
import { session, signOut } from '#platform/session.ts'
import { canUsePasskeys, signInAnew, signInAnewWithPasskey } from '#platform/sign-in-anew.ts'
import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { Field } from '#ui/field.tsx'
import { useExplain } from '#ui/problem.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { appTexts } from './app-texts.ts'

type Way = 'password' | 'passkey' | 'leaving'

/** Over the page of whoever was signed out meanwhile: after it everything is as it was. */
export function SignInAgain() {
  const t = useTexts(appTexts)
  const present = session.get()
  const idTag = 'login' in present ? present.login.idTag : ''
  const { busy, problem, run } = useSigningIn()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const password = String(new FormData(event.currentTarget as HTMLFormElement).get('password') ?? '')
    void run('password', () => signInAnew(password))
  }
  return (
    <Dialog title={t.signedOut}>
      <form class="stack" onSubmit={submit}>
        <p>{t.signedOutWhy(idTag)}</p>
        <Field
          label={t.password}
          problem={problem?.way === 'password' ? problem.why : undefined}
          name="password"
          type="password"
          autocomplete="current-password"
          autofocus
          required
        />
        <div class="row">
          <Button kind="primary" type="submit" isBusy={busy === 'password'}>
            {t.signIn}
          </Button>
          {canUsePasskeys() && (
            <Button
              icon="key-round"
              isBusy={busy === 'passkey'}
              onClick={() => void run('passkey', signInAnewWithPasskey)}
            >
              {t.withPasskey}
            </Button>
          )}
          <Button kind="quiet" onClick={() => void run('leaving', signOut)}>
            {t.otherAccount}
          </Button>
        </div>
        <p role="alert">{problem && problem.way !== 'password' && problem.why}</p>
      </form>
    </Dialog>
  )
}

/** One way at a time, and what went wrong with it. */
function useSigningIn() {
  const t = useTexts(appTexts)
  const explain = useExplain()
  const [busy, setBusy] = useState<Way>()
  const [problem, setProblem] = useState<{ readonly way: Way; readonly why: string }>()
  const reasonOf = (error: unknown) => {
    if (!(error instanceof KithError)) return error instanceof TypeError ? explain(error) : t.passkeyNotUsed
    return error.code === 'E-AUTH-BADCRED' ? t.wrong : explain(error)
  }
  const run = async (way: Way, signIn: () => Promise<void>) => {
    if (busy) return
    setBusy(way)
    setProblem(undefined)
    try {
      await signIn()
    } catch (error) {
      setProblem({ way, why: reasonOf(error) })
      setBusy(undefined)
    }
  }
  return { busy, problem, run }
}
