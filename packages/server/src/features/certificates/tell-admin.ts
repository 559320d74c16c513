import { findAccount, queueAccountMail } from '#features/accounts/index.ts'
import { findBaseTenant } from '#features/tenants/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { type CertificateState, describeLife } from './certificate.ts'

const mostNamed = 20

/** Mails the administrator of names that get no certificate: to the address that the authority has, where the account has
 * none. */
export async function tellAdmin(
  deps: { readonly jobs: Pick<Jobs, 'enqueue'>; readonly clock: Clock; readonly email: string | undefined },
  tx: Writer,
  states: readonly CertificateState[],
): Promise<void> {
  const base = await findBaseTenant(tx)
  if (!base) return
  const now = nowSecs(deps.clock)
  const lines = states
    .slice(0, mostNamed)
    .map(
      (state) =>
        `${state.name} (${describeLife(state, now)}): ${state.fault?.detail ?? 'not renewed in time'}`,
    )
  if (states.length > mostNamed) lines.push(`and ${states.length - mostNamed} more`)
  const own = tx.as(base.tenantId)
  const to = (await findAccount(own))?.email ?? deps.email
  if (to === undefined) return
  const mail = { template: 'certificates-failing', about: lines.join('; '), to, isOfServer: true } as const
  await queueAccountMail(deps, own, mail)
}
