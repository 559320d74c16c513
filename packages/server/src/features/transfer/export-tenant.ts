import { createHash } from 'node:crypto'
import { toIso } from '@kith/protocol'
import { listBlobRows } from '#features/files/index.ts'
import type { HostedTenant } from '#features/tenants/index.ts'
import { type ArchiveSink, createArchive } from '#infra/archive/index.ts'
import type { BlobHash, BlobStore } from '#infra/blobs/index.ts'
import {
  type Database,
  listAppliedMigrations,
  listTenantRows,
  type Reader,
  serverTenant,
  type TenantId,
  type TenantRow,
} from '#infra/db/index.ts'
import { listOpenJobs } from '#infra/jobs/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { isMovedJob } from './moved-jobs.ts'
import { encodeRows } from './row-lines.ts'
import { listMovedTables, type MovedTable } from './tenant-tables.ts'
import { type About, formatVersion, type Manifest, names } from './transfer-format.ts'

export interface ExportDeps {
  readonly db: Database
  readonly blobs: Pick<BlobStore, 'size' | 'open'>
  readonly vault: Vault
  readonly clock: Clock
  /** Of the program. */
  readonly version: string
}

interface ExportedSecrets {
  /** Secrets are included, unencrypted. */
  readonly withKeys: boolean
  /** The hash of the password is included, which whoever has the file may guess at. */
  readonly withPassword: boolean
}

interface ExportOptions {
  readonly path: string
  readonly withKeys: boolean
  readonly signal?: AbortSignal
}

type ExportedRows = Pick<Manifest, 'tables' | 'jobs'>

// A part is made in memory: rows have at most some 100 kB, and those of documents some MiB of bytes.
const rowsPerPart = 200
const rowsOfBytesPerPart = 8
// Asked anew for each page, since files go while others are sent.
const blobsPerPage = 20

/** Writes everything that belongs to a tenant to a file that another server can import. Rows are those of one moment;
 * bytes are copied after it, while the tenant may go on living. */
export async function exportTenant(
  deps: ExportDeps,
  tenant: HostedTenant,
  { path, withKeys, signal }: ExportOptions,
): Promise<Manifest & { bytes: number }> {
  const archive = await createArchive(path, signal ? { signal } : {})
  try {
    const rows = await exportRows(deps, archive, tenant, { withKeys, withPassword: true })
    const manifest = await exportBytes(deps, archive, tenant, rows)
    return { ...manifest, bytes: await archive.keep() }
  } finally {
    await archive.discard()
  }
}

/** The first part of an export: what stands in the database at one moment. It is read for as long as `archive` takes. */
export async function exportRows(
  deps: ExportDeps,
  archive: ArchiveSink,
  tenant: HostedTenant,
  secrets: ExportedSecrets,
): Promise<ExportedRows> {
  return await deps.db.snapshot(async (readerOf) => {
    const migrations = await listAppliedMigrations(readerOf(serverTenant))
    await addJson(archive, names.about, aboutOf(deps, tenant, { ...secrets, migrations }))
    const reader = readerOf(tenant.tenantId)
    const tables: Manifest['tables'] = {}
    for (const table of await listMovedTables(reader)) {
      const written = await addTable(deps, archive, { reader, table, ...secrets })
      if (written.rows > 0) tables[table.name] = written
    }
    return { tables, jobs: await addJobs(archive, reader) }
  })
}

/** The second part: the bytes of files, and what the archive holds in all. */
export async function exportBytes(
  deps: ExportDeps,
  archive: ArchiveSink,
  tenant: Pick<HostedTenant, 'tenantId'>,
  rows: ExportedRows,
): Promise<Manifest> {
  const manifest = { ...rows, blobs: await addBlobs(deps, archive, tenant) }
  await addJson(archive, names.manifest, manifest)
  return manifest
}

function aboutOf(
  { clock, version }: ExportDeps,
  { idTag, type, createdAt, suspendedAt, ownerTag, appDomain }: HostedTenant,
  how: Pick<About, 'withKeys' | 'withPassword' | 'migrations'>,
): About {
  return {
    format: 'kith-export',
    formatVersion,
    version,
    createdAt: toIso(nowSecs(clock)),
    ...how,
    tenant: {
      idTag,
      type,
      createdAt,
      isSuspended: suspendedAt !== undefined,
      ...(ownerTag === undefined ? {} : { ownerTag }),
      ...(appDomain === undefined ? {} : { appDomain }),
    },
  }
}

async function addTable(
  { vault, clock }: ExportDeps,
  archive: ArchiveSink,
  { reader, table, ...secrets }: { reader: Reader; table: MovedTable } & ExportedSecrets,
): Promise<{ rows: number; sha256: string }> {
  const digest = createHash('sha256')
  const { only } = table
  const where = table.leaving?.(nowSecs(clock))
  const limit = hasBytes(table) ? rowsOfBytesPerPart : rowsPerPart
  let rows = 0
  let after: TenantRow | undefined
  for (let part = 1; ; part += 1) {
    const request = {
      limit,
      ...(only ? { only } : {}),
      ...(where ? { where } : {}),
      ...(after ? { after } : {}),
    }
    const page = await listTenantRows(reader, table, request)
    const side = { vault, tenantId: reader.tenantId, ...secrets }
    const text = Buffer.from(encodeRows(page, table, side))
    digest.update(text)
    rows += page.length
    if (page.length > 0) await archive.add(names.rows(table.name, part), text)
    if (page.length < limit) return { rows, sha256: digest.digest('hex') }
    after = page.at(-1)
  }
}

/** Other than secrets, which are short. */
function hasBytes({ columns, sealed }: MovedTable): boolean {
  return columns.some(({ kind, name }) => kind === 'blob' && name !== sealed?.column)
}

async function addJobs(archive: ArchiveSink, reader: Reader): Promise<number> {
  let count = 0
  let after = 0
  for (let part = 1; ; part += 1) {
    const page = await listOpenJobs(reader, { after, limit: rowsPerPart })
    const lines = page.filter(isMovedJob).map(({ jobId: _number, ...job }) => `${JSON.stringify(job)}\n`)
    if (lines.length > 0) await archive.add(names.jobs(part), Buffer.from(lines.join('')))
    count += lines.length
    if (page.length < rowsPerPart) return count
    after = page.at(-1)?.jobId ?? after
  }
}

/** Only what is needed when its turn comes: what was deleted lies in the store for a while. */
async function addBlobs(
  deps: ExportDeps,
  archive: ArchiveSink,
  { tenantId }: Pick<HostedTenant, 'tenantId'>,
) {
  const copied = { count: 0, bytes: 0 }
  let page: readonly { readonly hash: BlobHash }[]
  let after = ''
  do {
    page = await listBlobRows(deps.db.reader(tenantId), { after, limit: blobsPerPage, onlyUsed: true })
    for (const { hash } of page) {
      const size = await addBlob(deps, archive, { tenantId, hash })
      if (size === undefined) continue
      copied.count += 1
      copied.bytes += size
    }
    after = page.at(-1)?.hash ?? after
  } while (page.length === blobsPerPage)
  return copied
}

/** Undefined for one that has been removed since it was listed, with the file that it belonged to. */
async function addBlob(
  { blobs }: ExportDeps,
  archive: ArchiveSink,
  { tenantId, hash }: { readonly tenantId: TenantId; readonly hash: BlobHash },
): Promise<number | undefined> {
  const size = await blobs.size(tenantId, hash)
  const bytes = size === undefined ? undefined : await blobs.open(tenantId, hash)
  if (size === undefined || !bytes) return undefined
  await archive.add(names.blob(hash), { size, bytes })
  return size
}

async function addJson(archive: ArchiveSink, name: string, value: unknown): Promise<void> {
  await archive.add(name, Buffer.from(`${JSON.stringify(value)}\n`))
}
