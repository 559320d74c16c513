import { findBaseTenant } from '#features/tenants/index.ts'
import { type Config, ConfigError } from '#infra/config/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import {
  loadMasterKey,
  loadPresentMasterKey,
  openSignatures,
  openSigningKeys,
  openVault,
  type Vault,
} from '#infra/keys/index.ts'
import type { Clock } from '#lib/clock.ts'

/** The vault of this server. A database with tenants needs the master key with which it was written: none is
 * made in its place, and another one is refused. Throws a `ConfigError`. */
export async function openServerVault(
  { masterKey: location }: Pick<Config, 'masterKey'>,
  { db, clock }: { readonly db: Database; readonly clock: Clock },
): Promise<Vault> {
  const reader = db.reader(serverTenant)
  const base = await findBaseTenant(reader)
  const masterKey = await (base ? loadPresentMasterKey(location) : loadMasterKey(location))
  const vault = openVault({ masterKey })
  if (!base) return vault
  const keys = openSigningKeys({ db, vault, clock, signatures: openSignatures() })
  await keys.sign(base.tenantId, {}).catch(() => {
    const variable = location.kind === 'file' ? 'MASTER_KEY_FILE' : 'MASTER_KEY'
    const message = 'is another key than the one with which the database was written'
    throw new ConfigError([{ variable, message }])
  })
  return vault
}
