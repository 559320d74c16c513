import { createHash, type Hash } from 'node:crypto'
import { type IdTag, parseIdTag } from '@kith/protocol'
import { indexActions } from '#features/actions/index.ts'
import { audit } from '#features/audit/index.ts'
import { forgetRemoteProfile } from '#features/profiles/index.ts'
import type { RelationEmitter } from '#features/relations/index.ts'
import { admitTenant, type HostedTenant, resumeTenant, type Tenants } from '#features/tenants/index.ts'
import {
  type About,
  decodeRows,
  isMovedJob,
  listMovedTables,
  type Manifest,
  type MovedTable,
  names,
  readAbout,
  readJob,
  readManifest,
  unreadable,
} from '#features/transfer/index.ts'
import { type ArchivedFile, readArchive, readText } from '#infra/archive/index.ts'
import { type BlobStore, isBlobHash } from '#infra/blobs/index.ts'
import {
  type Database,
  insertTenantRows,
  listAppliedMigrations,
  serverTenant,
  type TenantRow,
} from '#infra/db/index.ts'
import { addMovedJobs } from '#infra/jobs/index.ts'
import type { SigningKeys, Vault } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type PurgeDeps, removeTraces } from '../../purge/purge-tenant.ts'

interface ImportDeps extends PurgeDeps, RelationEmitter {
  readonly db: Database
  readonly blobs: BlobStore
  readonly vault: Vault
  readonly signingKeys: SigningKeys
  readonly clock: Clock
  readonly tenants: Tenants
  /** Throws when this server could not serve the identity. */
  assertCanBeServed(idTag: IdTag): void
}

/** Makes a tenant of what another server has exported. Until everything is there it is suspended, and when something is
 * wrong nothing of it stays. An import that was killed leaves a suspended tenant, to be purged. */
export async function importTenant(deps: ImportDeps, path: string): Promise<Imported> {
  const files = readArchive(path)
  try {
    const about = await readFirst(deps, files)
    const admitted = await admit(deps, about)
    const manifest = await fill(deps, admitted, { about, files })
    const { suspendedAt: _admission, ...active } = admitted
    return { about, tenant: about.tenant.isSuspended ? admitted : active, ...manifest }
  } finally {
    await files.return(undefined)
  }
}

async function fill(
  deps: ImportDeps,
  tenant: HostedTenant,
  { about, files }: { readonly about: About; readonly files: AsyncGenerator<ArchivedFile> },
): Promise<Manifest> {
  try {
    const manifest = await takeFiles(deps, tenant, files)
    await finish(deps, tenant, about)
    return manifest
  } catch (error) {
    await removeTraces(deps, tenant)
    throw error
  }
}

export interface Imported extends Manifest {
  readonly tenant: HostedTenant
  readonly about: About
}

async function readFirst({ db }: ImportDeps, files: AsyncGenerator<ArchivedFile>): Promise<About> {
  const { value: first } = await files.next()
  if (first?.name !== names.about) throw unreadable('it is no export of a tenant')
  const about = readAbout(await readText(first))
  const present = await listAppliedMigrations(db.reader(serverTenant))
  if (about.migrations.join() !== present.join())
    throw unreadable(`it was written by version ${about.version}, whose database has another form`)
  return about
}

async function admit(deps: ImportDeps, { tenant }: About): Promise<HostedTenant> {
  const { db, clock } = deps
  const idTag = parseIdTag(tenant.idTag)
  const ownerTag = tenant.ownerTag === undefined ? undefined : parseIdTag(tenant.ownerTag)
  const appDomain = tenant.appDomain === undefined ? undefined : parseIdTag(tenant.appDomain)
  if (!idTag) throw unreadable('it names no identity')
  if (tenant.appDomain !== appDomain) throw unreadable('its domain is none')
  deps.assertCanBeServed(idTag)
  return db.transact(serverTenant, async (tx) => {
    const { type, createdAt } = tenant
    await forgetRemoteProfile(tx, idTag)
    const admitted = await admitTenant(tx, {
      idTag,
      type,
      createdAt,
      isBase: false,
      suspendedAt: nowSecs(clock),
      ...(ownerTag ? { ownerTag } : {}),
      ...(appDomain === undefined ? {} : { appDomain }),
    })
    tx.afterCommit(() => deps.tenants.forget())
    return admitted
  })
}

async function takeFiles(
  deps: ImportDeps,
  tenant: HostedTenant,
  files: AsyncGenerator<ArchivedFile>,
): Promise<Manifest> {
  const intake = await openIntake(deps, tenant)
  for await (const file of files) {
    const [folder, name = '', part] = file.name.split('/')
    if (folder === 'rows' && part) await intake.takeRows(name, await readText(file))
    else if (folder === 'blobs') await intake.takeBlob(name, file)
    else if (folder === 'jobs') await intake.takeJobs(await readText(file))
    else if (file.name === names.manifest) return intake.compare(readManifest(await readText(file)))
    else throw unreadable(`it holds a file ${file.name}`)
  }
  throw unreadable('its end is missing')
}

async function openIntake(deps: ImportDeps, { tenantId, idTag }: HostedTenant) {
  const { db, blobs, vault } = deps
  const tables = await listMovedTables(db.reader(tenantId))
  const taken = new Map<string, { rows: number; hash: Hash }>()
  const found = { jobs: 0, blobs: { count: 0, bytes: 0 } }
  const tallyOf = ({ name }: MovedTable) => {
    const tally = taken.get(name) ?? { rows: 0, hash: createHash('sha256') }
    taken.set(name, tally)
    return tally
  }
  return {
    async takeRows(name: string, text: string) {
      const table = tables.find((candidate) => candidate.name === name)
      if (!table) throw unreadable(`it holds rows of an unknown table ${name}`)
      const tally = tallyOf(table)
      tally.hash.update(text)
      tally.rows += text.split('\n').length - 1
      const rows = decodeRows(text, table, { vault, tenantId })
      assertOwn(table, rows, idTag)
      await db.transact(tenantId, (tx) => insertTenantRows(tx, table, rows))
    },
    async takeBlob(hash: string, { size, bytes }: ArchivedFile) {
      if (!isBlobHash(hash)) throw unreadable('it holds bytes without a proper name')
      const staged = await blobs.stage(tenantId, bytes, { maxBytes: size })
      try {
        if (staged.hash !== hash) throw unreadable(`its blob ${hash} is damaged`)
        await staged.keep()
      } finally {
        await staged.discard()
      }
      found.blobs.count += 1
      found.blobs.bytes += size
    },
    async takeJobs(text: string) {
      const lines = text.split('\n').filter((line) => line !== '')
      const jobs = lines.map(readJob)
      await db.transact(tenantId, (tx) => addMovedJobs(tx, jobs.filter(isMovedJob)))
      found.jobs += jobs.length
    },
    compare(manifest: Manifest): Manifest {
      const seen = [...taken].map(([name, { rows, hash }]) => [name, { rows, sha256: hash.digest('hex') }])
      const all = { tables: Object.fromEntries(seen), ...found }
      if (fingerprint(all) !== fingerprint(manifest))
        throw unreadable('its contents differ from its manifest')
      return manifest
    },
  }
}

/** Profiles are those of the whole server, and of sessions only some kinds move. */
function assertOwn({ name, only }: MovedTable, rows: readonly TenantRow[], idTag: IdTag): void {
  const wanted = Object.entries(name === 'profiles' ? { id_tag: idTag } : (only ?? {}))
  if (rows.some((row) => wanted.some(([column, value]) => row[column] !== value)))
    throw unreadable(`its table ${name} has a row that does not belong to the tenant`)
}

function fingerprint({ tables, jobs, blobs }: Manifest): string {
  const rows = Object.entries(tables).map(([name, { rows, sha256 }]) => `${name} ${rows} ${sha256}`)
  return [...rows.sort(), jobs, blobs.count, blobs.bytes].join()
}

/** Without its private key a tenant signs with a new one, and what it had is retired. */
async function finish(deps: ImportDeps, { tenantId, idTag }: HostedTenant, about: About): Promise<void> {
  await indexActions(deps, tenantId)
  const keys = await deps.signingKeys.list(tenantId)
  if (keys.length === 0) throw new Failure('E-VALIDATION', { message: `The export has no keys of ${idTag}.` })
  await deps.db.transact(tenantId, async (tx) => {
    if (!about.withKeys) await deps.signingKeys.rotate(tx)
    if (!about.tenant.isSuspended) await resumeTenant(deps, tx)
    await audit(deps, tx, { event: 'tenant.imported', details: { by: 'command line' } })
  })
}
