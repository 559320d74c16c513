import { useTexts } from '#ui/use-texts.ts'
import { Invitations } from './invitations.tsx'
import { LinkTools } from './link-tools.tsx'
import { useChecks } from './server-checks-query.ts'
import { welcomeTexts } from './welcome-texts.ts'

interface InviteStepProps {
  readonly isAdmin: boolean
  readonly onUsed: () => void
}

/** Who has an account elsewhere gets one's address; who has none, an invitation of the administrator. */
export function InviteStep({ isAdmin, onUsed }: InviteStepProps) {
  const t = useTexts(welcomeTexts)
  const checks = useChecks(isAdmin)
  const url = `${location.origin}/`
  const register = `${location.origin}/register`
  return (
    <>
      {isAdmin && checks.data?.registration === 'invite' && <Invitations onUsed={onUsed} />}
      {isAdmin && checks.data?.registration === 'open' && (
        <div class="stack">
          <h3>{t.accounts}</h3>
          <p>{t.accountsOpen}</p>
          <LinkTools url={register} label={t.accounts} mail={t.mailOpen(register)} onUsed={onUsed} />
        </div>
      )}
      <div class="stack">
        <h3>{t.address}</h3>
        <p>{t.addressWhy}</p>
        <LinkTools url={url} label={t.address} mail={t.mailAddress(url)} onUsed={onUsed} />
      </div>
    </>
  )
}
