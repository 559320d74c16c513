import { dirname, sep } from 'node:path'
import { type Config, ConfigError } from '#infra/config/index.ts'
import { findFolderTrouble } from '#infra/disk/index.ts'
import { checkTlsFiles, readAuthorityCertificate } from './check-tls-files.ts'
import { assertNotForeignRoot } from './data-owner.ts'
import { bindDnsBriefly, listenBriefly } from './try-to-listen.ts'

/** Throws what keeps a server from its folders, its certificate files or its ports, before a database with an identity is
 * made. `kith doctor` asks the same. */
export async function assertStartable(config: Config): Promise<void> {
  assertNotForeignRoot(config)
  const problems: { variable: string; message: string }[] = []
  for (const { variable, path } of foldersOf(config)) {
    const trouble = await findFolderTrouble(path)
    if (trouble) problems.push({ variable, message: `cannot be used: ${trouble.path} ${trouble.why}` })
  }
  if (problems.length > 0) throw new ConfigError(problems)
  if (config.tls.kind === 'files') await checkTlsFiles(config.tls)
  if (config.tls.kind === 'acme' && config.tls.caFile !== undefined)
    await readAuthorityCertificate(config.tls.caFile)
  await assertListenable(config)
}

async function assertListenable({ listen, tls, metricsListen, federation }: Config): Promise<void> {
  const addresses = [listen, ...(tls.kind === 'off' ? [] : [tls.listen]), metricsListen]
  for (const address of addresses) if (address && address.port !== 0) await listenBriefly(address)
  for (const address of federation.dnsListen) if (address.port !== 0) await bindDnsBriefly(address)
}

/** Those in DATA_DIR need no look of their own. */
function foldersOf({ dataDir, database, blobStore }: Config): { variable: string; path: string }[] {
  const folders = [
    ...(database.kind === 'sqlite' ? [{ variable: 'DATABASE_URL', path: dirname(database.path) }] : []),
    ...(blobStore.kind === 'file' ? [{ variable: 'BLOB_STORE', path: blobStore.path }] : []),
  ]
  const others = folders.filter(({ path }) => path !== dataDir && !path.startsWith(`${dataDir}${sep}`))
  return [{ variable: 'DATA_DIR', path: dataDir }, ...others]
}
