import type { ActionId } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { alice, aliceTag, bobTag, club, type FilesLab, filesLab, identity } from '#harness/files-lab.ts'
import { recordReader } from '#harness/recorded-statements.ts'
import { nowSecs } from '#lib/clock.ts'
import { listAttachedFiles } from './list-attached-files.ts'

const owner = identity(aliceTag, alice)

eachDialect('The files that actions show', (open) => {
  const openLab = filesLab(open)

  async function started() {
    const lab = await openLab()
    const upload = async (name: string) => (await lab.upload(name, name)).json.data.fileId as string
    const attach = (fileIds: readonly string[], more = {}, tenant = alice) =>
      lab.putAction(tenant, { visibility: 'P', attachments: fileIds, ...more }) as Promise<ActionId>
    return { lab, upload, attach }
  }
  const shown = async ({ db, clock }: FilesLab, actionIds: readonly ActionId[], tenant = alice) => {
    const query = { tenant, actionIds, now: nowSecs(clock) }
    const files = await listAttachedFiles(db.reader(tenant.tenantId), query)
    return files.map(({ actionId, file }) => [actionId, file.fileName]).toSorted()
  }

  test('are those of each action that is asked for, by one query', async () => {
    const { lab, upload, attach } = await started()
    const [one, two, other] = [await upload('one'), await upload('two'), await upload('other')]
    const [first, second] = [await attach([one, two]), await attach([two])]
    await attach([other])
    const statements: string[] = []
    const reader = recordReader(lab.db.reader(alice.tenantId), (text) => statements.push(text))
    const query = { tenant: alice, actionIds: [first, second], now: nowSecs(lab.clock) }
    expect(await listAttachedFiles(reader, query)).toHaveLength(3)
    expect(statements).toHaveLength(1)
    expect(await shown(lab, [first, second])).toEqual(
      [
        [first, 'one'],
        [first, 'two'],
        [second, 'two'],
      ].toSorted(),
    )
    expect(await shown(lab, [])).toEqual([])
  })

  test('are those of the issuer alone, and of the tenant alone', async () => {
    const { lab, upload, attach } = await started()
    const fileId = await upload('private')
    expect(await shown(lab, [await attach([fileId], { issuer: bobTag })])).toEqual([])
    expect(await shown(lab, [await attach([fileId], {}, club)], club)).toEqual([])
  })

  test('are not in the trash, nor in a folder that is going there', async () => {
    const { lab, upload, attach } = await started()
    const [gone, kept] = [await upload('gone'), await upload('kept')]
    const actionId = await attach([gone, kept])
    await lab.send('DELETE', `/api/files/${gone}`, { as: owner })
    expect(await shown(lab, [actionId])).toEqual([[actionId, 'kept']])
    const folder = { fileTp: 'FLDR', fileName: 'folder' }
    const { fileId } = (await lab.send('POST', '/api/files', { as: owner, json: folder })).json.data
    await lab.send('PATCH', `/api/files/${kept}`, { as: owner, json: { parentId: fileId } })
    await lab.db.transact(alice.tenantId, (tx) =>
      tx
        .tables<{ folder_changes: Record<string, string | number> }>()
        .insertInto('folder_changes')
        .values({ tenant_id: tx.tenantId, folder_id: fileId, kind: 'trashing', started_at: 1 })
        .execute(),
    )
    expect(await shown(lab, [actionId])).toEqual([])
  })
})
