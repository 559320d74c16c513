import type { FileId, IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { alice, aliceTag, bobTag } from '#harness/files-lab.ts'
import { guest } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { listFilePage } from '../file-list-store.ts'
import { findAccessibleFile } from './file-access-store.ts'
import { findFileViewer } from './find-file-viewer.ts'

const first = migrations.findIndex(({ id }) => id === '1310_attachment_issuers')
const copied = `b1~${'C'.repeat(42)}A` as FileId
const own = ['A', 'B', 'D'].map((letter) => `b1~${letter.repeat(42)}A` as FileId)
const [attached, hidden, shared] = own as [FileId, FileId, FileId]
const strangerTag = 'stranger.example' as IdTag

/** What stood in the tables before anybody asked who attaches a file. */
async function storeOld(tx: Writer): Promise<void> {
  const tenant_id = tx.tenantId
  const tables = tx.tables<Record<string, Record<string, string | number | null>>>()
  const insert = (table: string, row: Record<string, string | number | null>) =>
    tables
      .insertInto(table)
      .values({ tenant_id, ...row })
      .execute()
  const file = {
    file_tp: 'BLOB',
    status: 'A',
    preset: 'raw',
    content_type: 'text/plain',
    size: 1,
    tags: '[]',
  }
  const times = { created_at: 1, modified_at: 1 }
  for (const file_id of own)
    await insert('files', { ...file, ...times, file_id, file_name: file_id, owner_tag: aliceTag, is_copy: 0 })
  const copy = { file_id: copied, file_name: 'copy', owner_tag: bobTag, is_copy: 1 }
  await insert('files', { ...file, ...times, ...copy })
  const attach = async (action_id: string, issuer_tag: string, fileIds: readonly FileId[]) => {
    const rest = { type: 'POST', status: 'A', visibility: 'P', created_at: 1, issued_at: 1 }
    await insert('actions', { action_id, issuer_tag, audience_tag: aliceTag, ...rest })
    for (const file_id of fileIds) await insert('action_attachments', { action_id, file_id })
  }
  // Visitors read what a connection addressed to Alice, and what she wrote.
  for (const id_tag of [bobTag, strangerTag])
    await insert('relations', { id_tag, connection: 'connected', updated_at: 1 })
  await attach('a1', aliceTag, [attached])
  await attach('a2', bobTag, [copied, hidden])
  await attach('a3', strangerTag, [...own, copied])
  const share = { resource_id: shared, permission: 'W', created_by: aliceTag, created_at: 1 }
  await insert('shares', { ...share, subject_type: 'F', subject_id: copied })
  await insert('shares', { ...share, subject_type: 'F', subject_id: hidden })
}

eachDialect('Attachments from before it counted who attaches', (open) => {
  test('show what their owners attached, and nothing that others did', async () => {
    const before = await open({ migrations: migrations.slice(0, first) })
    await before.transact(alice.tenantId, storeOld)
    const db = await open.again(before, { migrations })
    const reader = db.reader(alice.tenantId)
    const who = await findFileViewer(reader, { tenant: alice, caller: guest, now: 2 })
    const shown = async (fileId: FileId) => (await findAccessibleFile(reader, who, { fileId, now: 2 }))?.level
    expect(await Promise.all([attached, copied, hidden, shared].map(shown))).toEqual([
      1,
      1,
      undefined,
      undefined,
    ])
    const listing = {
      filter: {},
      sort: 'name',
      direction: 'asc',
      limit: 9,
      now: 2,
      cursor: undefined,
    } as const
    const listed = (await listFilePage(reader, who, listing)).items.map(({ file }) => file.fileId)
    expect(listed.sort()).toEqual([attached, copied].sort())
    const shares = await reader
      .tables<{ shares: { tenant_id: number; subject_id: string } }>()
      .selectFrom('shares')
      .select('subject_id')
      .where('tenant_id', '=', alice.tenantId)
      .execute()
    expect(shares).toEqual([{ subject_id: hidden }])
  })
})
