import { createHash, type Hash } from 'node:crypto'
import { type IdTag, parseIdTag, type ValidationIssue } from '@kith/protocol'
import { queueScheduled } from '#features/actions/index.ts'
import { auditCommand } from '#features/audit/index.ts'
import { dropStrayParts, listDatabaseBytes } from '#features/databases/index.ts'
import { listDocumentBytes } from '#features/documents/index.ts'
import { queueVerification } from '#features/federation/index.ts'
import { assertMovedFolders, makeMovedVariants, recountUsage, setBlobSize } from '#features/files/index.ts'
import { forgetRemoteProfile } from '#features/profiles/index.ts'
import { queueStandingEnds } from '#features/relations/index.ts'
import {
  admitTenant,
  assertAdmitted,
  endAdmission,
  findTenantByIdTag,
  type HostedTenant,
  type Tenants,
} from '#features/tenants/index.ts'
import {
  type About,
  decodeRows,
  listMovedTables,
  type Manifest,
  names,
  type QueueMovedDeps,
  readAbout,
  readManifest,
  readMovedJob,
  unreadable,
} from '#features/transfer/index.ts'
import { type ArchivedFile, readArchive, readText } from '#infra/archive/index.ts'
import { type BlobStore, isBlobHash } from '#infra/blobs/index.ts'
import {
  type Database,
  isRefusedValue,
  listAppliedMigrations,
  serverTenant,
  type TenantId,
  type Writer,
} from '#infra/db/index.ts'
import type { Signatures, SigningKeys, Vault } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type PurgeDeps, withdrawImport } from '../../purge/purge-tenant.ts'
import { openRowTaker, type RowTaker } from './take-rows.ts'

interface ImportDeps extends PurgeDeps, QueueMovedDeps {
  readonly db: Database
  readonly blobs: BlobStore
  readonly vault: Vault
  readonly signingKeys: SigningKeys
  readonly signatures: Pick<Signatures, 'verify'>
  readonly clock: Clock
  readonly tenants: Tenants
  /** Throws when this server could not serve the name, has given it to somebody, or keeps it from everybody. */
  assertFree(tx: Writer, name: IdTag): Promise<void>
}

// Each may ask another server for something.
const maxJobs = 100_000
// Others wait for the transaction that takes a part. Exports write fewer.
const maxLinesPerPart = 1000

/** Makes a tenant of what another server has exported. Until everything is there it is suspended, and when something is
 * wrong nothing of it stays. What an import that was killed has left is taken back by the next one of the same name. */
export async function importTenant(deps: ImportDeps, path: string): Promise<Imported> {
  const files = readArchive(path)
  try {
    const about = await readFirst(deps, files)
    const admitted = await admit(deps, about)
    return { about, ...(await fill(deps, admitted, { about, files })) }
  } finally {
    await files.return(undefined)
  }
}

async function fill(
  deps: ImportDeps,
  tenant: HostedTenant,
  { about, files }: { readonly about: About; readonly files: AsyncGenerator<ArchivedFile> },
): Promise<Omit<Imported, 'about'>> {
  try {
    const rows = openRowTaker(deps, tenant)
    const taken = await takeFiles(deps, tenant, { files, rows })
    const imported = await refusing('the whole', () => finish(deps, tenant, { about, rows, ...taken }))
    return { ...taken.manifest, tenant: imported, leftOut: rows.leftOut }
  } catch (error) {
    await withdrawImport(deps, tenant)
    throw error
  }
}

export interface Imported extends Manifest {
  readonly tenant: HostedTenant
  readonly about: About
  readonly leftOut: RowTaker['leftOut']
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
  if (!idTag) throw unreadable('it names no identity')
  const former = await findTenantByIdTag(db.reader(serverTenant), idTag)
  if (former?.underWay === 'import') await withdrawImport(deps, former)
  return db.transact(serverTenant, async (tx) => {
    const { type, createdAt } = tenant
    const now = nowSecs(clock)
    const appDomain = ownDomain(tenant, idTag)
    for (const name of [idTag, ...(appDomain ? [appDomain] : [])]) await deps.assertFree(tx, name)
    await forgetRemoteProfile(tx, idTag)
    const row = {
      ...{ idTag, type, createdAt, isBase: false },
      ...{ suspendedAt: now, underWay: 'import' as const },
      ...(appDomain ? { appDomain } : {}),
    }
    const admitted = await admitTenant(tx, row, now)
    tx.afterCommit(() => deps.tenants.forget())
    return admitted
  })
}

/** The app's domain, if it lies below the identity, whose owner decides on it. Nothing shows who owns another one. */
function ownDomain({ appDomain }: About['tenant'], idTag: IdTag): IdTag | undefined {
  const domain = parseIdTag(appDomain ?? '')
  return domain?.endsWith(`.${idTag}`) ? domain : undefined
}

async function takeFiles(
  deps: ImportDeps,
  tenant: HostedTenant,
  { files, rows }: { readonly files: AsyncGenerator<ArchivedFile>; readonly rows: RowTaker },
): Promise<Taken> {
  const intake = await openIntake(deps, tenant, rows)
  for await (const file of files) {
    const [folder, name = '', part] = file.name.split('/')
    if (folder === 'rows' && part) await intake.takeRows(name, await readText(file))
    else if (folder === 'blobs') await intake.takeBlob(name, file)
    else if (folder === 'jobs') await intake.takeJobs(await readText(file))
    else if (file.name === names.manifest)
      return { manifest: intake.compare(readManifest(await readText(file))), jobs: intake.jobs }
    else throw unreadable(`it holds a file ${file.name}`)
  }
  throw unreadable('its end is missing')
}

interface Taken {
  readonly manifest: Manifest
  /** They are queued when everything is there, since a running server begins at once. */
  readonly jobs: readonly ReturnType<typeof readMovedJob>[]
}

async function openIntake(deps: ImportDeps, { tenantId, idTag }: HostedTenant, rows: RowTaker) {
  const { db, blobs, vault } = deps
  const tables = await listMovedTables(db.reader(tenantId))
  const taken = new Map<string, { rows: number; hash: Hash }>()
  const found = { jobs: 0, blobs: { count: 0, bytes: 0 } }
  const jobs: ReturnType<typeof readMovedJob>[] = []
  return {
    jobs,
    async takeRows(name: string, text: string) {
      const table = tables.find((candidate) => candidate.name === name)
      if (!table) throw unreadable(`it holds rows of an unknown table ${name}`)
      const tally = taken.get(name) ?? { rows: 0, hash: createHash('sha256') }
      taken.set(name, tally)
      tally.hash.update(text)
      tally.rows += linesOf(text).length
      await refusing(`its table ${name}`, async () => {
        const side = { vault, tenantId, now: nowSecs(deps.clock) }
        const write = await rows.take(table, decodeRows(text, table, side))
        await whileAdmitted(db, tenantId, write)
      })
    },
    async takeBlob(hash: string, { size, bytes }: ArchivedFile) {
      if (!isBlobHash(hash)) throw unreadable('it holds bytes without a proper name')
      const staged = await blobs.stage(tenantId, bytes, { maxBytes: size })
      try {
        if (staged.hash !== hash) throw unreadable(`its blob ${hash} is damaged`)
        await staged.keep()
        await whileAdmitted(db, tenantId, (tx) => setBlobSize(tx, { hash, size: staged.size }))
      } finally {
        await staged.discard()
      }
      found.blobs.count += 1
      found.blobs.bytes += size
    },
    async takeJobs(text: string) {
      const lines = linesOf(text)
      if (found.jobs + lines.length > maxJobs) throw unreadable('it holds too many jobs')
      jobs.push(...lines.map((line) => readMovedJob(line, idTag)))
      found.jobs += lines.length
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

/** Nothing is added to a tenant that another command has taken back meanwhile. */
async function whileAdmitted(db: Database, tenantId: TenantId, write: (tx: Writer) => Promise<unknown>) {
  await db.transact(tenantId, async (tx) => {
    await assertAdmitted(tx)
    await write(tx)
  })
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '')
  if (lines.length > maxLinesPerPart) throw unreadable(`a part of it has more than ${maxLinesPerPart} lines`)
  return lines
}

/** Says which part is refused, and why: by its form, or because the database does not take it. */
async function refusing<Result>(part: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (isRefusedValue(error)) throw unreadable(`${part} holds what no server has written`)
    const issue = error instanceof Failure && error.code === 'E-VALIDATION' ? firstIssue(error) : undefined
    throw issue ? unreadable(`in ${part} ${issue.path.slice(1)} ${issue.message}`) : error
  }
}

function firstIssue({ details }: Failure): ValidationIssue | undefined {
  return (details as { issues?: readonly ValidationIssue[] } | undefined)?.issues?.[0]
}

function fingerprint({ tables, jobs, blobs }: Manifest): string {
  const rows = Object.entries(tables).map(([name, { rows, sha256 }]) => `${name} ${rows} ${sha256}`)
  return [...rows.sort(), jobs, blobs.count, blobs.bytes].join()
}

/** Without its private key a tenant signs with a new one, and what it had is retired. */
async function finish(
  deps: ImportDeps,
  { tenantId, idTag }: HostedTenant,
  { about, rows, jobs }: { readonly about: About; readonly rows: RowTaker } & Pick<Taken, 'jobs'>,
): Promise<HostedTenant> {
  const keys = await deps.signingKeys.list(tenantId)
  if (keys.length === 0) throw new Failure('E-VALIDATION', { message: `The export has no keys of ${idTag}.` })
  return deps.db.transact(tenantId, async (tx) => {
    if (!about.withKeys) await deps.signingKeys.rotate(tx)
    await assertMovedFolders(tx)
    await dropStrayParts(tx)
    for (const write of rows.late) await write(tx)
    await recountUsage(tx, [...(await listDocumentBytes(tx)), ...(await listDatabaseBytes(tx))])
    await queueWork(deps, tx, jobs)
    await auditCommand(deps, tx, { event: 'tenant.imported' })
    return endAdmission(deps, tx, about.tenant)
  })
}

/** Queues what the rows ask for (variants of pictures, publications, ends, verification) and the jobs of the archive. */
async function queueWork(deps: ImportDeps, tx: Writer, jobs: Taken['jobs']): Promise<void> {
  await makeMovedVariants(deps, tx)
  await queueScheduled(deps, tx)
  await queueStandingEnds(deps, tx)
  await queueVerification(deps, tx)
  for (const queue of jobs) await queue(deps, tx)
}
