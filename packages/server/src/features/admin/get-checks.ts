import { type ServerChecks, toIso } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'

export interface ChecksDeps {
  /** Asks the address of the base tenant as others do. */
  examineAddress(base: Tenant): Promise<ServerChecks['address']>
  /** Whether a mail server is set. */
  isMailSent(): Promise<boolean>
  /** When `kith backup` was last done, in Unix milliseconds. */
  findLastBackup(): Promise<number | undefined>
  findRegistration(tenant: Tenant): Promise<'open' | 'invite' | undefined>
}

/** What an administrator should know of a server before others rely on it. */
export async function getChecks(deps: ChecksDeps, base: Tenant): Promise<ServerChecks> {
  const [address, isSent, lastMs, registration] = await Promise.all([
    deps.examineAddress(base),
    deps.isMailSent(),
    deps.findLastBackup(),
    deps.findRegistration(base),
  ])
  return {
    address,
    mail: { isSent },
    backup: lastMs === undefined ? {} : { lastAt: toIso(lastMs / 1000) },
    registration: registration ?? 'closed',
  }
}
