import { queueAccountMail } from '#features/accounts/index.ts'
import { findBaseTenant } from '#features/tenants/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { CertificateState } from './certificate.ts'

const mostNamed = 20
const daySecs = 86_400

/** Mails the administrator of certificates that cannot be renewed. */
export async function tellAdmin(
  deps: { readonly jobs: Pick<Jobs, 'enqueue'>; readonly clock: Clock },
  tx: Writer,
  states: readonly CertificateState[],
): Promise<void> {
  const base = await findBaseTenant(tx)
  if (!base) return
  const lines = states.slice(0, mostNamed).map(({ name, notAfter = 0, fault }) => {
    const days = Math.floor((notAfter - nowSecs(deps.clock)) / daySecs)
    const when = days < 0 ? 'has ended' : `ends in ${days} days`
    return `${name} (${when}): ${fault?.detail ?? ''}`
  })
  if (states.length > mostNamed) lines.push(`and ${states.length - mostNamed} more`)
  const mail = { template: 'certificates-failing', about: lines.join('; '), isOfServer: true } as const
  await queueAccountMail(deps, tx.as(base.tenantId), mail)
}
