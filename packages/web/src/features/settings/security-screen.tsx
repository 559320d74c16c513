import { useTexts } from '#ui/use-texts.ts'
import { EmailAddress } from './email-address.tsx'
import { Passkeys } from './passkeys.tsx'
import { PasswordForm } from './password-form.tsx'
import { Section } from './section.tsx'
import { settingsTexts } from './settings-texts.ts'

/** How one signs in. */
export function SecurityScreen() {
  const t = useTexts(settingsTexts)
  return (
    <Section title={t.security}>
      <Passkeys />
      <PasswordForm />
      <EmailAddress />
    </Section>
  )
}
