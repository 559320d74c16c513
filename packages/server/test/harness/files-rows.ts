import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { IdTag, Visibility } from '@kith/protocol'
import { findUsageByKind } from '#features/files/upload/storage-store.ts'
import { changeRelation } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { alice } from './files-people.ts'
import type { TestClock } from './test-clock.ts'

interface LabTables {
  files: {
    tenant_id: number
    file_id: string
    file_tp: string
    status: string
    parent_id: string | null
    size: number
    is_copy: number
    blob_hash: string | null
    owner_tag: string
  }
  file_variants: { tenant_id: number; blob_hash: string }
  blobs: {
    tenant_id: number
    blob_hash: string
    uses: number
    size: number
    unused_since: number | null
    kind: string
  }
  storage_reservations: { tenant_id: number; reservation_id: string; bytes: number; expires_at: number }
  blob_claims: { tenant_id: number; reservation_id: string; blob_hash: string }
  jobs: { tenant_id: number; kind: string }
  actions: Record<string, string | number | null>
  action_attachments: { tenant_id: number; file_id: string; action_id: string; issuer_tag: string }
  storage_usage: { tenant_id: number; used_bytes: number; files: number }
  uploads: { tenant_id: number; upload_id: string }
}

/** Looks at what is stored, past every rule, and puts there what other features would. */
export function filesRows(db: Database, clock: TestClock, dir: string) {
  const tables = (tenant: Tenant) => db.reader(tenant.tenantId).tables<LabTables>()
  let actions = 0
  return {
    /** Everything that an upload could leave behind. */
    async remains(tenant = alice) {
      const at = tenant.tenantId
      const rows = async (table: keyof LabTables) =>
        (await tables(tenant).selectFrom(table).select('tenant_id').where('tenant_id', '=', at).execute())
          .length
      return {
        files: await rows('files'),
        blobs: await rows('blobs'),
        reservations: await rows('storage_reservations'),
        claims: await rows('blob_claims'),
        jobs: await rows('jobs'),
        onDisk: await filesBelow(join(dir, 'blobs')),
      }
    },
    /** Uploads that are remembered, and files of bytes that have arrived for them. */
    async unfinished() {
      const all = db.reader(serverTenant).tables<LabTables>()
      const uploads = await all.selectFrom('uploads').selectAll().execute()
      return { uploads: uploads.length, files: await filesBelow(join(dir, 'uploads')) }
    },
    /** What cannot be: files in what is no live folder, folders in each other, bytes counted wrongly. */
    async inconsistencies(tenant = alice): Promise<string[]> {
      const at = tenant.tenantId
      const files = await tables(tenant).selectFrom('files').selectAll().where('tenant_id', '=', at).execute()
      const byId = new Map(files.map((file) => [file.file_id, file]))
      const wrong: string[] = []
      for (const file of files) {
        const parent = file.parent_id === null ? undefined : byId.get(file.parent_id)
        if (file.parent_id !== null && parent?.file_tp !== 'FLDR')
          wrong.push(`${file.file_id} is in no folder`)
        if (parent && (parent.status === 'D') !== (file.status === 'D'))
          wrong.push(`${file.file_id} is half gone`)
        let above = parent
        for (let steps = 0; above && steps < 100; steps += 1)
          above = above.parent_id === null ? undefined : byId.get(above.parent_id)
        if (above) wrong.push(`${file.file_id} lies in itself`)
      }
      const variants = await tables(tenant)
        .selectFrom('file_variants')
        .select('blob_hash')
        .where('tenant_id', '=', at)
        .execute()
      const uses = new Map<string, number>()
      for (const { blob_hash } of [...files, ...variants])
        if (blob_hash !== null) uses.set(blob_hash, (uses.get(blob_hash) ?? 0) + 1)
      const blobs = await tables(tenant).selectFrom('blobs').selectAll().where('tenant_id', '=', at).execute()
      const kinds = new Map<string, number>()
      const add = (kind: string, size: number) => kinds.set(kind, (kinds.get(kind) ?? 0) + size)
      let bytes = 0
      for (const { blob_hash, uses: counted, size, unused_since, kind } of blobs) {
        if (counted !== (uses.get(blob_hash) ?? 0)) wrong.push(`${blob_hash} has ${counted} uses`)
        if ((unused_since !== null) !== (counted === 0)) wrong.push(`${blob_hash} is unused or not`)
        if (counted === 0) continue
        bytes += size
        add(kind, size)
      }
      for (const { file_tp, size, is_copy } of files) {
        if (is_copy !== 0 || (file_tp !== 'CRDT' && file_tp !== 'RTDB')) continue
        bytes += size
        add(file_tp === 'RTDB' ? 'databases' : 'documents', size)
      }
      const { usedBytes: _, ...told } = await findUsageByKind(db.reader(at))
      for (const [kind, counted] of Object.entries(told))
        if (counted !== (kinds.get(kind) ?? 0)) wrong.push(`${counted} bytes are counted of ${kind}`)
      const usage = await this.usage(tenant)
      if ((usage?.used_bytes ?? 0) !== bytes) wrong.push(`${usage?.used_bytes} bytes are counted of ${bytes}`)
      if ((usage?.files ?? 0) !== files.length)
        wrong.push(`${usage?.files} files are counted of ${files.length}`)
      return wrong
    },
    async usage(tenant = alice) {
      const query = tables(tenant).selectFrom('storage_usage').select(['used_bytes', 'files'])
      return await query.where('tenant_id', '=', tenant.tenantId).executeTakeFirst()
    },
    /** An action that the tenant holds, with files attached. */
    async putAction(
      tenant: Tenant,
      action: {
        visibility: Visibility
        attachments: readonly string[]
        issuer?: IdTag
        audienceTag?: IdTag
        status?: string
      },
    ): Promise<string> {
      actions += 1
      const actionId = `a1~${String(actions).padStart(42, 'A')}A`
      const { visibility, attachments, issuer = tenant.idTag, status = 'A' } = action
      await db.transact(tenant.tenantId, async (tx) => {
        const write = tx.tables<LabTables>()
        const row = {
          tenant_id: tx.tenantId,
          action_id: actionId,
          type: 'POST',
          issuer_tag: issuer,
          audience_tag: action.audienceTag ?? null,
          visibility,
        }
        const times = { created_at: 1, issued_at: 1 }
        await write
          .insertInto('actions')
          .values({ ...row, ...times, status })
          .execute()
        for (const fileId of attachments)
          await write
            .insertInto('action_attachments')
            .values({ tenant_id: tx.tenantId, file_id: fileId, action_id: actionId, issuer_tag: issuer })
            .execute()
      })
      return actionId
    },
    /** What a process leaves that dies between naming the bytes of every upload under way and the rows that use them. */
    async claimAsIfDying(hash: string, tenant = alice): Promise<void> {
      await db.transact(tenant.tenantId, async (tx) => {
        const write = tx.tables<LabTables>()
        const rows = await write.selectFrom('storage_reservations').selectAll().execute()
        for (const { tenant_id, reservation_id } of rows)
          await write
            .insertInto('blob_claims')
            .values({ tenant_id, reservation_id, blob_hash: hash })
            .execute()
        const inAnHour = Math.floor(clock.now() / 1000) + 3600
        await write.updateTable('storage_reservations').set({ expires_at: inAnHour }).execute()
      })
    },
    /** Puts a file into any folder, as was possible once. */
    async placeAsBefore(fileId: string, parentId: string, tenant = alice) {
      await db.transact(tenant.tenantId, async (tx) => {
        const files = tx.tables<LabTables>().updateTable('files').set({ parent_id: parentId })
        await files.where('tenant_id', '=', tx.tenantId).where('file_id', '=', fileId).execute()
      })
    },
    /** Has a file of the tenant's own be a copy of what `owner` has. */
    async makeCopy(fileId: string, owner: IdTag, tenant = alice) {
      await db.transact(tenant.tenantId, async (tx) => {
        const files = tx.tables<LabTables>().updateTable('files').set({ is_copy: 1, owner_tag: owner })
        await files.where('tenant_id', '=', tx.tenantId).where('file_id', '=', fileId).execute()
      })
    },
    async relate(tenant: Tenant, idTag: IdTag, what: Parameters<typeof changeRelation>[2]) {
      await db.transact(tenant.tenantId, (tx) => changeRelation(tx, idTag, what))
    },
  }
}

export async function filesBelow(dir: string): Promise<number> {
  const entries = await readdir(dir, { withFileTypes: true, recursive: true })
  return entries.filter((entry) => entry.isFile()).length
}
