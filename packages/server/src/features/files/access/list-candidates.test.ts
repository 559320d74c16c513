import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { alice, aliceTag, bobTag, club, filesLab, identity } from '#harness/files-lab.ts'
import type { FileFilter } from '../file-filter-store.ts'
import { listFilePage } from '../file-list-store.ts'
import { findFileViewer } from './find-file-viewer.ts'

const owner = identity(aliceTag, alice)
const bob = identity(bobTag, alice)

eachDialect('Where lists look for files', (open) => {
  const openLab = filesLab(open)

  test('is also what went to the trash from a shared folder, alone or with a folder in it', async () => {
    const lab = await openLab()
    const make = async (fileName: string, fileTp: string, parentId?: string): Promise<string> => {
      const json = { fileName, fileTp, ...(parentId === undefined ? {} : { parentId }) }
      return (await lab.send('POST', '/api/files', { as: owner, json })).json.data.fileId
    }
    const box = await make('box', 'FLDR')
    const alone = await make('alone', 'CRDT', box)
    const inner = await make('inner', 'FLDR', box)
    const deeper = await make('deeper', 'FLDR', inner)
    await make('below', 'CRDT', deeper)
    await make('live', 'CRDT', box)
    await make('lives below', 'CRDT', await make('lives', 'FLDR', box))
    const json = { subjectType: 'U', subjectId: bobTag, permission: 'W' }
    await lab.send('POST', `/api/files/${box}/shares`, { as: owner, json })
    for (const fileId of [alone, inner]) await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
    const names = async (query: string) => {
      const { json } = await lab.send('GET', `/api/files${query}`, { as: bob })
      return json.data.map(({ fileName }: { fileName: string }) => fileName).sort()
    }
    // As if there were more than are looked at one by one.
    const namesOfMany = async (filter: FileFilter) => {
      const reader = lab.db.reader(alice.tenantId)
      const who = await findFileViewer(reader, { tenant: alice, caller: bob, now: 1 })
      const listing = { sort: 'name', direction: 'asc', limit: 20, cursor: undefined, now: 1 } as const
      const { items } = await listFilePage(reader, who, { ...listing, filter, maxCandidates: 0 })
      return items.map(({ file }) => file.fileName)
    }
    const trashed = ['alone', 'below', 'deeper', 'inner']
    expect(await names('?status=D')).toEqual(trashed)
    expect(await namesOfMany({ statuses: ['D'] })).toEqual(trashed)
    expect(await names('?parentId=__trash__')).toEqual(['alone', 'inner'])
    const live = ['box', 'live', 'lives', 'lives below']
    expect(await names('')).toEqual(live)
    expect(await namesOfMany({})).toEqual(live)
  })

  test('is also where copies are that their owners show', async () => {
    const lab = await openLab()
    const [caraTag, dinaTag] = ['cara.example' as IdTag, 'dina.example' as IdTag]
    const maker = { at: club, as: identity(bobTag, club, { role: 'contributor' }) }
    for (const [fileName, issuer] of [
      ['shown', caraTag],
      ['shown by another', dinaTag],
      ['shown by nobody', undefined],
    ] as const) {
      const { json } = await lab.send('POST', '/api/files', { ...maker, json: { fileName, fileTp: 'CRDT' } })
      const { fileId } = json.data
      await lab.makeCopy(fileId, caraTag, club)
      if (issuer) await lab.putAction(club, { visibility: 'P', attachments: [fileId], issuer })
    }
    const { json } = await lab.send('GET', '/api/files', { at: club, as: identity(aliceTag, club) })
    expect(json.data.map(({ fileName }: { fileName: string }) => fileName)).toEqual(['shown'])
  })

  test('is for a token of one file that file, and what everybody reads', async () => {
    const lab = await openLab()
    const make = async (fileName: string, visibility?: string): Promise<string> => {
      const json = { fileName, fileTp: 'CRDT', ...(visibility && { visibility }) }
      return (await lab.send('POST', '/api/files', { as: owner, json })).json.data.fileId
    }
    const fileId = await make('its')
    await make('open', 'P')
    await make('other')
    const caller = identity(aliceTag, alice, { scope: `file:${fileId}:read` })
    const reader = lab.db.reader(alice.tenantId)
    const who = await findFileViewer(reader, { tenant: alice, caller, now: 1 })
    const listing = {
      filter: {},
      sort: 'name',
      direction: 'asc',
      limit: 20,
      cursor: undefined,
      now: 1,
    } as const
    for (const maxCandidates of [0, 1_000]) {
      const { items } = await listFilePage(reader, who, { ...listing, maxCandidates })
      expect(items.map(({ file }) => file.fileName)).toEqual(['its', 'open'])
    }
  })
})
