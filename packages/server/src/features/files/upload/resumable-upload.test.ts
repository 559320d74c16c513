import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { dropReference } from '#features/accounts/index.ts'
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
import { sweepUploads } from './sweep-uploads.ts'

const owner = identity(aliceTag, alice)
const nothing = { files: 0, blobs: 0, reservations: 0, claims: 0, jobs: 0, onDisk: 0 }
const tus = { 'tus-resumable': '1.0.0' }
const pieceType = { 'content-type': 'application/offset+octet-stream' }
const pictures = join(import.meta.dirname, '../../../../test/fixtures/images')

const encode = (values: Record<string, string>) =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
    .join(',')

function begin(lab: FilesLab, length: number, values: Record<string, string> = {}, sent: Sent = {}) {
  const metadata = encode({ filename: 'notes.txt', filetype: 'text/plain', ...values })
  const headers = { ...tus, 'upload-length': String(length), 'upload-metadata': metadata, ...sent.headers }
  return lab.send('POST', '/api/uploads', { as: owner, ...sent, headers })
}

async function begun(lab: FilesLab, length: number, values: Record<string, string> = {}, sent: Sent = {}) {
  const answer = await begin(lab, length, values, sent)
  expect(answer.status).toBe(201)
  return answer.headers.location ?? ''
}

function patch(
  lab: FilesLab,
  path: string,
  offset: number,
  body: NonNullable<Sent['body']>,
  sent: Sent = {},
) {
  const headers = { ...tus, ...pieceType, 'upload-offset': String(offset), ...sent.headers }
  return lab.send('PATCH', path, { as: owner, body, ...sent, headers })
}

const look = (lab: FilesLab, path: string, sent: Sent = {}) =>
  lab.send('HEAD', path, { as: owner, headers: tus, ...sent })

const arrived = (lab: FilesLab, path: string) =>
  lab.partials.size(`${alice.tenantId}-${path.split('/').at(-1)}`)

/** Begins a piece of ten bytes whose end does not come, and waits until its first four have arrived. */
async function hangAfterFour(lab: FilesLab, path: string) {
  const headers = { ...tus, ...pieceType, 'upload-offset': '0', 'content-length': '10' }
  const request = lab.begin('PATCH', path, { as: owner, headers })
  const ended = new Promise<number | undefined>((resolve) => {
    request.once('response', (response) => resolve(response.resume().statusCode))
    request.once('error', () => resolve(undefined))
  })
  request.write('0123')
  while ((await arrived(lab, path)) < 4) await new Promise(setImmediate)
  return { request, ended }
}

eachDialect('A resumable upload', (open) => {
  const openLab = filesLab(open)

  test('becomes a file with its last piece', async () => {
    const lab = await openLab()
    const answer = await begin(lab, 11, { tags: 'a,b', createdAt: '1700000000', visibility: 'F' })
    expect(answer.status).toBe(201)
    const { uploadId } = answer.json.data
    expect(answer.json.data).toMatchObject({ offset: 0, length: 11 })
    const path = `/api/uploads/${uploadId}`
    expect(answer.headers).toMatchObject({
      ...tus,
      location: path,
      'upload-offset': '0',
      'upload-length': '11',
    })
    expect(await lab.remains()).toEqual({ ...nothing, reservations: 1 })

    const first = await patch(lab, path, 0, 'hello ')
    expect([first.status, first.body.length]).toEqual([204, 0])
    expect(first.headers).toMatchObject({ ...tus, 'upload-offset': '6' })
    expect(first.headers).not.toHaveProperty('x-file-id')
    const halfway = await look(lab, path)
    expect([halfway.status, halfway.headers['upload-offset']]).toEqual([200, '6'])
    expect(await lab.unfinished()).toEqual({ uploads: 1, files: 1 })

    const last = await patch(lab, path, 6, 'world')
    const fileId = last.headers['x-file-id']
    expect(last.headers).toMatchObject({ 'upload-offset': '11', 'x-file-id': expect.stringMatching(/^b1~/) })
    const { data } = (await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })).json
    expect(data).toMatchObject({
      fileName: 'notes.txt',
      contentType: 'text/plain',
      tags: ['a', 'b'],
      size: 11,
      visibility: 'F',
      createdAt: '2023-11-14T22:13:20.000Z',
    })
    expect((await lab.send('GET', `/api/files/${fileId}`, { as: owner })).body.toString()).toBe('hello world')
    expect(await lab.remains()).toEqual({ ...nothing, files: 1, blobs: 1, onDisk: 1 })
    expect(await lab.usage()).toEqual({ used_bytes: 11, files: 1 })
    expect(await lab.unfinished()).toEqual({ uploads: 1, files: 0 })
    const later = await look(lab, path)
    expect(later.headers).toMatchObject({
      'upload-offset': '11',
      'x-file-id': fileId,
      'cache-control': 'no-store',
    })
    const shown = await lab.send('GET', path, { as: owner, headers: tus })
    expect(shown.json.data).toMatchObject({ uploadId, offset: 11, length: 11, fileId })
  })

  test('may be continued and given up by POST, where nothing else gets through', async () => {
    const lab = await openLab({ maxFileBytes: 12 })
    const answer = await begin(lab, 4)
    expect(answer.headers['tus-max-size']).toBe('12')
    const path = answer.headers.location ?? ''
    const as = (method: string) => ({ ...tus, 'x-http-method-override': method })
    const headers = { ...as('PATCH'), ...pieceType, 'upload-offset': '0' }
    const piece = await lab.send('POST', path, { as: owner, headers, body: '01' })
    expect([piece.status, piece.headers['upload-offset']]).toEqual([204, '2'])
    expect((await lab.send('POST', path, { as: owner, headers: as('delete') })).status).toBe(204)
    expect((await look(lab, path)).status).toBe(404)
    expect((await lab.send('POST', path, { as: owner, headers: as('GET') })).status).toBe(405)
    const { fileId } = (await lab.upload('a', 'x')).json.data
    expect(
      (await lab.send('POST', `/api/files/${fileId}`, { as: owner, headers: as('DELETE') })).status,
    ).toBe(405)
  })

  test('needs no word about the file', async () => {
    const lab = await openLab()
    const headers = { ...tus, 'upload-length': '2' }
    const { headers: told } = await lab.send('POST', '/api/uploads', { as: owner, headers })
    expect(told).not.toHaveProperty('upload-metadata')
    const last = await patch(lab, told.location ?? '', 0, '01')
    const path = `/api/files/${last.headers['x-file-id']}/metadata`
    expect((await lab.send('GET', path, { as: owner })).json.data).toMatchObject({
      fileName: 'upload',
      parentId: null,
    })
  })

  test('ends a day after its last piece, and what was set aside is free again', async () => {
    const lab = await openLab({ maxStorageBytes: 10 })
    const path = await begun(lab, 10)
    lab.clock.advance(3_599_000)
    expect((await patch(lab, path, 0, 'four')).status).toBe(204)
    lab.clock.advance(86_399_000)
    const { headers } = await look(lab, path)
    expect(Date.parse(headers['upload-expires'] as string)).toBe(lab.clock.now() + 1000)
    lab.clock.advance(1000)
    expect(failureOf(await lab.send('GET', path, { as: owner, headers: tus }))).toBe('404 E-NOTFOUND')
    expect(failureOf(await patch(lab, path, 4, 'x'))).toBe('404 E-NOTFOUND')
    await sweepUploads(lab.shareDeps)
    await lab.settle()
    expect(await lab.remains()).toEqual(nothing)
    expect(await lab.unfinished()).toEqual({ uploads: 0, files: 0 })
    expect((await begin(lab, 10)).status).toBe(201)
  })
})

eachDialect('A resumable upload', (open) => {
  const openLab = filesLab(open)

  test('of no bytes is a file at once', async () => {
    const lab = await openLab()
    const { json, headers } = await begin(lab, 0)
    expect(json.data).toMatchObject({ offset: 0, length: 0, fileId: headers['x-file-id'] })
    expect(await lab.remains()).toMatchObject({ files: 1, reservations: 0 })
  })

  test('is treated by its preset', async () => {
    const lab = await openLab()
    const picture = await readFile(join(pictures, 'photo.jpg'))
    const path = await begun(lab, picture.length, { preset: 'profile-picture', filetype: 'image/jpeg' })
    const { headers } = await patch(lab, path, 0, picture)
    const shown = await lab.send('GET', `/api/files/${headers['x-file-id']}/descriptor`, { as: owner })
    const { variants } = shown.json.data
    expect(variants.at(-1)).toMatchObject({ id: 'orig', width: 400, height: 400, format: 'webp' })
    expect(await lab.remains()).toMatchObject({ files: 1, reservations: 0, claims: 0 })
  })

  test('becomes one file, however often its last piece is sent', async () => {
    const lab = await openLab()
    const path = await begun(lab, 5)
    const fileId = (await patch(lab, path, 0, 'hello')).headers['x-file-id']
    const again = await patch(lab, path, 0, 'hello')
    expect(failureOf(again)).toBe('409 E-STATE')
    expect(again.json.error.details).toEqual({ offset: 5 })
    const empty = await patch(lab, path, 5, '')
    expect([empty.status, empty.headers['x-file-id']]).toEqual([204, fileId])
    expect(await lab.remains()).toMatchObject({ files: 1, blobs: 1 })
  })

  test('goes on only from where it is', async () => {
    const lab = await openLab()
    const path = await begun(lab, 10)
    await patch(lab, path, 0, 'four')
    for (const offset of [0, 3, 5, 10]) {
      const answer = await patch(lab, path, offset, 'x')
      expect(failureOf(answer)).toBe('409 E-STATE')
      expect(answer.json.error.details).toEqual({ offset: 4 })
      expect(answer.headers).toMatchObject(tus)
    }
    expect((await patch(lab, path, 4, '')).headers['upload-offset']).toBe('4')
  })

  test('takes not one byte more than it said', async () => {
    const lab = await openLab()
    const path = await begun(lab, 5)
    expect(failureOf(await patch(lab, path, 0, 'hello!'))).toBe('413 E-TOOLARGE')
    const streamed = Readable.from([Buffer.from('hel'), Buffer.from('lo!')])
    expect(failureOf(await patch(lab, path, 0, streamed))).toBe('413 E-TOOLARGE')
    expect(await lab.remains()).toEqual({ ...nothing, reservations: 1 })
    const { headers } = await look(lab, path)
    const offset = Number(headers['upload-offset'])
    expect((await patch(lab, path, offset, 'hello'.slice(offset))).headers).toHaveProperty('x-file-id')
  })

  test('is refused at its beginning when it would be too much', async () => {
    const lab = await openLab({ maxFileBytes: 8, maxStorageBytes: 10 })
    expect(failureOf(await begin(lab, 9))).toBe('413 E-TOOLARGE')
    const path = await begun(lab, 6)
    expect(failureOf(await begin(lab, 5))).toBe('507 E-QUOTA')
    expect(failureOf(await lab.upload('a', 'hello'))).toBe('507 E-QUOTA')
    expect((await lab.send('DELETE', path, { as: owner, headers: tus })).status).toBe(204)
    expect((await begin(lab, 5)).status).toBe(201)
  })

  test('may be given up, with everything that has arrived', async () => {
    const lab = await openLab()
    const path = await begun(lab, 5)
    await patch(lab, path, 0, 'hel')
    const ended = await lab.send('DELETE', path, { as: owner, headers: tus })
    expect([ended.status, ended.headers['tus-resumable']]).toEqual([204, '1.0.0'])
    expect(failureOf(await patch(lab, path, 3, 'lo'))).toBe('404 E-NOTFOUND')
    expect(failureOf(await lab.send('DELETE', path, { as: owner, headers: tus }))).toBe('404 E-NOTFOUND')
    expect(await lab.remains()).toEqual(nothing)
    expect(await lab.unfinished()).toEqual({ uploads: 0, files: 0 })
  })

  test('that was given up leaves the file that it has become', async () => {
    const lab = await openLab()
    const path = await begun(lab, 5)
    await patch(lab, path, 0, 'hello')
    expect((await lab.send('DELETE', path, { as: owner, headers: tus })).status).toBe(204)
    expect(await lab.remains()).toMatchObject({ files: 1, blobs: 1 })
  })

  test('keeps what arrived before its connection broke', async () => {
    const lab = await openLab()
    const path = await begun(lab, 10)
    const { request, ended } = await hangAfterFour(lab, path)
    request.destroy()
    await ended
    // Waits for the request before it, and is told where that one came to.
    expect((await patch(lab, path, 0, '')).json.error.details).toEqual({ offset: 4 })
    expect((await patch(lab, path, 4, '456789')).headers).toHaveProperty('x-file-id')
    expect(lab.errors).toEqual([])
  })

  test('is continued by a request that comes while another hangs', async () => {
    const lab = await openLab()
    const path = await begun(lab, 10)
    const { ended } = await hangAfterFour(lab, path)
    expect(failureOf(await patch(lab, path, 0, '0123'))).toBe('409 E-STATE')
    expect(await ended).toBe(409)
    const { headers } = await patch(lab, path, 4, '456789')
    const bytes = await lab.send('GET', `/api/files/${headers['x-file-id']}`, { as: owner })
    expect(bytes.body.toString()).toBe('0123456789')
  })

  test('is ended by HEAD where it hangs, which tells what has arrived; GET leaves it alone', async () => {
    const lab = await openLab()
    const path = await begun(lab, 10)
    const { request, ended } = await hangAfterFour(lab, path)
    let hasEnded = false
    void ended.then(() => {
      hasEnded = true
    })
    expect((await lab.send('GET', path, { as: owner, headers: tus })).status).toBe(200)
    expect((await look(lab, path, { as: identity(bobTag, alice) })).status).toBe(404)
    request.write('4')
    while ((await arrived(lab, path)) < 5) await new Promise(setImmediate)
    expect(hasEnded).toBe(false)
    expect((await look(lab, path)).headers['upload-offset']).toBe('5')
    expect(await ended).toBe(409)
    expect((await patch(lab, path, 5, '56789')).headers).toHaveProperty('x-file-id')
  })

  test('is not corrupted by requests at the same time', async () => {
    const lab = await openLab()
    const content = Buffer.alloc(1_000_000, 'resumable ')
    const path = await begun(lab, content.length)
    const together = Array.from({ length: 6 }, () => patch(lab, path, 0, content))
    const statuses = (await Promise.all(together)).map(({ status }) => status)
    expect(statuses.filter((status) => status !== 204 && status !== 409)).toEqual([])
    const offset = Number((await look(lab, path)).headers['upload-offset'])
    if (offset < content.length) await patch(lab, path, offset, content.subarray(offset))
    const { headers } = await look(lab, path)
    const { body } = await lab.send('GET', `/api/files/${headers['x-file-id']}`, { as: owner })
    expect(createHash('sha256').update(body).digest('hex')).toBe(
      createHash('sha256').update(content).digest('hex'),
    )
    expect(await lab.remains()).toMatchObject({ files: 1, blobs: 1, reservations: 0, claims: 0 })
  })

  test('is finished after a process died between the name of its bytes and its file', async () => {
    const lab = await openLab()
    const path = await begun(lab, 5)
    const hash = createHash('sha256').update('hello').digest('hex')
    await lab.claimAsIfDying(hash)
    expect((await patch(lab, path, 0, 'hello')).headers).toHaveProperty('x-file-id')
    const other = await begun(lab, 5)
    await lab.claimAsIfDying(hash)
    lab.clock.advance(3_599_000)
    expect((await patch(lab, other, 0, 'hello')).headers).toHaveProperty('x-file-id')
    expect(await lab.remains()).toMatchObject({ files: 2, blobs: 1, reservations: 0, claims: 0 })
    expect(await lab.inconsistencies()).toEqual([])
  })

  test('starts anew where its bytes are lost', async () => {
    const lab = await openLab()
    const path = await begun(lab, 5)
    await patch(lab, path, 0, 'hel')
    await lab.partials.remove(`${alice.tenantId}-${path.split('/').at(-1)}`)
    expect((await look(lab, path)).headers['upload-offset']).toBe('0')
    expect((await patch(lab, path, 0, 'hello')).headers).toHaveProperty('x-file-id')
  })

  test('whose bytes are not what was said leaves nothing', async () => {
    const lab = await openLab()
    const path = await begun(lab, 5, { filetype: 'image/png' })
    expect(failureOf(await patch(lab, path, 0, 'hello'))).toBe('400 E-VALIDATION')
    const made = await begun(lab, 5, { preset: 'cover-photo' })
    expect(failureOf(await patch(lab, made, 0, 'hello'))).toBe('415 E-MEDIATYPE')
    expect(await lab.remains()).toEqual(nothing)
    expect(await lab.unfinished()).toEqual({ uploads: 0, files: 0 })
  })

  test('is refused for a folder that is none, and leaves nothing where it goes meanwhile', async () => {
    const lab = await openLab()
    const make = (fileTp: string) => lab.send('POST', '/api/files', { as: owner, json: { fileTp } })
    const { fileId: parentId } = (await make('FLDR')).json.data
    const document = (await make('CRDT')).json.data.fileId
    expect(failureOf(await begin(lab, 5, { parentId: document }))).toBe('400 E-VALIDATION')
    expect(failureOf(await begin(lab, 5, { parentId: `f1~${'A'.repeat(43)}` }))).toBe('404 E-FILE-NOTFOUND')
    const path = await begun(lab, 5, { parentId })
    await lab.send('DELETE', `/api/files/${parentId}`, { as: owner })
    expect(failureOf(await patch(lab, path, 0, 'hello'))).toBe('404 E-FILE-NOTFOUND')
    expect(await lab.remains()).toMatchObject({ files: 2, reservations: 0 })
    expect(await lab.unfinished()).toEqual({ uploads: 0, files: 0 })
  })

  test('that has no byte after an hour has lapsed', async () => {
    const lab = await openLab({ maxStorageBytes: 10 })
    const path = await begun(lab, 10)
    lab.clock.advance(3_599_000)
    expect((await patch(lab, path, 0, '')).status).toBe(204)
    expect(await lab.unfinished()).toMatchObject({ uploads: 1 })
    lab.clock.advance(1_000)
    expect((await look(lab, path)).status).toBe(404)
    await sweepUploads(lab.shareDeps)
    await lab.settle()
    expect(await lab.remains()).toEqual(nothing)
    expect((await begin(lab, 10)).status).toBe(201)
  })

  test('exists for nobody but who began it, and only where it was begun', async () => {
    const lab = await openLab()
    const contributor = identity(bobTag, club, { role: 'contributor' })
    const path = await begun(lab, 5, {}, { at: club, as: contributor })
    const strangers: Sent[] = [
      { at: club, as: identity(aliceTag, club, { role: 'leader' }) },
      { at: bob, as: identity(bobTag, bob) },
    ]
    for (const sent of strangers) {
      expect((await look(lab, path, sent)).status).toBe(404)
      expect(failureOf(await patch(lab, path, 0, 'hello', sent))).toBe('404 E-NOTFOUND')
      expect(failureOf(await lab.send('DELETE', path, { headers: tus, ...sent }))).toBe('404 E-NOTFOUND')
    }
    const own = { at: club, as: contributor }
    expect((await patch(lab, path, 0, 'hello', own)).headers).toHaveProperty('x-file-id')
  })

  test('is for those who may put files there, with a scope that lets them', async () => {
    const lab = await openLab()
    expect(failureOf(await begin(lab, 5, {}, { as: identity(bobTag, alice) }))).toBe('403 E-AUTH-FORBIDDEN')
    expect(failureOf(await begin(lab, 5, {}, { as: holder('write') }))).toBe('403 E-AUTH-FORBIDDEN')
    const reading = identity(aliceTag, alice, { scope: 'read:files' })
    expect(failureOf(await begin(lab, 5, {}, { as: reading }))).toBe('403 E-AUTH-FORBIDDEN')
    const path = await begun(lab, 5)
    expect((await look(lab, path, { as: reading })).status).toBe(200)
    expect(failureOf(await patch(lab, path, 0, 'hello', { as: reading }))).toBe('403 E-AUTH-FORBIDDEN')
  })

  test('is not finished by who may not put files there any more', async () => {
    const lab = await openLab()
    const at = club
    const contributor = { at, as: identity(bobTag, club, { role: 'contributor' }) }
    const path = await begun(lab, 5, {}, contributor)
    const fallen = { at, as: identity(bobTag, club, { role: 'follower' }) }
    expect(failureOf(await patch(lab, path, 0, 'hello', fallen))).toBe('403 E-AUTH-FORBIDDEN')
    expect(await lab.remains(club)).toMatchObject({ files: 0, blobs: 0, reservations: 1 })
    expect((await look(lab, path, contributor)).headers['upload-offset']).toBe('0')
    expect((await patch(lab, path, 0, 'hello', contributor)).headers).toHaveProperty('x-file-id')
    expect(await lab.remains(club)).toMatchObject({ files: 1, reservations: 0 })
  })

  test('speaks one version of tus, and says so in every answer', async () => {
    const lab = await openLab()
    const path = await begun(lab, 5)
    for (const version of [{}, { 'tus-resumable': '0.2.2' }]) {
      const { 'tus-resumable': _, ...rest } = tus
      const headers = { ...rest, ...version }
      const answer = await lab.send('GET', path, { as: owner, headers })
      expect(failureOf(answer)).toBe('412 E-PRECONDITION')
      expect(answer.headers).toMatchObject({ ...tus, 'tus-version': '1.0.0' })
      expect((await lab.send('DELETE', path, { as: owner, headers })).status).toBe(412)
    }
    const options = await lab.send('OPTIONS', '/api/uploads')
    expect(options.headers).toMatchObject({
      'tus-version': '1.0.0',
      'tus-extension': 'creation,expiration,termination',
    })
    expect((await lab.send('GET', path, { headers: tus })).headers).toMatchObject(tus)
    const other = await patch(lab, path, 0, 'x', { headers: { 'content-type': 'text/plain' } })
    expect(failureOf(other)).toBe('415 E-MEDIATYPE')
    for (const header of ['upload-concat', 'upload-defer-length', 'upload-checksum']) {
      const refused = await begin(lab, 5, {}, { headers: { [header]: 'partial' } })
      expect(failureOf(refused)).toBe('400 E-VALIDATION')
      expect(refused.json.error.details.issues[0].path).toBe(`/headers/${header}`)
      expect(failureOf(await patch(lab, path, 0, 'x', { headers: { [header]: 'sha1 x' } }))).toBe(
        '400 E-VALIDATION',
      )
    }
    expect(await lab.remains()).toMatchObject({ files: 0, reservations: 1, onDisk: 0 })
    const headers = { 'upload-length': '-1' }
    expect(failureOf(await begin(lab, 5, {}, { headers }))).toBe('400 E-VALIDATION')
  })
})

eachDialect('The uploads of visitors', (open) => {
  const openLab = filesLab(open)
  const visitor = identity(bobTag, alice)
  /** A folder into which Bob may put files, and the share by which he may. */
  async function shared(lab: FilesLab) {
    const folder = { as: owner, json: { fileTp: 'FLDR' } }
    const box = (await lab.send('POST', '/api/files', folder)).json.data.fileId as string
    const json = { subjectType: 'U', subjectId: bobTag, permission: 'W' }
    const { data } = (await lab.send('POST', `/api/files/${box}/shares`, { as: owner, json })).json
    return { box, shareId: data.id as number }
  }

  test('have only a part of the storage set aside for them', async () => {
    const lab = await openLab({ maxStorageBytes: 1000, maxFileBytes: 100 })
    const { box } = await shared(lab)
    for (let count = 0; count < 2; count += 1) await begun(lab, 100, { parentId: box }, { as: visitor })
    expect(failureOf(await begin(lab, 100, { parentId: box }, { as: visitor }))).toBe('507 E-QUOTA')
    const upload = (size: number) =>
      lab.upload('a', 'x'.repeat(size), { as: visitor, query: `?parentId=${box}` })
    expect(failureOf(await upload(60))).toBe('507 E-QUOTA')
    expect((await upload(50)).status).toBe(201)
    const { data } = (await lab.send('GET', '/api/me/usage', { as: owner })).json
    expect(data).toMatchObject({ usedBytes: 50, reservedBytes: 200 })
    expect((await begin(lab, 100)).status).toBe(201)
  })

  test('are few at a time', async () => {
    const lab = await openLab()
    const { box } = await shared(lab)
    for (let count = 0; count < 20; count += 1) await begun(lab, 1, { parentId: box }, { as: visitor })
    expect(failureOf(await begin(lab, 1, { parentId: box }, { as: visitor }))).toBe('507 E-QUOTA')
    expect((await begin(lab, 1)).status).toBe(201)
    lab.clock.advance(3_600_000)
    expect((await begin(lab, 1, { parentId: box }, { as: visitor })).status).toBe(201)
  })

  test('end when their makers may no longer put files there', async () => {
    const lab = await openLab()
    const { box, shareId } = await shared(lab)
    const guest = await lab.makeHolder(box, 'write')
    for (const as of [visitor, guest, owner]) {
      const path = await begun(lab, 5, { parentId: box }, { as })
      await patch(lab, path, 0, 'hel', { as })
    }
    await sweepUploads(lab.shareDeps)
    expect(await lab.unfinished()).toEqual({ uploads: 3, files: 3 })
    await lab.send('DELETE', `/api/files/${box}/shares/${shareId}`, { as: owner })
    await sweepUploads(lab.shareDeps)
    expect(await lab.unfinished()).toEqual({ uploads: 2, files: 2 })
    if (guest.kind === 'reference')
      await lab.db.transact(alice.tenantId, (tx) => dropReference(lab.shareDeps, tx, guest.refId))
    await sweepUploads(lab.shareDeps)
    expect(await lab.unfinished()).toEqual({ uploads: 1, files: 1 })
    expect(await lab.remains()).toMatchObject({ reservations: 1 })
  })
})
