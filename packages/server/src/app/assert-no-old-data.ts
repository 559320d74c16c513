import { readdir } from 'node:fs/promises'
import { isTenantFolder } from '#infra/blobs/index.ts'
import { type Config, ConfigError } from '#infra/config/index.ts'
import { isThere } from '#infra/disk/index.ts'
import { unlessMissing } from '#lib/system-error.ts'

/** Before a new database is made: refuses one beside the master key or the files of an older one, which is then a volume that was not
 * mounted or a DATABASE_URL that leads elsewhere. Throws a `ConfigError`. */
export async function assertNoOldData(
  config: Pick<Config, 'dataDir' | 'database' | 'blobStore' | 'masterKey'>,
): Promise<void> {
  const found = (await findOldKey(config)) ?? (await findOldFiles(config))
  if (found === undefined) return
  const place = config.database.kind === 'sqlite' ? config.database.path : 'the database that it names'
  const message = `leads to no database of a server yet (${place}), but ${found} of an older one. If that is to go on, bring its database back: mount its volume, correct the address, or restore a backup (kith restore --force). To begin anew, move ${config.dataDir} away, and what BLOB_STORE names`
  throw new ConfigError([{ variable: 'DATABASE_URL', message }])
}

async function findOldKey({ masterKey }: Pick<Config, 'masterKey'>): Promise<string | undefined> {
  const isOwn = masterKey.kind === 'file' && masterKey.generated
  return isOwn && (await isThere(masterKey.path)) ? `${masterKey.path} is the key` : undefined
}

async function findOldFiles({ blobStore }: Pick<Config, 'blobStore'>): Promise<string | undefined> {
  if (blobStore.kind !== 'file') return undefined
  const names = (await unlessMissing(readdir(blobStore.path))) ?? []
  return names.some(isTenantFolder) ? `${blobStore.path} has the files` : undefined
}
