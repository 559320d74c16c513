import { once } from 'node:events'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import {
  alice,
  aliceTag,
  bob,
  bobTag,
  club,
  clubTag,
  type FilesLab,
  failureOf,
  filesLab,
  holder,
  identity,
  type Received,
} from '#harness/files-lab.ts'
import { serverTenant } from '#infra/db/index.ts'
import { endDeadUploads } from './end-dead-uploads.ts'
import type { ReservationTables } from './reservation-store.ts'

const pictures = join(import.meta.dirname, '../../../../test/fixtures/images')
const picture = (name: string) => readFile(join(pictures, name))
const nothing = { files: 0, blobs: 0, reservations: 0, claims: 0, jobs: 0, onDisk: 0 }
const owner = identity(aliceTag, alice)

eachDialect('Uploading', (open) => {
  const openLab = filesLab(open)
  const text = (lab: FilesLab, sent: Parameters<FilesLab['upload']>[2] = {}) =>
    lab.upload('notes.txt', 'hello', { headers: { 'content-type': 'text/plain' }, ...sent })

  test('answers the new file, whose id commits to the bytes, and keeps nothing else', async () => {
    const lab = await openLab()
    const answer = await text(lab, { query: '?created_at=1700000000&tags=b,a,b' })
    expect(answer.status).toBe(201)
    expect(answer.json.data).toEqual({
      fileId: expect.stringMatching(/^b1~[\w-]{43}$/),
      status: 'A',
      fileTp: 'BLOB',
      contentType: 'text/plain',
      fileName: 'notes.txt',
      createdAt: 1_700_000_000,
      tags: ['b', 'a'],
    })
    expect(await lab.remains()).toEqual({ ...nothing, files: 1, blobs: 1, onDisk: 1 })
    expect(await lab.usage()).toEqual({ used_bytes: 5, files: 1 })
  })

  test('takes the server’s time without created_at, and the declared type of bytes that say nothing', async () => {
    const lab = await openLab()
    const answer = await lab.upload('x', 'hello', {})
    expect(answer.json.data).toMatchObject({
      contentType: 'application/octet-stream',
      createdAt: lab.clock.now() / 1000,
      tags: [],
    })
  })

  test('takes the first form part that is called file', async () => {
    const lab = await openLab()
    const form =
      '--x\r\ncontent-disposition: form-data; name="other"\r\n\r\nno\r\n' +
      '--x\r\ncontent-disposition: form-data; name="file"; filename="ignored.txt"\r\ncontent-type: text/plain\r\n\r\nfrom a form\r\n' +
      '--x\r\ncontent-disposition: form-data; name="file"; filename="2"\r\n\r\nsecond\r\n--x--\r\n'
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const answer = await lab.upload('named.txt', form, { headers })
    expect(answer.json.data).toMatchObject({ fileName: 'named.txt', contentType: 'text/plain' })
    const bytes = await lab.send('GET', `/api/files/${answer.json.data.fileId}`, { as: owner })
    expect(bytes.body.toString()).toBe('from a form')
    expect(await lab.remains()).toMatchObject({ files: 1, blobs: 1, reservations: 0, onDisk: 1 })
  })

  test('takes any name, also those that are something else elsewhere', async () => {
    const lab = await openLab()
    for (const name of ['restore', 'duplicate', 'shares', 'variant', '...', 'a b%20', 'ü🐈']) {
      const answer = await lab.upload(name, 'x', { preset: 'raw' })
      expect([answer.status, answer.json.data?.fileName]).toEqual([201, name])
    }
  })

  test('keeps a name composed, without blanks around it, and takes none that looks like another', async () => {
    const lab = await openLab()
    const named = async (name: string) => (await lab.upload(name, 'x', { preset: 'raw' })).json
    expect((await named(' Cafe\u0301 \u3000')).data.fileName).toBe('Café')
    for (const name of ['..', '.', ' ', '\u200b', 'gpj.\u202eexe', 'a\u2067b', 'a\nb'])
      expect([name, (await named(name)).error?.details.issues[0].path]).toEqual([name, '/params/fileName'])
  })

  test('answers at the singular path too', async () => {
    const lab = await openLab()
    expect((await lab.send('POST', '/api/file/raw/a', { as: owner, body: 'x' })).status).toBe(201)
    expect((await lab.send('POST', '/file/upload', { as: owner, body: 'x' })).status).toBe(404)
  })

  test('takes times of the world, before 1970 too', async () => {
    const lab = await openLab()
    for (const [given, seconds] of [
      ['1954-07-04T15:30:00Z', -488_968_200],
      ['-488968200', -488_968_200],
      ['0001-01-01t00:00:00z', -62_135_596_800],
      ['2016-12-31T23:59:60Z', 1_483_228_800],
    ] as const) {
      const answer = await text(lab, { query: `?createdAt=${given}` })
      expect([answer.status, answer.json.data.createdAt]).toEqual([201, seconds])
      const path = `/api/files/${answer.json.data.fileId}/metadata`
      const { createdAt } = (await lab.send('GET', path, { as: owner })).json.data
      expect(Date.parse(createdAt) / 1000).toBe(seconds)
    }
    expect((await text(lab, { query: '?createdAt=0000-12-31T23:59:59Z' })).status).toBe(400)
  })

  test('makes two files of the same bytes, which are stored and counted once', async () => {
    const lab = await openLab()
    const [one, two] = [await text(lab), await text(lab)]
    expect(one.json.data.fileId).not.toBe(two.json.data.fileId)
    expect(await lab.usage()).toEqual({ used_bytes: 5, files: 2 })
    expect(await lab.remains()).toMatchObject({ files: 2, blobs: 1, onDisk: 1 })
  })

  test('makes a picture’s variants after the answer', async () => {
    const lab = await openLab()
    const answer = await lab.upload('photo.jpg', await picture('photo.jpg'))
    expect(answer.json.data).toMatchObject({ status: 'M', contentType: 'image/jpeg' })
    const { fileId } = answer.json.data
    const before = await lab.send('GET', `/api/files/${fileId}/descriptor`, { as: owner })
    expect(before.json.data.variants).toEqual([{ id: 'orig', size: expect.any(Number), format: 'jpeg' }])
    await lab.settle()
    const after = await lab.send('GET', `/api/files/${fileId}/descriptor`, { as: owner })
    expect(after.json.data.variants).toMatchObject([
      { id: 'ic', height: 64, format: 'webp' },
      { id: 'tn', height: 150, format: 'webp' },
      { id: 'sd', height: 640, format: 'webp' },
      { id: 'hd', height: 1920, format: 'webp' },
      { id: 'orig', width: 1536, height: 2304, format: 'jpeg' },
    ])
    const metadata = await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })
    expect(metadata.json.data.status).toBe('A')
    const kept = { files: 1, blobs: 5, reservations: 0, claims: 0, onDisk: 5 }
    expect(await lab.remains()).toMatchObject(kept)
  })

  test('keeps of a photo how large it is upright and when it was taken, and of its place nothing', async () => {
    const lab = await openLab()
    const metadataOf = async (uploaded: Received) => {
      await lab.settle()
      const { fileId } = uploaded.json.data
      return (await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })).json.data
    }
    const photo = await metadataOf(await lab.upload('phone.heic', await picture('phone.heic')))
    const takenAt = Date.UTC(2024, 6, 1, 12, 30) / 1000
    expect(photo).toMatchObject({ contentType: 'image/heic', status: 'A', width: 400, height: 600, takenAt })
    expect(JSON.stringify({ ...photo, fileId: undefined })).not.toMatch(/gps|lat|Kith|Procedural/i)
    const listed = (await lab.send('GET', '/api/files', { as: owner })).json.data
    expect(listed[0]).toMatchObject({ width: 400, height: 600, takenAt })
    const turned = await metadataOf(await lab.upload('turned.jpg', await picture('orientation-6.jpg')))
    expect([turned.width, turned.height, 'takenAt' in turned]).toEqual([400, 600, false])
    const profile = await metadataOf(
      await lab.upload('me.heic', await picture('phone.heic'), { preset: 'profile-picture' }),
    )
    expect([profile.width, profile.height, 'takenAt' in profile]).toEqual([400, 400, false])
    const raw = await metadataOf(await lab.upload('raw.heic', await picture('phone.heic'), { preset: 'raw' }))
    expect(['width' in raw, 'takenAt' in raw]).toEqual([false, false])
  })

  test('does not believe a camera whose clock is ahead', async () => {
    const lab = await openLab()
    for (const [now, isTold] of [
      ['2024-06-30T13:00:00Z', true],
      ['2024-06-30T12:00:00Z', false],
    ] as const) {
      lab.clock.advance(Date.parse(now) - lab.clock.now())
      const { fileId } = (await lab.upload('phone.heic', await picture('phone.heic'))).json.data
      await lab.settle()
      const { json } = await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })
      expect('takenAt' in json.data).toBe(isTold)
    }
  })

  test('makes no variants with the preset raw', async () => {
    const lab = await openLab()
    const answer = await lab.upload('p.png', await picture('transparent.png'), { preset: 'raw' })
    expect(answer.json.data).toMatchObject({ status: 'A', contentType: 'image/png' })
    expect(await lab.remains()).toMatchObject({ jobs: 0, blobs: 1 })
  })

  test.each([
    ['profile-picture', { orig: [400, 400], tn: [150, 150], ic: [64, 64] }],
    ['cover-photo', { orig: [1536, 864], tn: [150, 84], ic: [64, 36] }],
    ['thumbnail-only', { tn: [100, 150], ic: [43, 64] }],
  ])('with the preset %s keeps only what it makes, and the id commits to it', async (preset, expected) => {
    const lab = await openLab()
    const answer = await lab.upload('photo.jpg', await picture('photo.jpg'), { preset })
    expect(answer.json.data).toMatchObject({ status: 'A', contentType: 'image/webp' })
    const { fileId } = answer.json.data
    const { data } = (await lab.send('GET', `/api/files/${fileId}/descriptor`, { as: owner })).json
    const sizes = data.variants.map((v: { id: string; width: number; height: number }) => [
      v.id,
      [v.width, v.height],
    ])
    expect(Object.fromEntries(sizes)).toEqual(expected)
    const bytes = await lab.send('GET', `/api/files/${fileId}`, { as: owner })
    expect(bytes.body.byteLength).toBe(data.size)
    const count = Object.keys(expected).length
    expect(await lab.remains()).toMatchObject({ blobs: count, onDisk: count, reservations: 0, claims: 0 })
  })

  test('leaves a picture that cannot be processed as it came, with a reason', async () => {
    const lab = await openLab()
    const broken = (await picture('photo.jpg')).subarray(0, 3000)
    const { fileId, status } = (await lab.upload('photo.jpg', broken)).json.data
    expect(status).toBe('M')
    await lab.settle()
    const { data } = (await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })).json
    expect(data).toMatchObject({ status: 'A', x: { processingError: expect.any(String) } })
    const bytes = await lab.send('GET', `/api/files/${fileId}?variant=tn`, { as: owner })
    expect(bytes.body.equals(broken)).toBe(true)
  })

  test('leaves a picture without variants when the storage is used up by them', async () => {
    const photo = await picture('photo.jpg')
    const lab = await openLab({ maxStorageBytes: photo.length + 1000 })
    const { fileId } = (await lab.upload('photo.jpg', photo)).json.data
    await lab.settle()
    const { data } = (await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })).json
    expect(data).toMatchObject({ status: 'A', x: { processingError: 'the storage is used up' } })
    expect(await lab.remains()).toMatchObject({ blobs: 1, onDisk: 1, reservations: 0 })
  })

  test.each([
    ['image/jpeg', 'holiday.jpg', 'still.webp', 'image/webp'],
    ['image/png', 'holiday.png', 'photo.jpg', 'image/jpeg'],
    ['image/webp', 'holiday', 'animated.gif', 'image/gif'],
    ['image/svg+xml', 'logo.svg', 'transparent.png', 'image/png'],
    ['image/x-unheard-of', 'holiday.avif', 'still.webp', 'image/webp'],
    ['text/plain', 'notes.txt', 'still.avif', 'image/avif'],
  ])(
    'stores a picture that is called %s and %s as what it is, however it comes',
    async (declared, name, of, is) => {
      const lab = await openLab()
      const bytes = await picture(of)
      const typeOf = ({ status, json }: Received) => [status, json.data?.contentType]
      expect(typeOf(await lab.upload(name, bytes, { headers: { 'content-type': declared } }))).toEqual([
        201,
        is,
      ])
      const form = Buffer.concat([
        Buffer.from(
          `--x\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: ${declared}\r\n\r\n`,
        ),
        bytes,
        Buffer.from('\r\n--x--\r\n'),
      ])
      const headers = { 'content-type': 'multipart/form-data; boundary=x' }
      expect(typeOf(await lab.upload(name, form, { headers }))).toEqual([201, is])
      for (const preset of ['profile-picture', 'cover-photo', 'thumbnail-only'])
        expect(
          typeOf(await lab.upload(name, bytes, { preset, headers: { 'content-type': declared } })),
        ).toEqual([201, 'image/webp'])
    },
  )

  test('stores a TIFF whose directory comes last as one', async () => {
    const lab = await openLab()
    const tiff = Buffer.alloc(9000, 0xee)
    tiff.set([0x49, 0x49, 0x2a, 0, 0x08, 0x20, 0, 0])
    const scan = await lab.upload('scan.tif', tiff, {
      preset: 'raw',
      headers: { 'content-type': 'image/tiff' },
    })
    expect([scan.status, scan.json.data.contentType]).toEqual([201, 'image/tiff'])
  })

  test('takes a JSON file in every way but as a JSON body', async () => {
    const lab = await openLab()
    const refused = await lab.upload('data.json', '{"a":1}', {
      headers: { 'content-type': 'application/json' },
    })
    expect(failureOf(refused)).toBe('400 E-VALIDATION')
    expect(refused.json.error.details.issues[0].message).toMatch(/octet-stream.*form.*\/api\/uploads/)
    const form = `--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\ncontent-type: application/json\r\n\r\n{"a":1}\r\n--x--\r\n`
    for (const [name, headers, body, contentType] of [
      ['data.json', {}, '{"a":1}', 'application/json'],
      ['DATA.JSON', { 'content-type': 'application/octet-stream' }, '{"a":1}', 'application/json'],
      ['data', { 'content-type': 'multipart/form-data; boundary=x' }, form, 'application/json'],
      ['data.json', { 'content-type': 'text/plain' }, '{"a":1}', 'text/plain'],
      ['data.json.txt', {}, '{"a":1}', 'application/octet-stream'],
      ['data.json', {}, Buffer.from('ff00', 'hex'), 'application/octet-stream'],
    ] as const) {
      const answer = await lab.upload(name, body, { headers, preset: 'raw' })
      expect([name, answer.status, answer.json.data.contentType]).toEqual([name, 201, contentType])
    }
  })

  test('lists the original of every file that keeps one', async () => {
    const lab = await openLab()
    const photo = await picture('photo.jpg')
    const variantsOf = async (uploaded: Received) => {
      const { fileId } = uploaded.json.data
      const { json } = await lab.send('GET', `/api/files/${fileId}/descriptor`, { as: owner })
      return json.data.variants
    }
    expect(await variantsOf(await lab.upload('photo.jpg', photo, { preset: 'raw' }))).toEqual([
      { id: 'orig', size: photo.length, format: 'jpeg' },
    ])
    const headers = { 'content-type': 'text/plain; charset=utf-8' }
    expect(await variantsOf(await lab.upload('a.txt', 'words', { headers }))).toEqual([
      { id: 'orig', size: 5, format: 'plain' },
    ])
    const reduced = await variantsOf(await lab.upload('photo.jpg', photo, { preset: 'thumbnail-only' }))
    expect(reduced.map(({ id }: { id: string }) => id)).toEqual(['ic', 'tn'])
  })

  test.each([
    ['an unknown preset', '/api/files/huge/a.txt', {}, '400 E-VALIDATION'],
    ['a name with a slash', '/api/files/raw/a%2Fb', {}, '400 E-VALIDATION'],
    ['a name with a control character', '/api/files/raw/a%0Ab', {}, '400 E-VALIDATION'],
    ['a name that is too long', `/api/files/raw/${'x'.repeat(256)}`, {}, '400 E-VALIDATION'],
    ['a JSON body', '/api/files/raw/a', { json: { fileTp: 'CRDT' } }, '400 E-VALIDATION'],
    ['milliseconds', '/api/files/raw/a?created_at=1700000000000', {}, '400 E-VALIDATION'],
    ['a tag that is too long', `/api/files/raw/a?tags=${'x'.repeat(65)}`, {}, '400 E-VALIDATION'],
    ['an unknown visibility', '/api/files/raw/a?visibility=X', {}, '400 E-VALIDATION'],
    ['an unknown folder', `/api/files/raw/a?parentId=d1~${'A'.repeat(43)}`, {}, '404 E-FILE-NOTFOUND'],
    ['a folder id without its form', '/api/files/raw/a?parentId=x', {}, '404 E-FILE-NOTFOUND'],
    [
      'an image type that the bytes contradict',
      '/api/files/raw/a.png',
      { headers: { 'content-type': 'image/png' } },
      '400 E-VALIDATION',
    ],
    ['a profile picture that is none', '/api/files/profile-picture/a', {}, '415 E-MEDIATYPE'],
    ['a compressed body', '/api/files/raw/a', { headers: { 'content-encoding': 'gzip' } }, '415 E-MEDIATYPE'],
    [
      'a form without the part',
      '/api/files/raw/a',
      {
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
        body: '--x\r\ncontent-disposition: form-data; name="f"\r\n\r\nno\r\n--x--\r\n',
      },
      '400 E-VALIDATION',
    ],
  ])('refuses %s and leaves nothing', async (_, path, sent, expected) => {
    const lab = await openLab()
    expect(failureOf(await lab.send('POST', path, { as: owner, body: 'x', ...sent }))).toBe(expected)
    expect(await lab.remains()).toEqual(nothing)
    expect(lab.errors).toEqual([])
  })

  test('refuses a parent that is no folder', async () => {
    const lab = await openLab()
    const { fileId } = (await text(lab)).json.data
    expect(failureOf(await text(lab, { query: `?parentId=${fileId}` }))).toBe('400 E-VALIDATION')
  })

  test.each([
    ['guests', undefined, '401 E-AUTH-UNAUTH'],
    ['strangers', identity(bobTag, alice), '403 E-AUTH-FORBIDDEN'],
    ['tokens that may only read', identity(aliceTag, alice, { scope: 'read' }), '403 E-AUTH-FORBIDDEN'],
    [
      'tokens for something else',
      identity(aliceTag, alice, { scope: 'write:actions' }),
      '403 E-AUTH-FORBIDDEN',
    ],
    [
      'tokens for one file',
      identity(aliceTag, alice, { scope: `file:b1~${'A'.repeat(43)}:write` }),
      '403 E-AUTH-FORBIDDEN',
    ],
    ['holders of references', holder(`file:b1~${'A'.repeat(43)}:write`), '403 E-AUTH-FORBIDDEN'],
  ])('is not for %s', async (_, as, expected) => {
    const lab = await openLab()
    const sent = as === undefined ? {} : { as }
    expect(failureOf(await lab.send('POST', '/api/files/raw/a', { body: 'x', ...sent }))).toBe(expected)
    expect(await lab.remains()).toEqual(nothing)
  })

  test('stores on the tenant of the host alone', async () => {
    const lab = await openLab()
    const answer = await text(lab, { at: bob, as: identity(bobTag, bob) })
    const { fileId } = answer.json.data
    expect(await lab.remains(alice)).toMatchObject({ files: 0, blobs: 0 })
    expect(failureOf(await lab.send('GET', `/api/files/${fileId}`, { as: owner }))).toBe(
      '404 E-FILE-NOTFOUND',
    )
    const token = lab.bearerOf(owner, alice)
    const elsewhere = { at: bob, headers: { authorization: `Bearer ${token}` } }
    expect(failureOf(await lab.send('POST', '/api/files/raw/a', { body: 'x', ...elsewhere }))).toBe(
      '401 E-AUTH-UNAUTH',
    )
  })

  test('in a community is for contributors, who own what they upload', async () => {
    const lab = await openLab()
    const upload = (role: 'follower' | 'contributor') =>
      text(lab, { at: club, as: identity(bobTag, club, { role }) })
    expect(failureOf(await upload('follower'))).toBe('403 E-AUTH-FORBIDDEN')
    const { fileId } = (await upload('contributor')).json.data
    const asLeader = { at: club, as: identity(aliceTag, club, { role: 'leader' }) }
    const { data } = (await lab.send('GET', `/api/files/${fileId}/metadata`, asLeader)).json
    expect(data.owner.idTag).toBe(bobTag)
    const asOwner = { at: club, as: identity(clubTag, club) }
    expect((await lab.send('GET', `/api/files/${fileId}/metadata`, asOwner)).status).toBe(200)
    const asMember = { at: club, as: identity(aliceTag, club, { role: 'contributor' }) }
    expect((await lab.send('GET', `/api/files/${fileId}/metadata`, asMember)).status).toBe(404)
  })

  test('sets by itself what is not the caller’s to say', async () => {
    const lab = await openLab()
    const query = '?ownerTag=bob.example&owner=bob.example&status=D&size=1&fileId=b1~x&tnId=2&isCopy=1'
    const { fileId } = (await text(lab, { query })).json.data
    const { data } = (await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })).json
    expect(data).toMatchObject({ owner: { idTag: aliceTag, name: 'Alice' }, status: 'A', size: 5 })
    expect(await lab.remains(bob)).toMatchObject({ files: 0 })
  })

  test('is refused beyond the size of a file, whether it is declared or not', async () => {
    const lab = await openLab({ maxFileBytes: 10 })
    expect(failureOf(await lab.upload('a', 'x'.repeat(11)))).toBe('413 E-TOOLARGE')
    const chunked = { 'transfer-encoding': 'chunked' }
    expect(failureOf(await lab.upload('a', 'x'.repeat(11), { headers: chunked }))).toBe('413 E-TOOLARGE')
    expect(await lab.remains()).toEqual(nothing)
    expect((await lab.upload('a', 'x'.repeat(10), { headers: chunked })).status).toBe(201)
  })

  test('is refused beyond the storage, whether the length is declared or not', async () => {
    const lab = await openLab({ maxStorageBytes: 10 })
    expect(failureOf(await lab.upload('a', 'x'.repeat(11)))).toBe('507 E-QUOTA')
    const chunked = { 'transfer-encoding': 'chunked' }
    expect(failureOf(await lab.upload('a', 'x'.repeat(11), { headers: chunked }))).toBe('507 E-QUOTA')
    expect(await lab.remains()).toEqual(nothing)
    expect((await lab.upload('a', 'x'.repeat(10), { headers: chunked })).status).toBe(201)
    expect(failureOf(await lab.upload('a', 'y', { headers: chunked }))).toBe('507 E-QUOTA')
    expect((await lab.upload('empty', '')).status).toBe(201)
  })

  test('leaves room beside a form, which cannot become larger than it is', async () => {
    const lab = await openLab({ maxStorageBytes: 1000 })
    const form = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhello\r\n--x--\r\n'
    const headers = { 'content-type': 'multipart/form-data; boundary=x', 'content-length': `${form.length}` }
    const slow = lab.begin('POST', '/api/files/raw/a', { as: owner, headers })
    slow.on('error', () => {})
    slow.write(form.slice(0, -12))
    await untilReserved(lab)
    expect((await lab.upload('b', 'x'.repeat(900))).status).toBe(201)
    slow.end(form.slice(-12))
    const [response] = await once(slow, 'response')
    expect(response.statusCode).toBe(201)
    response.resume()
  })

  test('of several at once does not exceed the storage together', async () => {
    const lab = await openLab({ maxStorageBytes: 1000 })
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => lab.upload(`${at}`, `${at}`.repeat(300))),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, 201, 201, 507, 507, 507, 507, 507])
    expect(await lab.usage()).toEqual({ used_bytes: 900, files: 3 })
  })

  test('that is broken off leaves nothing', async () => {
    const lab = await openLab()
    for (const type of ['text/plain', 'multipart/form-data; boundary=x']) {
      const headers = { 'content-type': type, 'content-length': '100000' }
      const request = lab.begin('POST', '/api/files/default/a', { as: owner, headers })
      request.on('error', () => {})
      request.write('--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhello')
      await untilReserved(lab)
      request.destroy()
      await until(async () => (await lab.remains()).reservations === 0)
      expect(await lab.remains()).toEqual(nothing)
    }
    expect(lab.errors).toEqual([])
  })

  test('keeps what a slow upload has set aside for as long as it lives', async () => {
    const lab = await openLab({ maxStorageBytes: 100_000 })
    const request = lab.begin('POST', '/api/files/default/a', {
      as: owner,
      headers: { 'content-length': '100000' },
    })
    request.on('error', () => {})
    request.flushHeaders()
    await untilReserved(lab)
    for (let step = 1; step <= 9; step += 1) {
      // As many as keep the connection.
      request.write(Buffer.alloc(4000))
      await until(async () => (await stagedBytes(lab)) >= step * 4000)
      lab.clock.advance(20_000)
      await until(async () => ((await reservedUntil(lab))[0] ?? 0) > lab.clock.now() / 1000 + 20)
      await endDeadUploads(lab.deps)
      expect(failureOf(await lab.upload('b', 'x'.repeat(10)))).toBe('507 E-QUOTA')
    }
    request.destroy()
  })
})

async function reservedUntil({ db }: FilesLab): Promise<number[]> {
  const rows = await db
    .reader(serverTenant)
    .tables<ReservationTables>()
    .selectFrom('storage_reservations')
    .selectAll()
    .execute()
  return rows.map((row) => row.expires_at)
}

async function stagedBytes({ dir }: FilesLab): Promise<number> {
  const staging = join(dir, 'blobs/staging')
  const files = await Promise.all((await readdir(staging)).map((name) => stat(join(staging, name))))
  return files.reduce((sum, { size }) => sum + size, 0)
}

/** Waits for what the other end of a connection causes. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(5)
}

const untilReserved = (lab: FilesLab) => until(async () => (await lab.remains()).reservations > 0)
