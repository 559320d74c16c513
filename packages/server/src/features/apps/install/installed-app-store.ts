import type { ActionId, AppManifest, FileId, IdTag } from '@kith/protocol'
import type { AppName } from '#features/accounts/index.ts'
import type { BlobHash } from '#infra/blobs/index.ts'
import { type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'
import type { ZipEntry } from '#infra/zip/index.ts'
import { type PackedEntries, packEntries } from '../content/packed-entries.ts'
import type { InstalledApp } from './installed-app.ts'

interface AppRow {
  tenant_id: number
  publisher_tag: string
  name: string
  publisher_id: number | null
  app_id: string
  version: string
  action_id: string
  file_id: string
  blob_hash: string
  auto_update: number
  withdrawn_at: number | null
  manifest: string
  entries: string
  installed_at: number
  updated_at: number
}

interface AppTables {
  installed_apps: AppRow
}

const described = [
  'publisher_tag',
  'publisher_id',
  'action_id',
  'file_id',
  'blob_hash',
  'auto_update',
  'withdrawn_at',
  'manifest',
  'installed_at',
  'updated_at',
] as const

export async function findInstalled(reader: Reader, app: AppName): Promise<InstalledApp | undefined> {
  const row = await reader
    .tables<AppTables>()
    .selectFrom('installed_apps')
    .select(described)
    .where('tenant_id', '=', reader.tenantId)
    .where('publisher_tag', '=', app.publisherTag)
    .where('name', '=', app.name)
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function isAppInstalled(reader: Reader, app: AppName): Promise<boolean> {
  return (await findInstalled(reader, app)) !== undefined
}

/** All apps of the tenant, by name. Tenants have few. */
export async function listInstalled(reader: Reader): Promise<InstalledApp[]> {
  const rows = await reader
    .tables<AppTables>()
    .selectFrom('installed_apps')
    .select(described)
    .where('tenant_id', '=', reader.tenantId)
    .orderBy('name')
    .orderBy('publisher_tag')
    .execute()
  return rows.map(fromRow)
}

export async function countInstalled(reader: Reader): Promise<number> {
  const { count } = await reader
    .tables<AppTables>()
    .selectFrom('installed_apps')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('tenant_id', '=', reader.tenantId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Writes an app, in the place of its older version. */
export async function putInstalled(
  tx: Writer,
  app: InstalledApp,
  entries: readonly ZipEntry[],
): Promise<void> {
  const { manifest } = app
  const changing = {
    publisher_id: app.publisherId ?? null,
    app_id: manifest.id,
    version: manifest.version,
    action_id: app.actionId,
    file_id: app.fileId,
    blob_hash: app.hash,
    auto_update: Number(app.autoUpdate),
    withdrawn_at: app.withdrawnAt ?? null,
    manifest: JSON.stringify(manifest),
    entries: packEntries(entries),
    updated_at: app.updatedAt,
  }
  await tx
    .tables<AppTables>()
    .insertInto('installed_apps')
    .values({
      ...changing,
      tenant_id: tx.tenantId,
      publisher_tag: app.publisherTag,
      name: manifest.name,
      installed_at: app.installedAt,
    })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'publisher_tag', 'name']).doUpdateSet(changing))
    .execute()
}

/** Writes what may change of an app without another version. */
export async function changeInstalled(
  tx: Writer,
  { publisherTag, manifest, actionId, autoUpdate, withdrawnAt }: InstalledApp,
): Promise<void> {
  await tx
    .tables<AppTables>()
    .updateTable('installed_apps')
    .set({
      action_id: actionId,
      auto_update: Number(autoUpdate),
      withdrawn_at: withdrawnAt ?? null,
    })
    .where('tenant_id', '=', tx.tenantId)
    .where('publisher_tag', '=', publisherTag)
    .where('name', '=', manifest.name)
    .execute()
}

export async function deleteInstalled(tx: Writer, app: AppName): Promise<void> {
  await tx
    .tables<AppTables>()
    .deleteFrom('installed_apps')
    .where('tenant_id', '=', tx.tenantId)
    .where('publisher_tag', '=', app.publisherTag)
    .where('name', '=', app.name)
    .execute()
}

/** Notes that the offer of an installed app is over. `at`: Unix seconds. */
export async function setWithdrawn(tx: Writer, actionId: ActionId, at: number): Promise<void> {
  await tx
    .tables<AppTables>()
    .updateTable('installed_apps')
    .set({ withdrawn_at: at })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .execute()
}

interface FileValues {
  readonly tenantId: number
  readonly fileId: string
}

const selectHash = statement<AppTables, FileValues, { blob_hash: string }>((tables, value) =>
  tables
    .selectFrom('installed_apps')
    .select('blob_hash')
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .limit(1),
)

const selectEntries = statement<AppTables, FileValues, { entries: string }>((tables, value) =>
  tables
    .selectFrom('installed_apps')
    .select('entries')
    .where('tenant_id', '=', value('tenantId'))
    .where('file_id', '=', value('fileId'))
    .limit(1),
)

/** The bytes of a package that the tenant has installed. */
export async function findPackageHash(reader: Reader, fileId: FileId): Promise<BlobHash | undefined> {
  const row = await reader.first(selectHash, { tenantId: reader.tenantId, fileId })
  return row?.blob_hash as BlobHash | undefined
}

/** Where the files of a package lie that the tenant has installed. */
export async function findPackedEntries(reader: Reader, fileId: FileId): Promise<PackedEntries | undefined> {
  const row = await reader.first(selectEntries, { tenantId: reader.tenantId, fileId })
  return row?.entries as PackedEntries | undefined
}

function fromRow(row: Pick<AppRow, (typeof described)[number]>): InstalledApp {
  return {
    publisherTag: row.publisher_tag as IdTag,
    publisherId: (row.publisher_id ?? undefined) as TenantId | undefined,
    manifest: JSON.parse(row.manifest) as AppManifest,
    actionId: row.action_id as ActionId,
    fileId: row.file_id as FileId,
    hash: row.blob_hash as BlobHash,
    autoUpdate: row.auto_update === 1,
    withdrawnAt: row.withdrawn_at ?? undefined,
    installedAt: row.installed_at,
    updatedAt: row.updated_at,
  }
}
