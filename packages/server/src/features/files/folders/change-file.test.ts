import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileId } from '@kith/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import {
  alice,
  aliceTag,
  bob,
  bobTag,
  club,
  type FilesLab,
  failureOf,
  filesLab,
  holder,
  identity,
  type Sent,
} from '#harness/files-lab.ts'
import { countContent } from '../contents/count-content.ts'
import type { StoredFile } from '../file.ts'
import { findFile, insertFile } from '../file-store.ts'
import { countFiles } from '../upload/storage-store.ts'

const owner = identity(aliceTag, alice)
const stranger = identity(bobTag, alice)
const unknown = `d1~${'A'.repeat(43)}`

async function make(lab: FilesLab, fileTp: string, body: object = {}, sent: Sent = {}): Promise<string> {
  const answer = await lab.send('POST', '/api/files', { as: owner, json: { fileTp, ...body }, ...sent })
  expect([answer.status, answer.json.error]).toEqual([201, undefined])
  return answer.json.data.fileId
}
const folder = (lab: FilesLab, parentId?: string) =>
  make(lab, 'FLDR', { fileName: 'box', ...(parentId && { parentId }) })
async function metadata(lab: FilesLab, fileId: string, sent: Sent = {}) {
  return (await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner, ...sent })).json.data
}

eachDialect('Making files', (open) => {
  const openLab = filesLab(open)

  test.each([null, '', '__root__'])('takes %j for the place in no folder', async (parentId) => {
    const lab = await openLab()
    const box = await folder(lab)
    const made = await make(lab, 'CRDT', { parentId })
    expect(await metadata(lab, made)).toMatchObject({ parentId: null })
    const { fileId } = (await lab.upload('a', 'x', { query: `?parentId=${parentId}` })).json.data
    expect(await metadata(lab, fileId)).toMatchObject({ parentId: null })
    const moved = (json: object) => lab.send('PATCH', `/api/files/${fileId}`, { as: owner, json })
    expect((await moved({ parentId: box })).json.data).toMatchObject({ parentId: box })
    expect((await moved({ parentId })).json.data).toMatchObject({ parentId: null })
    await moved({ parentId: box })
    await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
    const restored = await lab.send('POST', `/api/files/${fileId}/restore`, { as: owner, json: { parentId } })
    expect(restored.json.data).toMatchObject({ parentId: null })
  })

  test('changes no tags of what is in the trash', async () => {
    const lab = await openLab()
    const fileId = await make(lab, 'CRDT', { tags: 'a' })
    await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
    for (const [method, tag] of [
      ['PUT', 'b'],
      ['DELETE', 'a'],
    ] as const)
      expect(failureOf(await lab.send(method, `/api/files/${fileId}/tag/${tag}`, { as: owner }))).toBe(
        '409 E-STATE',
      )
  })

  test('makes documents, databases and folders', async () => {
    const lab = await openLab()
    const forms = { CRDT: /^f1~/, RTDB: /^r1~/, FLDR: /^d1~/ }
    for (const [fileTp, form] of Object.entries(forms)) {
      const answer = await lab.send('POST', '/api/files', { as: owner, json: { fileTp, tags: 'a,b' } })
      expect(answer.status).toBe(201)
      expect(answer.json.data).toEqual({
        fileId: expect.stringMatching(form),
        status: 'A',
        fileTp,
        contentType: expect.any(String),
        fileName: 'Untitled',
        createdAt: lab.clock.now() / 1000,
        tags: ['a', 'b'],
      })
    }
    expect(await lab.usage()).toEqual({ used_bytes: 0, files: 3 })
    const box = await folder(lab)
    const body = { fileName: 'Minutes', parentId: box, visibility: 'C', contentType: 'app/notes' }
    const fileId = await make(lab, 'CRDT', body)
    expect(await metadata(lab, fileId)).toMatchObject(body)
    const bytes = await lab.send('GET', `/api/files/${fileId}`, { as: owner })
    expect([bytes.status, bytes.body.length]).toEqual([200, 0])
    expect(failureOf(await lab.send('GET', `/api/files/${box}`, { as: owner }))).toBe('404 E-FILE-NOTFOUND')
  })

  test.each([
    ['a BLOB', { fileTp: 'BLOB' }, '400 E-VALIDATION'],
    ['no type', {}, '400 E-VALIDATION'],
    ['a bad name', { fileTp: 'CRDT', fileName: 'a/b' }, '400 E-VALIDATION'],
    ['an empty name', { fileTp: 'CRDT', fileName: '' }, '400 E-VALIDATION'],
    ['an unpaired surrogate', { fileTp: 'CRDT', fileName: '\ud800' }, '400 E-VALIDATION'],
    ['a bad tag', { fileTp: 'CRDT', tags: 'x'.repeat(65) }, '400 E-VALIDATION'],
    ['a list of tags', { fileTp: 'CRDT', tags: ['a'] }, '400 E-VALIDATION'],
    ['a bad visibility', { fileTp: 'CRDT', visibility: 'X' }, '400 E-VALIDATION'],
    ['an unknown folder', { fileTp: 'CRDT', parentId: unknown }, '404 E-FILE-NOTFOUND'],
    ['a folder id without its form', { fileTp: 'CRDT', parentId: 'x' }, '404 E-FILE-NOTFOUND'],
  ])('refuses %s', async (_, json, expected) => {
    const lab = await openLab()
    expect(failureOf(await lab.send('POST', '/api/files', { as: owner, json }))).toBe(expected)
    expect(await lab.remains()).toMatchObject({ files: 0, jobs: 0 })
  })

  test.each([
    ['guests', undefined, '401 E-AUTH-UNAUTH'],
    ['strangers', stranger, '403 E-AUTH-FORBIDDEN'],
    ['readers', identity(aliceTag, alice, { scope: 'read' }), '403 E-AUTH-FORBIDDEN'],
    ['holders', holder(`file:${unknown}:write`), '403 E-AUTH-FORBIDDEN'],
  ])('is not for %s', async (_, as, expected) => {
    const lab = await openLab()
    const sent = as === undefined ? {} : { as }
    expect(failureOf(await lab.send('POST', '/api/files', { json: { fileTp: 'CRDT' }, ...sent }))).toBe(
      expected,
    )
  })

  test('ignores what is not the caller’s to say', async () => {
    const lab = await openLab()
    const json = {
      fileTp: 'FLDR',
      fileId: unknown,
      status: 'D',
      owner: bobTag,
      ownerTag: bobTag,
      size: 9,
      tnId: 2,
    }
    const answer = await lab.send('POST', '/api/files', { as: owner, json })
    expect(answer.json.data.fileId).not.toBe(unknown)
    expect(await metadata(lab, answer.json.data.fileId)).toMatchObject({
      owner: { idTag: aliceTag },
      status: 'A',
      size: 0,
    })
  })

  test('in a folder that was given to somebody to write makes files of its owner', async () => {
    const lab = await openLab()
    const box = await folder(lab)
    const share = (permission: string) =>
      lab.send('POST', `/api/files/${box}/shares`, {
        as: owner,
        json: { subjectType: 'U', subjectId: bobTag, permission },
      })
    const attempt = () =>
      lab.send('POST', '/api/files', { as: stranger, json: { fileTp: 'CRDT', parentId: box } })
    expect(failureOf(await attempt())).toBe('404 E-FILE-NOTFOUND')
    await share('R')
    expect(failureOf(await attempt())).toBe('403 E-AUTH-FORBIDDEN')
    await share('W')
    const made = await attempt()
    expect(made.status).toBe(201)
    expect((await metadata(lab, made.json.data.fileId)).owner.idTag).toBe(aliceTag)
    const uploaded = await lab.upload('a', 'hello', { as: stranger, query: `?parentId=${box}` })
    expect(uploaded.status).toBe(201)
    expect(failureOf(await lab.upload('a', 'hello', { as: stranger }))).toBe('403 E-AUTH-FORBIDDEN')
  })

  test('in a community is for contributors, in their own folders', async () => {
    const lab = await openLab()
    const as = (idTag: typeof bobTag, role: 'follower' | 'contributor' | 'moderator') => ({
      at: club,
      as: identity(idTag, club, { role }),
    })
    const attempt = (sent: Sent, json: object = {}) =>
      lab.send('POST', '/api/files', { json: { fileTp: 'FLDR', ...json }, ...sent })
    expect(failureOf(await attempt(as(bobTag, 'follower')))).toBe('403 E-AUTH-FORBIDDEN')
    const parentId = (await attempt(as(bobTag, 'contributor'))).json.data.fileId
    expect((await attempt(as(bobTag, 'contributor'), { parentId })).status).toBe(201)
    expect(failureOf(await attempt(as(aliceTag, 'contributor'), { parentId }))).toBe('404 E-FILE-NOTFOUND')
    expect((await attempt(as(aliceTag, 'moderator'), { parentId })).status).toBe(201)
  })

  test('goes at most 64 folders deep', async () => {
    const lab = await openLab()
    let parentId: string | undefined
    for (let depth = 0; depth < 63; depth += 1) parentId = await folder(lab, parentId)
    const last = await folder(lab, parentId)
    const tooDeep = { as: owner, json: { fileTp: 'FLDR', parentId: last } }
    expect(failureOf(await lab.send('POST', '/api/files', tooDeep))).toBe('409 E-STATE')
    const pair = await folder(lab)
    await folder(lab, pair)
    const move = { as: owner, json: { parentId } }
    expect(failureOf(await lab.send('PATCH', `/api/files/${pair}`, move))).toBe('409 E-STATE')
  })
})

eachDialect('Changing a file', (open) => {
  const openLab = filesLab(open)
  const patch = (lab: FilesLab, fileId: string, json: object, sent: Sent = {}) =>
    lab.send('PATCH', `/api/files/${fileId}`, { as: owner, json, ...sent })

  test('renames, tags, moves and opens it, and answers what it is now', async () => {
    const lab = await openLab()
    const { fileId } = (await lab.upload('a', 'hello', { query: '?tags=old' })).json.data
    const box = await folder(lab)
    const answer = await patch(lab, fileId, { fileName: 'b', tags: 'x,y', parentId: box, visibility: 'P' })
    expect(answer.status).toBe(200)
    expect(answer.json.data).toMatchObject({
      fileName: 'b',
      tags: ['x', 'y'],
      parentId: box,
      visibility: 'P',
    })
    expect(await metadata(lab, fileId)).toEqual(answer.json.data)
    expect((await lab.send('GET', `/api/files/${fileId}`)).status).toBe(200)
    const closed = await patch(lab, fileId, { parentId: null, visibility: null, tags: '' })
    expect(closed.json.data).toMatchObject({ parentId: null, visibility: null, tags: [], fileName: 'b' })
    expect((await lab.send('GET', `/api/files/${fileId}`)).status).toBe(404)
    expect((await patch(lab, fileId, {})).json.data).toEqual(closed.json.data)
  })

  test('ignores what is not the caller’s to change', async () => {
    const lab = await openLab()
    const { fileId } = (await lab.upload('a', 'hello')).json.data
    const before = await metadata(lab, fileId)
    const answer = await patch(lab, fileId, {
      owner: bobTag,
      status: 'D',
      size: 0,
      createdAt: 1,
      contentType: 'text/html',
    })
    expect(answer.json.data).toEqual(before)
  })

  test.each([
    ['a bad name', { fileName: 'a\\b' }, '400 E-VALIDATION'],
    ['a bad tag', { tags: `${'x'.repeat(65)}` }, '400 E-VALIDATION'],
    ['an unknown folder', { parentId: unknown }, '404 E-FILE-NOTFOUND'],
    ['a name of the wrong type', { fileName: 1 }, '400 E-VALIDATION'],
  ])('refuses %s and changes nothing', async (_, json, expected) => {
    const lab = await openLab()
    const { fileId } = (await lab.upload('a', 'hello', { query: '?tags=old' })).json.data
    expect(failureOf(await patch(lab, fileId, { visibility: 'P', ...json }))).toBe(expected)
    expect(await metadata(lab, fileId)).toMatchObject({
      fileName: 'a',
      tags: ['old'],
      visibility: null,
      parentId: null,
    })
  })

  test('moves nothing into what is no folder, into itself, or into the trash', async () => {
    const lab = await openLab()
    const { fileId } = (await lab.upload('a', 'hello')).json.data
    const outer = await folder(lab)
    const inner = await folder(lab, outer)
    expect(failureOf(await patch(lab, outer, { parentId: fileId }))).toBe('400 E-VALIDATION')
    expect(failureOf(await patch(lab, outer, { parentId: outer }))).toBe('409 E-STATE')
    expect(failureOf(await patch(lab, outer, { parentId: inner }))).toBe('409 E-STATE')
    expect((await patch(lab, inner, { parentId: outer })).status).toBe(200)
    await lab.send('DELETE', `/api/files/${outer}`, { as: owner })
    expect(failureOf(await patch(lab, fileId, { parentId: outer }))).toBe('404 E-FILE-NOTFOUND')
    expect(failureOf(await patch(lab, inner, { fileName: 'x' }))).toBe('409 E-STATE')
  })

  test('two moves at once never make a circle', async () => {
    const lab = await openLab()
    const one = await folder(lab)
    const two = await folder(lab)
    const answers = await Promise.all([
      patch(lab, one, { parentId: two }),
      patch(lab, two, { parentId: one }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('tags it, and takes tags off', async () => {
    const lab = await openLab()
    const { fileId } = (await lab.upload('a', 'hello')).json.data
    const tag = (method: string, name: string, sent: Sent = {}) =>
      lab.send(method, `/api/files/${fileId}/tag/${encodeURIComponent(name)}`, { as: owner, ...sent })
    expect((await tag('PUT', 'über/x')).json.data).toEqual({ tags: ['über/x'] })
    expect((await tag('PUT', 'b')).json.data).toEqual({ tags: ['über/x', 'b'] })
    expect((await tag('PUT', 'b')).json.data).toEqual({ tags: ['über/x', 'b'] })
    expect((await tag('DELETE', 'über/x')).json.data).toEqual({ tags: ['b'] })
    expect((await tag('DELETE', 'nothing')).json.data).toEqual({ tags: ['b'] })
    expect(failureOf(await tag('PUT', 'a,b'))).toBe('400 E-VALIDATION')
    expect(failureOf(await tag('PUT', 'x'.repeat(65)))).toBe('400 E-VALIDATION')
    expect(failureOf(await tag('PUT', 'x', { as: stranger }))).toBe('404 E-FILE-NOTFOUND')
    expect((await lab.send('GET', '/api/files?tags=b', { as: owner })).json.data).toHaveLength(1)
  })

  test('is its owner’s: others may not, and may not know', async () => {
    const lab = await openLab()
    const hidden = await make(lab, 'CRDT')
    const open = await make(lab, 'CRDT', { visibility: 'P' })
    const shared = await make(lab, 'CRDT')
    await lab.send('POST', `/api/files/${shared}/shares`, {
      as: owner,
      json: { subjectType: 'U', subjectId: bobTag, permission: 'A' },
    })
    for (const [method, path, json] of [
      ['PATCH', '', { tags: 'x' }],
      ['PATCH', '', { visibility: 'V' }],
      ['PUT', '/tag/x', undefined],
      ['DELETE', '/tag/x', undefined],
    ] as const) {
      const attempt = (fileId: string, sent: Sent) =>
        lab.send(method, `/api/files/${fileId}${path}`, json ? { json, ...sent } : sent)
      expect(failureOf(await attempt(hidden, { as: stranger }))).toBe('404 E-FILE-NOTFOUND')
      expect(failureOf(await attempt(open, { as: stranger }))).toBe('403 E-AUTH-FORBIDDEN')
      expect(failureOf(await attempt(shared, { as: stranger }))).toBe('403 E-AUTH-FORBIDDEN')
      expect(failureOf(await attempt(hidden, { at: bob, as: identity(bobTag, bob) }))).toBe(
        '404 E-FILE-NOTFOUND',
      )
      expect(failureOf(await attempt(hidden, {}))).toBe('401 E-AUTH-UNAUTH')
      const reading = identity(aliceTag, alice, { scope: 'read:files' })
      expect(failureOf(await attempt(hidden, { as: reading }))).toBe('403 E-AUTH-FORBIDDEN')
      const held = { as: await lab.makeHolder(open, 'write') }
      expect(failureOf(await attempt(open, held))).toBe('403 E-AUTH-FORBIDDEN')
    }
  })

  test.each([
    ['who made it', bobTag, 'contributor', 200],
    ['who made it and contributes no more', bobTag, 'follower', 403],
    ['another who contributes and may read it', aliceTag, 'contributor', 403],
    ['a moderator', aliceTag, 'moderator', 200],
  ] as const)('in a community is its maker’s and its moderators’: %s', async (_who, idTag, role, status) => {
    const lab = await openLab()
    const sent = { at: club, as: identity(bobTag, club, { role: 'contributor' }) }
    const fileId = await make(lab, 'CRDT', { visibility: 'P' }, sent)
    const asked = { at: club, as: identity(idTag, club, { role }), json: { fileName: 'x' } }
    expect((await lab.send('PATCH', `/api/files/${fileId}`, asked)).status).toBe(status)
  })
})

eachDialect('The trash', (open) => {
  const openLab = filesLab(open)
  const remove = (lab: FilesLab, fileId: string, sent: Sent & { permanent?: boolean } = {}) =>
    lab.send('DELETE', `/api/files/${fileId}${sent.permanent ? '?permanent=true' : ''}`, {
      as: owner,
      ...sent,
    })
  const restore = (lab: FilesLab, fileId: string, json?: object, sent: Sent = {}) =>
    lab.send('POST', `/api/files/${fileId}/restore`, { as: owner, ...(json && { json }), ...sent })
  const listed = async (lab: FilesLab, query = '', sent: Sent = {}): Promise<string[]> =>
    (await lab.send('GET', `/api/files${query}`, { as: owner, ...sent })).json.data.map(
      ({ fileName }: { fileName: string }) => fileName,
    )
  const named = (lab: FilesLab, fileName: string, parentId?: string) =>
    make(lab, 'FLDR', { fileName, ...(parentId && { parentId }) })

  test('takes a folder with all that is in it, and gives it back', async () => {
    const lab = await openLab()
    const outer = await named(lab, 'outer')
    const inner = await named(lab, 'inner', outer)
    const leaf = await named(lab, 'leaf', inner)
    const answer = await remove(lab, inner)
    expect([answer.status, answer.json.data]).toEqual([200, 'ok'])
    expect(await listed(lab)).toEqual(['outer'])
    expect(await listed(lab, '?parentId=__trash__')).toEqual(['inner'])
    expect((await listed(lab, '?status=D')).sort()).toEqual(['inner', 'leaf'])
    const [trashed] = (await lab.send('GET', '/api/files?parentId=__trash__', { as: owner })).json.data
    expect(trashed).toMatchObject({
      status: 'D',
      parentId: null,
      originalParentId: outer,
      deletedAt: new Date(lab.clock.now()).toISOString(),
    })
    const restored = await restore(lab, inner, { parentId: outer })
    expect(restored.json.data).toEqual({
      fileId: inner,
      parentId: outer,
      restoredAt: new Date(lab.clock.now()).toISOString(),
    })
    const back = await metadata(lab, leaf)
    expect(back).toMatchObject({ status: 'A', parentId: inner })
    expect(back).not.toHaveProperty('deletedAt')
    expect(await listed(lab, '?parentId=__trash__')).toEqual([])
  })

  test('gives back to where it was, into the folder that is named, or into none', async () => {
    const lab = await openLab()
    const outer = await named(lab, 'outer')
    const other = await named(lab, 'other')
    for (const [json, parentId] of [
      [undefined, outer],
      [{}, outer],
      [{ parentId: null }, null],
      [{ parentId: '__root__' }, null],
      [{ parentId: outer }, outer],
      [{ parentId: other }, other],
    ] as const) {
      const fileId = await named(lab, 'x', outer)
      await remove(lab, fileId)
      expect((await restore(lab, fileId, json)).json.data.parentId).toBe(parentId)
    }
    for (const json of [undefined, { parentId: outer }]) {
      const fileId = await named(lab, 'y', outer)
      await remove(lab, fileId)
      await remove(lab, outer)
      expect((await restore(lab, fileId, json)).json.data.parentId).toBe(null)
      await restore(lab, outer)
    }
  })

  test('gives back into no folder that is unknown, none, the file itself, or too deep', async () => {
    const lab = await openLab()
    const box = await named(lab, 'box')
    await named(lab, 'inner', box)
    const gone = await named(lab, 'gone')
    const { fileId: plain } = (await lab.upload('a', 'x')).json.data
    let deep = await named(lab, 'deep')
    for (let level = 2; level < 64; level += 1) deep = await named(lab, 'deep', deep)
    await remove(lab, gone)
    await remove(lab, box)
    for (const [parentId, failure] of [
      [unknown, '404 E-FILE-NOTFOUND'],
      ['x', '404 E-FILE-NOTFOUND'],
      [gone, '404 E-FILE-NOTFOUND'],
      [plain, '400 E-VALIDATION'],
      [box, '409 E-STATE'],
      [deep, '409 E-STATE'],
    ] as const)
      expect([parentId, failureOf(await restore(lab, box, { parentId }))]).toEqual([parentId, failure])
    expect((await metadata(lab, box)).status).toBe('D')
  })

  test('leaves what was deleted by itself where it is', async () => {
    const lab = await openLab()
    const outer = await named(lab, 'outer')
    const inner = await named(lab, 'inner', outer)
    await remove(lab, inner)
    await remove(lab, outer)
    expect((await listed(lab, '?parentId=__trash__')).sort()).toEqual(['inner', 'outer'])
    await restore(lab, outer)
    expect(await listed(lab)).toEqual(['outer'])
    await remove(lab, outer)
    await remove(lab, outer, { permanent: true })
    expect(await listed(lab, '?parentId=__trash__')).toEqual(['inner'])
    expect((await restore(lab, inner)).json.data.parentId).toBe(null)
  })

  test('removes for ever only what is in it, with its bytes', async () => {
    const lab = await openLab()
    const box = await named(lab, 'box')
    const photo = await readFile(
      join(import.meta.dirname, '../../../../test/fixtures/images/transparent.png'),
    )
    const { fileId } = (await lab.upload('p.png', photo, { query: `?parentId=${box}` })).json.data
    await lab.upload('twin.png', photo)
    await lab.settle()
    const before = await lab.usage()
    expect(failureOf(await remove(lab, box, { permanent: true }))).toBe('409 E-STATE')
    await remove(lab, box)
    expect(await lab.usage()).toEqual(before)
    const answer = await remove(lab, box, { permanent: true })
    expect(answer.json.data).toEqual({ fileId: box, permanent: true })
    expect(failureOf(await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner }))).toBe(
      '404 E-FILE-NOTFOUND',
    )
    // The twin has the same bytes.
    expect(await lab.usage()).toEqual({ used_bytes: before?.used_bytes, files: 1 })
    expect(failureOf(await restore(lab, box))).toBe('404 E-FILE-NOTFOUND')
    const emptied = await lab.send('GET', '/api/files', { as: owner })
    await remove(lab, emptied.json.data[0].fileId)
    await remove(lab, emptied.json.data[0].fileId, { permanent: true })
    expect(await lab.usage()).toEqual({ used_bytes: 0, files: 0 })
  })

  test('is emptied', async () => {
    const lab = await openLab()
    const box = await named(lab, 'box')
    await lab.upload('a', 'hello', { query: `?parentId=${box}` })
    const { fileId } = (await lab.upload('b', 'hello too')).json.data
    await named(lab, 'kept')
    await remove(lab, box)
    await remove(lab, fileId)
    const answer = await lab.send('DELETE', '/api/trash', { as: owner })
    expect(answer.json.data).toEqual({ deletedCount: 3, deleted: 3 })
    expect(await lab.usage()).toEqual({ used_bytes: 0, files: 1 })
    expect((await lab.send('DELETE', '/api/trash', { as: owner })).json.data).toEqual({
      deletedCount: 0,
      deleted: 0,
    })
  })

  test('gives up more than goes at once, from the innermost outwards', async () => {
    const lab = await openLab()
    const outer = (await named(lab, 'outer')) as FileId
    const inner = (await named(lab, 'inner', outer)) as FileId
    await lab.db.transact(alice.tenantId, async (tx) => {
      const { fileId: _, ...file } = (await findFile(tx, inner)) as StoredFile
      for (let number = 0; number < 250; number += 1) {
        await insertFile(tx, { ...file, fileId: `f1~${number}` as FileId, fileTp: 'CRDT', parentId: inner })
        await insertFile(tx, { ...file, fileId: `d1~${number}` as FileId, parentId: outer })
      }
      await countFiles(tx, 500)
    })
    await remove(lab, outer)
    expect((await remove(lab, outer, { permanent: true })).status).toBe(200)
    expect(await lab.usage()).toEqual({ used_bytes: 0, files: 0 })
    expect((await lab.send('DELETE', '/api/trash', { as: owner })).json.data.deleted).toBe(0)
  })

  test('of a community is emptied by each member for themselves, and by moderators of none but theirs', async () => {
    const lab = await openLab()
    const as = (idTag: typeof bobTag, role: 'contributor' | 'moderator') => ({
      at: club,
      as: identity(idTag, club, { role }),
    })
    for (const idTag of [aliceTag, bobTag]) {
      const fileId = await make(lab, 'CRDT', {}, as(idTag, 'contributor'))
      await remove(lab, fileId, as(idTag, 'contributor'))
    }
    const empty = async (sent: Sent) => (await lab.send('DELETE', '/api/trash', sent)).json.data.deleted
    expect(await empty({ at: club, as: identity('cara.example' as typeof bobTag, club) })).toBe(0)
    expect(await empty(as(bobTag, 'contributor'))).toBe(1)
    expect(await empty(as(bobTag, 'moderator'))).toBe(0)
    expect(await empty(as(aliceTag, 'contributor'))).toBe(1)
  })

  test('hides what is in it from everybody who could only read it', async () => {
    const lab = await openLab()
    const fileId = await make(lab, 'CRDT', { visibility: 'P' })
    await lab.putAction(alice, { visibility: 'P', attachments: [fileId] })
    const share = { subjectType: 'U', subjectId: bobTag, permission: 'R' }
    await lab.send('POST', `/api/files/${fileId}/shares`, { as: owner, json: share })
    const held = await lab.makeHolder(fileId)
    await remove(lab, fileId)
    for (const as of [stranger, held, { kind: 'guest' } as const])
      expect((await lab.send('GET', `/api/files/${fileId}/metadata`, { as })).status).toBe(404)
    expect((await metadata(lab, fileId)).status).toBe('D')
  })

  test('is open to whoever may write', async () => {
    const lab = await openLab()
    const box = await named(lab, 'box')
    const fileId = await named(lab, 'in', box)
    const share = (permission: string) =>
      lab.send('POST', `/api/files/${box}/shares`, {
        as: owner,
        json: { subjectType: 'U', subjectId: bobTag, permission },
      })
    expect(failureOf(await remove(lab, fileId, { as: stranger }))).toBe('404 E-FILE-NOTFOUND')
    await share('R')
    expect(failureOf(await remove(lab, fileId, { as: stranger }))).toBe('403 E-AUTH-FORBIDDEN')
    await share('W')
    expect((await remove(lab, fileId, { as: stranger })).status).toBe(200)
    expect(await listed(lab, '?parentId=__trash__', { as: stranger })).toEqual(['in'])
    const other = await named(lab, 'other')
    await lab.send('POST', `/api/files/${other}/shares`, {
      as: owner,
      json: { subjectType: 'U', subjectId: bobTag, permission: 'W' },
    })
    // As a move there is refused: it would take the file from those with whom the box is shared.
    for (const parentId of [other, null])
      expect(failureOf(await restore(lab, fileId, { parentId }, { as: stranger }))).toBe(
        '403 E-AUTH-FORBIDDEN',
      )
    expect((await restore(lab, fileId, { parentId: box }, { as: stranger })).status).toBe(200)
    expect(failureOf(await remove(lab, fileId))).toBe('200 undefined')
    expect(failureOf(await remove(lab, fileId))).toBe('409 E-STATE')
    await restore(lab, fileId)
    expect(failureOf(await restore(lab, fileId))).toBe('409 E-STATE')
    expect(failureOf(await remove(lab, fileId, { as: identity(aliceTag, alice, { scope: 'read' }) }))).toBe(
      '403 E-AUTH-FORBIDDEN',
    )
    expect(failureOf(await lab.send('DELETE', `/api/files/${fileId}`))).toBe('401 E-AUTH-UNAUTH')
    expect(failureOf(await lab.send('DELETE', '/api/trash'))).toBe('401 E-AUTH-UNAUTH')
    expect(failureOf(await remove(lab, fileId, { as: await lab.makeHolder(fileId, 'read') }))).toBe(
      '403 E-AUTH-FORBIDDEN',
    )
  })

  test('gives pictures back whose variants are not made yet, and makes them', async () => {
    const lab = await openLab()
    const photo = await readFile(
      join(import.meta.dirname, '../../../../test/fixtures/images/transparent.png'),
    )
    const { fileId } = (await lab.upload('p.png', photo)).json.data
    await remove(lab, fileId)
    await lab.settle()
    await restore(lab, fileId)
    expect(['M', 'P', 'A']).toContain((await metadata(lab, fileId)).status)
    await lab.settle()
    expect((await metadata(lab, fileId)).status).toBe('A')
    const { data } = (await lab.send('GET', `/api/files/${fileId}/descriptor`, { as: owner })).json
    expect(data.variants.map(({ id }: { id: string }) => id)).toEqual(['ic', 'tn', 'orig'])
  })

  test('keeps the tree and the count of bytes right, whatever is done in which order', async () => {
    const lab = await openLab()
    const step = fc.record({
      what: fc.constantFrom('upload', 'folder', 'move', 'trash', 'restore', 'remove', 'empty'),
      file: fc.nat(20),
      into: fc.nat(20),
      bytes: fc.constantFrom('a', 'bb', 'ccc'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), async (steps) => {
        const ids: string[] = []
        const pick = (at: number) => ids[at % Math.max(1, ids.length)] ?? unknown
        for (const { what, file, into, bytes } of steps) {
          const query = file % 2 === 0 ? '' : `?parentId=${pick(into)}`
          const json = { parentId: file % 3 === 0 ? null : pick(into) }
          const sent = { as: owner, json }
          const answer = await (what === 'upload'
            ? lab.upload('x', bytes, { query })
            : what === 'folder'
              ? lab.send('POST', '/api/files', { as: owner, json: { fileTp: 'FLDR', ...json } })
              : what === 'move'
                ? lab.send('PATCH', `/api/files/${pick(file)}`, sent)
                : what === 'trash'
                  ? remove(lab, pick(file))
                  : what === 'restore'
                    ? lab.send('POST', `/api/files/${pick(file)}/restore`, sent)
                    : what === 'remove'
                      ? remove(lab, pick(file), { permanent: true })
                      : lab.send('DELETE', '/api/trash', { as: owner }))
          expect(answer.status).toBeLessThan(500)
          if (answer.json.data?.fileId && answer.status === 201) ids.push(answer.json.data.fileId)
        }
        expect(await lab.inconsistencies()).toEqual([])
      }),
      { numRuns: open.runs(4) },
    )
    expect(lab.errors).toEqual([])
  })
})

eachDialect('Duplicating', (open) => {
  const openLab = filesLab(open)
  const duplicate = (lab: FilesLab, fileId: string, sent: Sent = {}) =>
    lab.send('POST', `/api/files/${fileId}/duplicate`, { as: owner, ...sent })
  const count = (lab: FilesLab, fileId: string, bytes: number) =>
    lab.db.transact(alice.tenantId, (tx) =>
      countContent(tx, { fileId: fileId as FileId, bytes, limits: lab.settings.limits, now: 0 }),
    )

  test('makes a private copy of a document or a database with its content', async () => {
    const lab = await openLab()
    const box = await folder(lab)
    for (const fileTp of ['CRDT', 'RTDB'] as const) {
      const fileId = await make(lab, fileTp, {
        fileName: 'plan',
        tags: 'a',
        visibility: 'P',
        contentType: 'app/x',
      })
      lab.contents[fileTp].write(alice.tenantId, fileId, 'what is in it')
      const answer = await duplicate(lab, fileId)
      expect(answer.status).toBe(201)
      const made = answer.json.data.fileId
      expect(await metadata(lab, made)).toMatchObject({
        fileTp,
        fileName: 'plan',
        tags: ['a'],
        contentType: 'app/x',
        visibility: null,
        parentId: null,
        size: 13,
      })
      expect((await lab.send('GET', `/api/files/${made}`, { as: owner })).body.toString()).toBe(
        'what is in it',
      )
      const named = await duplicate(lab, fileId, { json: { fileName: 'copy', parentId: box } })
      expect(await metadata(lab, named.json.data.fileId)).toMatchObject({ fileName: 'copy', parentId: box })
    }
  })

  test('is for those who may read it and make files', async () => {
    const lab = await openLab()
    const open = await make(lab, 'CRDT', { visibility: 'P' })
    const hidden = await make(lab, 'CRDT')
    const { fileId: blob } = (await lab.upload('a', 'x')).json.data
    expect(failureOf(await duplicate(lab, blob))).toBe('400 E-VALIDATION')
    expect(failureOf(await duplicate(lab, await folder(lab)))).toBe('400 E-VALIDATION')
    expect(failureOf(await duplicate(lab, hidden, { as: stranger }))).toBe('404 E-FILE-NOTFOUND')
    expect(failureOf(await duplicate(lab, open, { as: stranger }))).toBe('403 E-AUTH-FORBIDDEN')
    expect(failureOf(await duplicate(lab, open, { json: { parentId: unknown } }))).toBe('404 E-FILE-NOTFOUND')
    expect(failureOf(await duplicate(lab, open, { json: { fileName: '/' } }))).toBe('400 E-VALIDATION')
    expect(failureOf(await lab.send('POST', `/api/files/${open}/duplicate`))).toBe('401 E-AUTH-UNAUTH')
    await lab.send('DELETE', `/api/files/${open}`, { as: owner })
    expect(failureOf(await duplicate(lab, open))).toBe('409 E-STATE')
    expect((await lab.usage())?.files).toBe(4)
  })

  test('takes room as any other file', async () => {
    const lab = await openLab({ maxStorageBytes: 25 })
    const fileId = await make(lab, 'CRDT')
    lab.contents.CRDT.write(alice.tenantId, fileId, 'ten bytes!')
    expect((await duplicate(lab, fileId)).status).toBe(201)
    expect((await lab.usage())?.used_bytes).toBe(10)
    expect((await duplicate(lab, fileId)).status).toBe(201)
    expect(failureOf(await duplicate(lab, fileId))).toBe('507 E-QUOTA')
    expect(await lab.usage()).toEqual({ used_bytes: 20, files: 3 })
    expect(await lab.inconsistencies()).toEqual([])
  })

  test('of what is large is made in portions, and counted as others are', async () => {
    const lab = await openLab({ maxStorageBytes: 40 * 1024 ** 2 })
    const fileId = await make(lab, 'RTDB')
    lab.contents.RTDB.write(alice.tenantId, fileId, 'x'.repeat(17 * 1024 ** 2))
    await count(lab, fileId, 17 * 1024 ** 2)
    const { fileId: copy } = (await duplicate(lab, fileId)).json.data
    expect(await metadata(lab, copy)).toMatchObject({ size: 17 * 1024 ** 2 })
    expect(lab.contents.RTDB.rowsOf(alice.tenantId, copy)).toBe(1)
    expect(failureOf(await duplicate(lab, fileId))).toBe('507 E-QUOTA')
    expect(await lab.usage()).toEqual({ used_bytes: 34 * 1024 ** 2, files: 2 })
    expect(await lab.inconsistencies()).toEqual([])
  })
})
