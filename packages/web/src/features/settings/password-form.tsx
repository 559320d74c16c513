import { notify } from '#platform/notices.ts'
import { changePasswordHere } from '#platform/sign-in-anew.ts'
import { Button } from '#ui/button.tsx'
import { codeOf } from '#ui/explain.ts'
import { Field } from '#ui/field.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { securityTexts } from './security-texts.ts'
import { useSubmit } from './use-submit.ts'

/** Changes the password. All sessions end with that; this one begins anew. */
export function PasswordForm() {
  const t = useTexts(securityTexts)
  const { problem, isBusy, onSubmit } = useSubmit(
    async (form, field) => {
      await changePasswordHere(field('present'), field('next'))
      form.reset()
      notify(t.changed)
    },
    (error) => (codeOf(error) === 'E-AUTH-BADCRED' ? t.wrong : undefined),
  )
  return (
    <section class="card stack" aria-labelledby="password">
      <h2 id="password">{t.password}</h2>
      <p class="soft">{t.passwordWhy}</p>
      <form class="stack" onSubmit={onSubmit}>
        <Field
          label={t.present}
          problem={problem}
          name="present"
          type="password"
          autocomplete="current-password"
          required
        />
        <Field
          label={t.next}
          hint={t.nextWhy}
          name="next"
          type="password"
          autocomplete="new-password"
          minLength={8}
          maxLength={1024}
          required
        />
        <div>
          <Button type="submit" isBusy={isBusy}>
            {t.change}
          </Button>
        </div>
      </form>
    </section>
  )
}
