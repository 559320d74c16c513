import type { FileId } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import {
  alice,
  aliceTag,
  bobTag,
  club,
  type FilesLab,
  failureOf,
  filesLab,
  identity,
  type Received,
  type Sent,
} from '#harness/files-lab.ts'
import type { Caller } from '#infra/caller/index.ts'
import { sweepTrash } from './sweep-trash.ts'

const owner = identity(aliceTag, alice)
const dayMs = 86_400_000
const unknown = '404 E-FILE-NOTFOUND'

const make = async (lab: FilesLab, body: object = {}, sent: Sent = {}): Promise<FileId> =>
  (await lab.send('POST', '/api/files', { as: owner, json: { fileTp: 'FLDR', ...body }, ...sent })).json.data
    .fileId
const share = (lab: FilesLab, fileId: string, permission: string, sent: Sent = {}) =>
  lab.send('POST', `/api/files/${fileId}/shares`, {
    as: owner,
    json: { subjectType: 'U', subjectId: bobTag, permission },
    ...sent,
  })
const trash = (lab: FilesLab, fileId: string, sent: Sent) => lab.send('DELETE', `/api/files/${fileId}`, sent)
const removeForGood = (lab: FilesLab, fileId: string, sent: Sent) =>
  lab.send('DELETE', `/api/files/${fileId}?permanent=true`, sent)
const inTrash = async (lab: FilesLab, sent: Sent = { as: owner }) =>
  (await lab.send('GET', '/api/files?parentId=__trash__', sent)).json.data

const writers: [string, (lab: FilesLab, box: string) => Promise<[Caller, object]>][] = [
  [
    'who has a share to write',
    async (lab, box) => {
      await share(lab, box, 'W')
      return [identity(bobTag, alice), { idTag: bobTag }]
    },
  ],
  [
    'who has a share to administer',
    async (lab, box) => {
      await share(lab, box, 'A')
      return [identity(bobTag, alice), { idTag: bobTag }]
    },
  ],
  [
    'who holds a reference to write',
    async (lab, box) => {
      const as = await lab.makeHolder(box, 'write')
      return [as, { linkOf: aliceTag }]
    },
  ],
]

eachDialect('What somebody deletes for good who does not own it', (open) => {
  const openLab = filesLab(open)

  test.each(writers)('stays in its owner’s trash, and nobody else sees it: %s', async (_, hold) => {
    const lab = await openLab()
    const box = await make(lab)
    const inner = await make(lab, { parentId: box })
    const file = (await lab.upload('a', 'hello', { query: `?parentId=${inner}` })).json.data.fileId
    const [as, deletedBy] = await hold(lab, box)
    await share(lab, file, 'W')
    await trash(lab, inner, { as })
    const answer = await removeForGood(lab, inner, { as })
    expect([answer.status, answer.json.data]).toEqual([200, { fileId: inner, permanent: true }])
    expect(await inTrash(lab)).toMatchObject([{ fileId: inner, originalParentId: box, x: { deletedBy } }])
    for (const who of [as, identity(bobTag, alice)])
      for (const id of [inner, file]) {
        expect(failureOf(await lab.send('GET', `/api/files/${id}/metadata`, { as: who }))).toBe(unknown)
        const restored = await lab.send('POST', `/api/files/${id}/restore`, { as: who, json: {} })
        expect(failureOf(restored)).toBe(unknown)
        expect(failureOf(await removeForGood(lab, id, { as: who }))).toBe(unknown)
        const listed = await lab.send('GET', '/api/files?status=D', { as: who })
        expect(JSON.stringify(listed.json.data)).not.toContain(id)
      }
    expect(await lab.inconsistencies()).toEqual([])
    const restored = await lab.send('POST', `/api/files/${inner}/restore`, {
      as: owner,
      json: { parentId: box },
    })
    expect(restored.status).toBe(200)
    const shown = (await lab.send('GET', `/api/files/${inner}/metadata`, { as: owner })).json.data
    expect(shown).toMatchObject({ status: 'A', parentId: box })
    expect(shown.x).toBeUndefined()
    expect((await lab.send('GET', `/api/files/${file}`, { as })).status).toBe(200)
    expect(await lab.inconsistencies()).toEqual([])
  })

  test('goes by itself, whatever becomes of the folder in the trash that it was in', async () => {
    const lab = await openLab()
    const box = await make(lab)
    const inner = await make(lab, { parentId: box })
    await make(lab, { parentId: inner })
    await share(lab, box, 'W')
    const as = identity(bobTag, alice)
    await trash(lab, box, { as })
    expect((await removeForGood(lab, inner, { as })).status).toBe(200)
    expect((await lab.send('POST', `/api/files/${box}/restore`, { as, json: {} })).status).toBe(200)
    expect(await inTrash(lab)).toMatchObject([{ fileId: inner, x: { deletedBy: { idTag: bobTag } } }])
    expect(await inTrash(lab, { as })).toEqual([])
    expect(await lab.inconsistencies()).toEqual([])
  })

  test('is removed after thirty days, or with the rest of the trash', async () => {
    const lab = await openLab()
    const box = await make(lab)
    const ids = [await make(lab, { parentId: box }), await make(lab, { parentId: box })]
    await share(lab, box, 'W')
    const as = identity(bobTag, alice)
    for (const id of ids) {
      await trash(lab, id, { as })
      await removeForGood(lab, id, { as })
      lab.clock.advance(dayMs)
    }
    lab.clock.advance(27 * dayMs)
    await sweepTrash(lab.deps)
    expect(await inTrash(lab)).toHaveLength(2)
    lab.clock.advance(dayMs)
    await sweepTrash(lab.deps)
    expect((await inTrash(lab)).map(({ fileId }: { fileId: string }) => fileId)).toEqual([ids[1]])
    expect((await lab.send('DELETE', '/api/trash', { as: owner })).json.data.deleted).toBe(1)
    expect(await inTrash(lab)).toEqual([])
    expect(await lab.usage()).toMatchObject({ files: 1 })
  })
})

eachDialect('Who owns what is deleted for good', (open) => {
  const openLab = filesLab(open)

  test('the owner, with whatever token, has it removed at once', async () => {
    const lab = await openLab()
    for (const as of [owner, identity(aliceTag, alice, { scope: 'write:files' })]) {
      const id = await make(lab)
      await trash(lab, id, { as })
      expect((await removeForGood(lab, id, { as })).status).toBe(200)
    }
    expect(await inTrash(lab)).toEqual([])
  })

  test('in a community: its contributor alone; not its moderators, nor whom it was shared with', async () => {
    const lab = await openLab()
    const as = (idTag: typeof bobTag, role: 'contributor' | 'moderator') => ({
      at: club,
      as: identity(idTag, club, { role }),
    })
    const [alices, bobs, moderators] = [
      as(aliceTag, 'contributor'),
      as(bobTag, 'contributor'),
      as('cara.example' as typeof bobTag, 'moderator'),
    ]
    for (const [sent, isKept] of [
      [bobs, true],
      [alices, false],
      [moderators, true],
    ] as const) {
      const id = await make(lab, {}, alices)
      await share(lab, id, 'W', moderators)
      await trash(lab, id, sent)
      expect((await removeForGood(lab, id, sent)).status).toBe(200)
      const shown = await lab.send('GET', `/api/files/${id}/metadata`, alices)
      expect(shown.json.data?.x).toEqual(
        isKept ? { deletedBy: { idTag: sent.as.kind === 'identity' && sent.as.idTag } } : undefined,
      )
      expect(await inTrash(lab, moderators)).toHaveLength(isKept ? 1 : 0)
      expect(await inTrash(lab, bobs)).toEqual([])
      await lab.send('DELETE', '/api/trash', alices)
      expect(await inTrash(lab, moderators)).toEqual([])
    }
  })

  const ways: [string, (lab: FilesLab, folder: string, sent: Sent) => Promise<Received>][] = [
    ['by the folder', (lab, box, sent) => removeForGood(lab, box, sent)],
    ['by emptying the trash', (lab, _, sent) => lab.send('DELETE', '/api/trash', sent)],
  ]
  test.each(ways)('what others put into a folder stays in their trash, %s', async (_, removeIt) => {
    for (const filesPerPortion of [250, 2]) {
      const lab = await openLab()
      Object.assign(lab.deps, { filesPerPortion })
      const bobs = { at: club, as: identity(bobTag, club, { role: 'contributor' }) }
      const leaders = { at: club, as: identity(aliceTag, club, { role: 'leader' }) }
      const box = await make(lab, {}, bobs)
      const own = await make(lab, { parentId: box }, bobs)
      const inner = await make(lab, { parentId: box }, leaders)
      const put = (name: string, parentId: string) =>
        lab.upload(name, name, { ...leaders, query: `?parentId=${parentId}` })
      const files = [box, own, inner].map((parentId) => put('L.txt', parentId))
      const kept = [inner, ...(await Promise.all(files)).map(({ json }) => json.data.fileId)]
      await trash(lab, box, bobs)
      const removed = await removeIt(lab, box, bobs)
      expect([removed.status, removed.json.data.deleted ?? 2]).toEqual([200, 2])
      expect(await inTrash(lab, bobs)).toEqual([])
      const shown = await inTrash(lab, leaders)
      expect(shown.map(({ fileId }: { fileId: string }) => fileId).sort()).toEqual([...kept].sort())
      for (const { fileId, x, owner: of } of shown) {
        expect([of.idTag, x]).toEqual([aliceTag, { deletedBy: { idTag: bobTag } }])
        expect(failureOf(await lab.send('GET', `/api/files/${fileId}/metadata`, bobs))).toBe(unknown)
      }
      expect(await lab.inconsistencies(club)).toEqual([])
      lab.clock.advance(29 * dayMs)
      await sweepTrash(lab.deps)
      const restored = await lab.send('POST', `/api/files/${kept[1]}/restore`, {
        ...leaders,
        json: { parentId: box },
      })
      expect([restored.status, restored.json.data?.parentId]).toEqual([200, null])
      expect((await lab.send('GET', `/api/files/${kept[1]}`, leaders)).body.toString()).toBe('L.txt')
      lab.clock.advance(dayMs)
      await sweepTrash(lab.deps)
      expect(await inTrash(lab, leaders)).toEqual([])
      expect(await lab.inconsistencies(club)).toEqual([])
    }
  })

  test('a folder that ends after thirty days leaves others their files for as long again', async () => {
    const lab = await openLab()
    const bobs = { at: club, as: identity(bobTag, club, { role: 'contributor' }) }
    const leaders = { at: club, as: identity(aliceTag, club, { role: 'leader' }) }
    const moderators = {
      at: club,
      as: identity('cara.example' as typeof bobTag, club, { role: 'moderator' }),
    }
    const box = await make(lab, {}, bobs)
    const inner = await make(lab, { parentId: box }, leaders)
    await trash(lab, box, moderators)
    for (let time = 0; time < 2; time += 1)
      expect((await removeForGood(lab, box, moderators)).status).toBe(200)
    expect((await lab.send('DELETE', '/api/trash', moderators)).json.data.deleted).toBe(0)
    lab.clock.advance(30 * dayMs)
    await sweepTrash(lab.deps)
    expect(await inTrash(lab, leaders)).toMatchObject([
      { fileId: inner, x: { deletedBy: { idTag: 'cara.example' } } },
    ])
  })

  test('whoever only reads the trash gets no link to it', async () => {
    const lab = await openLab()
    const box = await make(lab)
    const inner = await make(lab, { parentId: box })
    const as = await lab.makeHolder(box, 'write')
    await trash(lab, inner, { as })
    await removeForGood(lab, inner, { as })
    const reading = { as: identity(aliceTag, alice, { scope: 'read:files' }) }
    const shown = [
      await lab.send('GET', '/api/files?parentId=__trash__', reading),
      await lab.send('GET', `/api/files/${inner}/metadata`, reading),
    ]
    for (const { status, body } of shown) {
      expect(status).toBe(200)
      expect(body.toString()).toContain('"linkOf":"alice.example"')
      expect(body.toString()).not.toContain(as.kind === 'reference' ? as.refId : '')
    }
  })
})
