import { sql } from 'kysely'
import type { BlobHash } from '#infra/blobs/index.ts'
import { type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import { countedKinds, kindColumns, type StorageKind } from './storage-kind.ts'

type KindColumn = (typeof kindColumns)[keyof typeof kindColumns]

export interface StorageTables {
  blobs: {
    tenant_id: number
    blob_hash: string
    size: number
    uses: number
    unused_since: number | null
    is_leaving: number
    /** A `StorageKind`, from the first file that used the blob. */
    kind: string
  }
  storage_usage: { tenant_id: number; used_bytes: number; files: number } & Record<KindColumn, number>
}

export interface SizedBlob {
  readonly hash: BlobHash
  readonly size: number
}

export interface UsedBlob extends SizedBlob {
  readonly kind: StorageKind
}

/** Bytes of one kind, or a number of files, that are added to the usage or taken off it. */
interface UsageChange {
  readonly bytes: number
  readonly kind: StorageKind
  readonly files: number
}

const upsertBlob = statement<
  StorageTables,
  { tenantId: number; hash: string; size: number; kind: string },
  { uses: number; kind: string }
>((tables, value) =>
  tables
    .insertInto('blobs')
    .values({
      tenant_id: value('tenantId'),
      blob_hash: value('hash'),
      size: value('size'),
      uses: 1,
      unused_since: null,
      is_leaving: 0,
      kind: value('kind'),
    })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'blob_hash']).doUpdateSet((set) => ({
        uses: set('blobs.uses', '+', 1),
        unused_since: null,
        // One that a dead upload left was not measured.
        size: set.ref('excluded.size'),
        // Its bytes are taken off the kind that they were added to, so it changes only while nothing uses the blob.
        kind: sql<string>`case when blobs.uses = 0 then excluded.kind else blobs.kind end`,
      })),
    )
    .returning(['uses', 'kind']),
)

type ChangedUsage = { tenantId: number; bytes: number; files: number } & Record<KindColumn, number>

const kindNames = Object.values(kindColumns)

const addUsage = statement<StorageTables, ChangedUsage, unknown>((tables, value) =>
  tables
    .insertInto('storage_usage')
    .values({
      tenant_id: value('tenantId'),
      used_bytes: value('bytes'),
      files: value('files'),
      ...mapKinds((name) => value(name)),
    })
    .onConflict((conflict) =>
      conflict.column('tenant_id').doUpdateSet((set) => ({
        used_bytes: set('storage_usage.used_bytes', '+', set.ref('excluded.used_bytes')),
        files: set('storage_usage.files', '+', set.ref('excluded.files')),
        ...mapKinds((name) => set(`storage_usage.${name}`, '+', set.ref(`excluded.${name}`))),
      })),
    ),
)

function mapKinds<Value>(make: (name: KindColumn) => Value): Record<KindColumn, Value> {
  return Object.fromEntries(kindNames.map((name) => [name, make(name)])) as Record<KindColumn, Value>
}

export async function changeUsage(tx: Writer, { bytes, kind, files }: UsageChange): Promise<void> {
  const column = kind === 'others' ? undefined : kindColumns[kind]
  const ofKinds = mapKinds((name) => (name === column ? bytes : 0))
  await tx.change(addUsage, { tenantId: tx.tenantId, bytes, files, ...ofKinds })
}

export interface Usage {
  readonly usedBytes: number
  readonly files: number
}

/** Of several tenants; what is not there uses nothing. */
export async function listUsage(
  reader: Reader,
  tenantIds: readonly TenantId[],
): Promise<ReadonlyMap<TenantId, Usage>> {
  if (tenantIds.length === 0) return new Map()
  const rows = await reader
    .tables<StorageTables>()
    .selectFrom('storage_usage')
    .selectAll()
    .where('tenant_id', 'in', tenantIds)
    .execute()
  return new Map(
    rows.map((row) => [row.tenant_id as TenantId, { usedBytes: row.used_bytes, files: row.files }]),
  )
}

/** What all tenants use together. */
export async function sumUsage(reader: Reader): Promise<Usage> {
  const row = await reader
    .tables<StorageTables>()
    .selectFrom('storage_usage')
    .select((column) => [
      column.fn.sum<number | null>('used_bytes').as('used_bytes'),
      column.fn.sum<number | null>('files').as('files'),
    ])
    .executeTakeFirstOrThrow()
  return { usedBytes: Number(row.used_bytes ?? 0), files: Number(row.files ?? 0) }
}

/** The tenants that use most, the first one most. */
export async function listLargestUsers(reader: Reader, limit: number): Promise<TenantId[]> {
  const rows = await reader
    .tables<StorageTables>()
    .selectFrom('storage_usage')
    .select('tenant_id')
    .where('used_bytes', '>', 0)
    .orderBy('used_bytes', 'desc')
    .orderBy('tenant_id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.tenant_id as TenantId)
}

export async function findUsage(reader: Reader): Promise<Usage> {
  const row = await reader
    .tables<StorageTables>()
    .selectFrom('storage_usage')
    .select(['used_bytes', 'files'])
    .where('tenant_id', '=', reader.tenantId)
    .executeTakeFirst()
  return { usedBytes: row?.used_bytes ?? 0, files: row?.files ?? 0 }
}

/** The bytes of each kind; `others` is `usedBytes` less those of the counted kinds. */
export async function findUsageByKind(
  reader: Reader,
): Promise<Readonly<Record<StorageKind, number>> & { readonly usedBytes: number }> {
  const row = await reader
    .tables<StorageTables>()
    .selectFrom('storage_usage')
    .select(['used_bytes', ...kindNames])
    .where('tenant_id', '=', reader.tenantId)
    .executeTakeFirst()
  const usedBytes = row?.used_bytes ?? 0
  const known = Object.fromEntries(
    countedKinds.map((kind) => [kind, row?.[kindColumns[kind]] ?? 0]),
  ) as Record<keyof typeof kindColumns, number>
  const others = usedBytes - Object.values(known).reduce((sum, bytes) => sum + bytes, 0)
  return { usedBytes, ...known, others }
}

/** Counts one more use of a blob for each row that names it; bytes that the tenant did not use yet count against its
 * quota. */
export async function useBlobs(tx: Writer, blobs: readonly UsedBlob[]): Promise<void> {
  const { tenantId } = tx
  for (const { hash, size, kind } of blobs) {
    const row = await tx.first(upsertBlob, { tenantId, hash, size, kind })
    if (row?.uses === 1) await changeUsage(tx, { bytes: size, kind, files: 0 })
  }
}

/** Takes one use off a blob. What nothing uses any more is off the usage at once; the bytes are removed after a while.
 * `now`: Unix seconds. */
export async function releaseBlob(tx: Writer, hash: BlobHash, now: number): Promise<void> {
  const row = await tx
    .tables<StorageTables>()
    .updateTable('blobs')
    .set({
      uses: sql`uses - 1`,
      unused_since: sql`case when uses = 1 then ${now} else unused_since end`,
    })
    .where('tenant_id', '=', tx.tenantId)
    .where('blob_hash', '=', hash)
    .returning(['size', 'uses', 'kind'])
    .executeTakeFirst()
  if (row?.uses === 0) await countUnused(tx, [{ size: row.size, kind: row.kind as StorageKind }])
}

/** Takes bytes that nothing uses any more off the usage. */
export async function countUnused(
  tx: Writer,
  unused: readonly { readonly size: number; readonly kind: StorageKind }[],
): Promise<void> {
  const sums = new Map<StorageKind, number>()
  for (const { size, kind } of unused) sums.set(kind, (sums.get(kind) ?? 0) + size)
  for (const [kind, bytes] of sums) if (bytes > 0) await countBytes(tx, -bytes, kind)
}

/** Adds to the usage, or takes off it. */
export async function countBytes(tx: Writer, bytes: number, kind: StorageKind): Promise<void> {
  await changeUsage(tx, { bytes, kind, files: 0 })
}

export async function countFiles(tx: Writer, change: number): Promise<void> {
  await changeUsage(tx, { bytes: 0, kind: 'others', files: change })
}
