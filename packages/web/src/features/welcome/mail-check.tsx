import { KithError } from '@kith/client'
import { testEmail } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useSubmit } from '#features/settings/screens.ts'
import { client } from '#platform/client.ts'
import { Button } from '#ui/button.tsx'
import { Link } from '#ui/link.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { CheckLine, Commands } from './check-line.tsx'
import { checksTexts } from './checks-texts.ts'
import { emailQuery } from './server-checks-query.ts'

/** Whether mails of the server arrive: shown by an address that was confirmed by mail, or tried. */
export function MailCheck({ isSent }: { readonly isSent: boolean }) {
  const t = useTexts(checksTexts)
  const { data: email } = useQuery(emailQuery)
  const address = email?.pending?.address ?? email?.address ?? undefined
  const isProven = isSent && email?.verified === true && typeof email.address === 'string'
  const state = !isSent ? 'warning' : isProven ? 'ok' : 'unknown'
  return (
    <CheckLine state={state} title={t.mail} mend={isProven ? undefined : <Mend />}>
      <p>{!isSent ? t.mailFiles : isProven ? t.mailProven(String(email.address)) : t.mailSet}</p>
      {isSent && email && address === undefined && (
        <p>
          {t.mailNoAddress} <Link href="/settings/security">{t.mailAddress}</Link>
        </p>
      )}
      {isSent && address !== undefined && <Trial to={address} />}
    </CheckLine>
  )
}

function Mend() {
  const t = useTexts(checksTexts)
  return (
    <>
      <p>{t.mailMend}</p>
      <Commands
        lines={[
          'kith settings set email.smtp.host mail.example.org',
          'kith settings set email.smtp.username kith',
          'kith settings set email.smtp.password --stdin',
          'kith mail test you@example.org',
        ]}
      />
    </>
  )
}

function Trial({ to }: { readonly to: string }) {
  const t = useTexts(checksTexts)
  const [told, setTold] = useState('')
  const { problem, isBusy, onSubmit } = useSubmit(
    async () => {
      setTold('')
      await client.call(testEmail, { body: { to } })
      setTold(t.mailSent(to))
    },
    (error) => {
      const stage = error instanceof KithError ? error.details?.stage : undefined
      return typeof stage === 'string' ? t.mailFailed(stage) : undefined
    },
  )
  return (
    <form class="stack" onSubmit={onSubmit}>
      <div>
        <Button icon="mail" type="submit" isBusy={isBusy}>
          {t.mailSend}
        </Button>
      </div>
      <p role="status">{told}</p>
      <p role="alert">{problem}</p>
    </form>
  )
}
