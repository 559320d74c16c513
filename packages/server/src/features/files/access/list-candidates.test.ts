import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { alice, aliceTag, bobTag, filesLab, identity } from '#harness/files-lab.ts'

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
    const json = { subjectType: 'U', subjectId: bobTag, permission: 'W' }
    await lab.send('POST', `/api/files/${box}/shares`, { as: owner, json })
    for (const fileId of [alone, inner]) await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
    const names = async (query: string) => {
      const { json } = await lab.send('GET', `/api/files${query}`, { as: bob })
      return json.data.map(({ fileName }: { fileName: string }) => fileName).sort()
    }
    expect(await names('?status=D')).toEqual(['alone', 'below', 'deeper', 'inner'])
    expect(await names('?parentId=__trash__')).toEqual(['alone', 'inner'])
    expect(await names('')).toEqual(['box', 'live'])
  })
})
