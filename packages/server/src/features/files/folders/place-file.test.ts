import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { alice, aliceTag, bobTag, type FilesLab, filesLab, identity, type Sent } from '#harness/files-lab.ts'

const owner = identity(aliceTag, alice)
const key = identity(aliceTag, alice, { scope: 'write:files', sessionId: 'key 1' })
const otherKey = identity(aliceTag, alice, { scope: 'write:files', sessionId: 'key 2' })
const wideKey = identity(aliceTag, alice, { scope: 'admin:files', sessionId: 'key 3' })

async function make(lab: FilesLab, fileTp: string, body: object = {}, sent: Sent = {}): Promise<string> {
  const answer = await lab.send('POST', '/api/files', { as: owner, json: { fileTp, ...body }, ...sent })
  expect(answer.status).toBe(201)
  return answer.json.data.fileId
}
const folder = (lab: FilesLab, parentId: string | null = null, sent?: Sent) =>
  make(lab, 'FLDR', { parentId }, sent)
const note = (lab: FilesLab, parentId: string | null = null, sent?: Sent) =>
  make(lab, 'CRDT', { parentId }, sent)

const put = async (
  lab: FilesLab,
  [verb, path]: readonly [string, string],
  json: object,
  as: Sent['as'] = key,
) => (await lab.send(verb, `/api/files/${path}`, { as, json })).status
const move = (lab: FilesLab, fileId: string, parentId: string | null, as = key) =>
  put(lab, ['PATCH', fileId], { parentId }, as)
const restore = (lab: FilesLab, fileId: string, parentId: string, as: Sent['as'] = key) =>
  put(lab, ['POST', `${fileId}/restore`], { parentId }, as)
const duplicate = (lab: FilesLab, fileId: string, parentId: string | null, as = key) =>
  lab.send('POST', `/api/files/${fileId}/duplicate`, { as, json: { parentId } })
const trash = (lab: FilesLab, fileId: string) => lab.send('DELETE', `/api/files/${fileId}`, { as: owner })

const share = async (lab: FilesLab, fileId: string, more: object = {}) => {
  const json = { subjectType: 'U', subjectId: bobTag, permission: 'R', ...more }
  expect((await lab.send('POST', `/api/files/${fileId}/shares`, { as: owner, json })).status).toBe(201)
}

eachDialect(
  'What lies in a folder that others read is read by them, and a credential that may not share',
  (open) => {
    const openLab = filesLab(open)

    test('puts nothing there that exists, by moving, restoring or copying', async () => {
      const lab = await openLab()
      const ways: Record<string, (folderId: string) => Promise<unknown>> = {
        'with a person': (folderId) => share(lab, folderId),
        'by a link': (folderId) => share(lab, folderId, { subjectType: 'L', subjectId: 'link' }),
        'with the readers of a file': async (folderId) =>
          share(lab, folderId, { subjectType: 'F', subjectId: await note(lab) }),
        'by a reference': (folderId) => lab.makeHolder(folderId),
      }
      for (const [way, open] of Object.entries(ways)) {
        const shared = await folder(lab)
        const inner = await folder(lab, shared)
        await open(shared)
        const [moved, trashed] = [await note(lab), await note(lab)]
        await trash(lab, trashed)
        for (const target of [shared, inner])
          expect([
            way,
            await move(lab, moved, target),
            await restore(lab, trashed, target),
            (await duplicate(lab, moved, target)).status,
          ]).toEqual([way, 403, 403, 403])
        expect(await move(lab, moved, inner, wideKey)).toBe(200)
        expect(await restore(lab, trashed, inner, wideKey)).toBe(200)
        expect((await duplicate(lab, moved, inner, wideKey)).status).toBe(201)
      }
    })

    test('puts there what it makes, and what it has made', async () => {
      const lab = await openLab()
      const shared = await folder(lab)
      await share(lab, shared)
      const made = await note(lab, shared, { as: key })
      expect((await lab.upload('a', 'x', { as: key, query: `?parentId=${shared}` })).status).toBe(201)
      expect(await move(lab, made, null)).toBe(200)
      expect(await move(lab, made, shared, otherKey)).toBe(403)
      expect(await move(lab, made, shared)).toBe(200)
      await trash(lab, made)
      expect(await restore(lab, made, shared, otherKey)).toBe(403)
      expect(await restore(lab, made, shared)).toBe(200)
      expect((await duplicate(lab, made, shared)).status).toBe(201)
    })

    test('opens nothing by a folder of its own around it, or by a copy', async () => {
      const lab = await openLab()
      const shared = await folder(lab)
      await share(lab, shared)
      const own = await folder(lab, null, { as: key })
      const secret = await note(lab)
      expect(await move(lab, secret, own)).toBe(200)
      expect(await move(lab, own, shared)).toBe(403)
      const copy = (await duplicate(lab, secret, null)).json.data.fileId
      expect(await move(lab, copy, shared)).toBe(403)
      expect(await put(lab, ['PATCH', copy], { visibility: 'P' })).toBe(403)
    })

    test('moves within what is shared already, out of it, and to where nobody reads any more', async () => {
      const lab = await openLab()
      const shared = await folder(lab)
      const inner = await folder(lab, shared)
      const soon = lab.clock.now() / 1000 + 60
      const over = await folder(lab)
      await share(lab, shared)
      await share(lab, over, { expiresAt: soon })
      const fileId = await note(lab, shared)
      expect(await move(lab, fileId, inner)).toBe(200)
      await trash(lab, fileId)
      expect(await restore(lab, fileId, shared)).toBe(403)
      expect(await restore(lab, fileId, shared, wideKey)).toBe(200)
      expect((await duplicate(lab, fileId, inner)).status).toBe(201)
      expect(await move(lab, fileId, over)).toBe(403)
      lab.clock.advance(60_000)
      expect(await move(lab, fileId, over)).toBe(200)
      expect(await move(lab, fileId, null)).toBe(200)
    })

    test('restores nothing into a folder that was shared while the file was in the trash', async () => {
      const lab = await openLab()
      const target = await folder(lab)
      const [fileId, made] = [await note(lab), await note(lab, target, { as: key })]
      expect(await move(lab, fileId, target)).toBe(200)
      for (const id of [fileId, made])
        expect((await lab.send('DELETE', `/api/files/${id}`, { as: key })).status).toBe(200)
      await share(lab, target)
      expect(await restore(lab, fileId, target)).toBe(403)
      expect(await restore(lab, made, target, otherKey)).toBe(403)
      expect(await restore(lab, made, target)).toBe(200)
      expect(await restore(lab, fileId, target, wideKey)).toBe(200)
    })

    test('opens no file with whose readers another is shared, though it made it', async () => {
      const lab = await openLab()
      const secret = await note(lab)
      const shared = await folder(lab)
      await share(lab, shared)
      const [made, other] = [await note(lab, null, { as: key }), await note(lab, null, { as: key })]
      await share(lab, secret, { subjectType: 'F', subjectId: made })
      expect(await put(lab, ['PATCH', other], { visibility: 'P' })).toBe(200)
      for (const visibility of ['P', 'C']) expect(await put(lab, ['PATCH', made], { visibility })).toBe(403)
      expect(await move(lab, made, shared)).toBe(403)
      expect(await put(lab, ['PATCH', made], { fileName: 'b', visibility: null })).toBe(200)
      expect((await lab.send('GET', `/api/files/${secret}/metadata`)).status).toBe(404)
      expect(await put(lab, ['PATCH', made], { visibility: 'P' }, wideKey)).toBe(200)
    })

    test('moves no holder’s file from one shared folder into another below it', async () => {
      const lab = await openLab()
      const shared = await folder(lab)
      const inner = await folder(lab, shared)
      const fileId = await note(lab, shared)
      await share(lab, inner)
      const as = await lab.makeHolder(shared, 'write')
      await trash(lab, fileId)
      expect(await restore(lab, fileId, inner, as)).toBe(403)
      expect(await restore(lab, fileId, shared, as)).toBe(200)
    })
  },
)
