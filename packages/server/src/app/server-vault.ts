import { access } from 'node:fs/promises'
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
 * made in its place, and another one is refused. So is a database that was made just now (`isNew`) beside a
 * master key that a server has made before: the one that belongs to the key is missing. Throws a `ConfigError`. */
export async function openServerVault(
  { masterKey: location }: Pick<Config, 'masterKey'>,
  { db, clock, isNew = false }: { readonly db: Database; readonly clock: Clock; readonly isNew?: boolean },
): Promise<Vault> {
  const reader = db.reader(serverTenant)
  const base = await findBaseTenant(reader)
  if (isNew && !base) await assertNoOldKey(location)
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

async function assertNoOldKey(location: Config['masterKey']): Promise<void> {
  if (location.kind !== 'file' || !location.generated) return
  const isThere = await access(location.path).then(
    () => true,
    () => false,
  )
  if (!isThere) return
  const message = `names a new database, but ${location.path} is the key of an old one, which is missing. Bring that back, or move the key away to begin anew`
  throw new ConfigError([{ variable: 'DATABASE_URL', message }])
}
