import { expect, test } from 'vitest'
import { onSqlite } from '#harness/each-dialect.ts'
import {
  alice,
  aliceTag,
  bobTag,
  type FilesLab,
  failureOf,
  filesLab,
  identity,
  type Sent,
} from '#harness/files-lab.ts'

const owner = identity(aliceTag, alice)
const editor = identity(bobTag, alice)
const forbidden = '403 E-AUTH-FORBIDDEN'

onSqlite('Who may write a shared folder', (open) => {
  const openLab = filesLab(open)

  async function make(lab: FilesLab, fileTp: string, body: object = {}): Promise<string> {
    const answer = await lab.send('POST', '/api/files', { as: owner, json: { fileTp, ...body } })
    return answer.json.data.fileId
  }
  const share = (lab: FilesLab, fileId: string, permission: string) =>
    lab.send('POST', `/api/files/${fileId}/shares`, {
      as: owner,
      json: { subjectType: 'U', subjectId: bobTag, permission },
    })
  const change = (lab: FilesLab, fileId: string, json: object, sent: Sent = { as: editor }) =>
    lab.send('PATCH', `/api/files/${fileId}`, { json, ...sent })

  /** A folder with two in it and a document in the first; beside it one of the owner's alone. */
  async function tree(lab: FilesLab, permission = 'W') {
    const shared = await make(lab, 'FLDR', { fileName: 'shared' })
    const one = await make(lab, 'FLDR', { parentId: shared })
    const two = await make(lab, 'FLDR', { parentId: shared })
    const file = await make(lab, 'CRDT', { fileName: 'plan', parentId: one })
    const aside = await make(lab, 'FLDR')
    if (permission !== '') await share(lab, shared, permission)
    return { shared, one, two, file, aside }
  }

  test('renames what is in it, by a share or by a reference', async () => {
    const lab = await openLab()
    const { shared, one, file } = await tree(lab)
    expect((await change(lab, file, { fileName: 'better' })).json.data).toMatchObject({
      fileName: 'better',
      owner: { idTag: aliceTag },
    })
    expect((await change(lab, one, { fileName: 'first' })).status).toBe(200)
    const held = { as: await lab.makeHolder(shared, 'write') }
    expect((await change(lab, file, { fileName: 'best' }, held)).json.data.fileName).toBe('best')
    expect(failureOf(await change(lab, file, { fileName: 'a/b' }))).toBe('400 E-VALIDATION')
    expect(lab.events.at(-1)).toMatchObject({ kind: 'file.updated', fileId: file, to: [aliceTag] })
  })

  test('moves within it, and nowhere else', async () => {
    const lab = await openLab()
    const { shared, one, two, file, aside } = await tree(lab)
    const to = async (fileId: string, parentId: string | null) =>
      failureOf(await change(lab, fileId, { parentId }))
    expect((await change(lab, file, { parentId: two })).json.data.parentId).toBe(two)
    expect((await change(lab, file, { parentId: shared })).json.data.parentId).toBe(shared)
    expect((await change(lab, two, { parentId: one })).json.data.parentId).toBe(one)
    expect(await to(file, null)).toBe(forbidden)
    expect(await to(file, aside)).toBe('404 E-FILE-NOTFOUND')
    expect(await to(shared, null)).toBe('200 undefined')
    expect(await to(shared, one)).toBe(forbidden)
    expect(await to(one, two)).toBe('409 E-STATE')
    // Another folder of the same owner's that is shared with the same is another one all the same.
    await share(lab, aside, 'W')
    expect(await to(file, aside)).toBe(forbidden)
    expect((await lab.send('GET', `/api/files/${file}/metadata`, { as: owner })).json.data.parentId).toBe(
      shared,
    )
    expect(await lab.inconsistencies()).toEqual([])
  })

  test('moves nothing out by a reference, nor what alone was given', async () => {
    const lab = await openLab()
    const { one, two, file } = await tree(lab, '')
    const byFolder = { as: await lab.makeHolder(one, 'write') }
    expect(failureOf(await change(lab, file, { parentId: two }, byFolder))).toBe('404 E-FILE-NOTFOUND')
    await share(lab, file, 'A')
    await share(lab, two, 'W')
    expect(failureOf(await change(lab, file, { parentId: two }))).toBe(forbidden)
    expect((await change(lab, file, { fileName: 'mine' })).status).toBe(200)
  })

  test('changes neither tags nor who may read, and nothing without the right to write', async () => {
    const lab = await openLab()
    const { file, two } = await tree(lab)
    for (const json of [
      { visibility: 'P' },
      { visibility: null },
      { tags: 'x' },
      { fileName: 'x', tags: '' },
    ])
      expect(failureOf(await change(lab, file, json))).toBe(forbidden)
    const narrowed = { as: identity(bobTag, alice, { scope: 'read:files' }) }
    expect(failureOf(await change(lab, file, { fileName: 'x' }, narrowed))).toBe(forbidden)
    const reading = await openLab()
    const { file: read, shared } = await tree(reading, 'R')
    expect(failureOf(await change(reading, read, { fileName: 'x' }))).toBe(forbidden)
    const held = { as: await reading.makeHolder(shared, 'read') }
    expect(failureOf(await change(reading, read, { parentId: two }, held))).toBe(forbidden)
  })

  test('replaces the bytes of what is in it: the new file has its place, the old one goes to the trash', async () => {
    const lab = await openLab()
    const { one, file, aside } = await tree(lab)
    const upload = (name: string, query: string, sent: Sent = { as: editor }) =>
      lab.upload(name, name, { query, preset: 'raw', ...sent })
    const first = (await upload('first', `?parentId=${one}&tags=x`, { as: owner })).json.data.fileId
    const second = (await upload('second', `?replaces=${first}`)).json.data.fileId
    const about = async (fileId: string) =>
      (await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })).json.data
    expect(await about(second)).toMatchObject({
      ...{ fileName: 'second', parentId: one, tags: ['x'], visibility: null },
      owner: { idTag: aliceTag },
    })
    expect(await about(first)).toMatchObject({ status: 'D', originalParentId: one })
    expect(failureOf(await upload('again', `?replaces=${first}`))).toBe('409 E-STATE')
    const held = { as: await lab.makeHolder(one, 'write') }
    const third = (await upload('third', `?replaces=${second}`, held)).json.data.fileId
    const metadata = `filename ${btoa('fourth')},replaces ${btoa(third)}`
    const headers = { 'tus-resumable': '1.0.0', 'upload-length': '0', 'upload-metadata': metadata }
    const fourth = (await lab.send('POST', '/api/uploads', { as: editor, headers })).headers[
      'x-file-id'
    ] as string
    expect(await about(fourth)).toMatchObject({
      fileName: 'fourth',
      parentId: one,
      tags: ['x'],
      visibility: null,
    })
    for (const [query, failure] of [
      [`?replaces=${file}`, '400 E-VALIDATION'],
      [`?replaces=${fourth}&parentId=${one}`, '400 E-VALIDATION'],
      [`?replaces=${fourth}&visibility=P`, '400 E-VALIDATION'],
      [`?replaces=b1~${'A'.repeat(43)}`, '404 E-FILE-NOTFOUND'],
      ['?replaces=x', '404 E-FILE-NOTFOUND'],
    ] as const)
      expect([query, failureOf(await upload('no', query))]).toEqual([query, failure])
    // A file that alone was given has no place that its editor may write.
    const alone = (await upload('alone', `?parentId=${aside}`, { as: owner })).json.data.fileId
    expect(failureOf(await upload('no', `?replaces=${alone}`))).toBe('404 E-FILE-NOTFOUND')
    await share(lab, alone, 'W')
    expect(failureOf(await upload('no', `?replaces=${alone}`))).toBe('404 E-FILE-NOTFOUND')
    expect((await upload('own', `?replaces=${alone}`, { as: owner })).status).toBe(201)
    expect(await lab.inconsistencies()).toEqual([])
    expect(lab.errors).toEqual([])
  })

  test('replaces nothing that others may read by its visibility: the owner does, and it keeps that', async () => {
    const lab = await openLab()
    const { one } = await tree(lab)
    const put = (query: string, as: Sent['as'] = owner) => lab.upload('a', 'a', { query, preset: 'raw', as })
    const held = await lab.makeHolder(one, 'write')
    const folderToken = identity(aliceTag, alice, { scope: `file:${one}:write` })
    for (const visibility of ['P', 'V', 'F', 'C'] as const) {
      const { fileId } = (await put(`?parentId=${one}&visibility=${visibility}`)).json.data
      const metadata = `filename ${btoa('a')},replaces ${btoa(fileId)}`
      const headers = { 'tus-resumable': '1.0.0', 'upload-length': '0', 'upload-metadata': metadata }
      for (const as of [editor, held, folderToken]) {
        expect(failureOf(await put(`?replaces=${fileId}`, as))).toBe(forbidden)
        expect(failureOf(await lab.send('POST', '/api/uploads', { as, headers }))).toBe(forbidden)
      }
      const replaced = (await put(`?replaces=${fileId}`)).json.data.fileId
      const { json } = await lab.send('GET', `/api/files/${replaced}/metadata`, { as: owner })
      expect(json.data).toMatchObject({ parentId: one, visibility })
    }
    expect(await lab.inconsistencies()).toEqual([])
  })

  test('of two who replace the same at once, one does', async () => {
    const lab = await openLab()
    const { one } = await tree(lab)
    const { fileId } = (await lab.upload('a', 'a', { query: `?parentId=${one}` })).json.data
    const answers = await Promise.all(
      [owner, editor].map((as) => lab.upload('b', 'b', { as, query: `?replaces=${fileId}` })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409])
  })

  test('is no more than that with a token for the folder alone, be it the owner’s', async () => {
    const lab = await openLab()
    const { one, two, file } = await tree(lab, '')
    const shown = await make(lab, 'CRDT', { visibility: 'P' })
    const held = { as: identity(aliceTag, alice, { scope: `file:${one}:write` }) }
    expect((await change(lab, file, { fileName: 'better' }, held)).status).toBe(200)
    for (const [fileId, json, failure] of [
      [shown, { fileName: 'x' }, forbidden],
      [shown, { visibility: null }, forbidden],
      [file, { visibility: null }, forbidden],
      [file, { tags: 'x' }, forbidden],
      [file, { parentId: null }, forbidden],
      [one, { parentId: two }, '404 E-FILE-NOTFOUND'],
      [file, { parentId: two }, '404 E-FILE-NOTFOUND'],
    ] as const)
      expect([json, failureOf(await change(lab, fileId, json, held))]).toEqual([json, failure])
    const reading = { as: identity(aliceTag, alice, { scope: `file:${one}:read` }) }
    expect(failureOf(await change(lab, file, { fileName: 'x' }, reading))).toBe(forbidden)
    const put = (query: string) => lab.upload('new', 'new', { ...held, preset: 'raw', query })
    expect(failureOf(await put(`?parentId=${one}&visibility=P`))).toBe(forbidden)
    expect((await put(`?parentId=${one}`)).status).toBe(201)
  })

  test('changes nothing any more when the share has ended', async () => {
    const lab = await openLab()
    const { shared, file } = await tree(lab)
    const { json } = await lab.send('GET', `/api/files/${shared}/shares`, { as: owner })
    await lab.send('DELETE', `/api/files/${shared}/shares/${json.data[0].id}`, { as: owner })
    expect(failureOf(await change(lab, file, { fileName: 'x' }))).toBe('404 E-FILE-NOTFOUND')
  })
})
