import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import {
  alice,
  aliceTag,
  bob,
  bobTag,
  type FilesLab,
  failureOf,
  filesLab,
  holder,
  identity,
} from '#harness/files-lab.ts'

const pictures = join(import.meta.dirname, '../../../../test/fixtures/images')
const owner = identity(aliceTag, alice)
const stranger = identity(bobTag, alice)
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

eachDialect('Reading a file', (open) => {
  const openLab = filesLab(open)

  async function uploaded(lab: FilesLab, body: Uint8Array | string, options: object = {}): Promise<string> {
    const answer = await lab.upload('notes.txt', body, {
      headers: { 'content-type': 'text/plain' },
      ...options,
    })
    expect(answer.status).toBe(201)
    await lab.settle()
    return answer.json.data.fileId
  }
  const publicly = { query: '?visibility=P' }

  test('answers its bytes with everything a careful server says', async () => {
    const lab = await openLab()
    const fileId = await uploaded(lab, 'hello')
    const answer = await lab.send('GET', `/api/files/${fileId}`, { as: owner })
    expect(answer.status).toBe(200)
    expect(answer.body.toString()).toBe('hello')
    expect(answer.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '5',
      'accept-ranges': 'bytes',
      etag: `"${sha256('hello')}"`,
      'last-modified': new Date(lab.clock.now()).toUTCString(),
      'cache-control': 'private, no-cache',
      vary: 'Authorization',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'content-disposition': 'inline; filename="notes.txt"',
    })
    const head = await lab.send('HEAD', `/api/files/${fileId}`, { as: owner })
    expect(head.body.length).toBe(0)
    const { date: _, ...headers } = answer.headers
    expect(head.headers).toMatchObject({
      ...headers,
      'x-request-id': expect.any(String),
      'x-ratelimit-remaining': expect.any(String),
    })
  })

  test('answers a part of it', async () => {
    const lab = await openLab()
    const fileId = await uploaded(lab, '0123456789')
    const get = (range: string, more: object = {}) =>
      lab.send('GET', `/api/files/${fileId}`, { as: owner, headers: { range, ...more } })
    const part = await get('bytes=2-5')
    expect([part.status, part.body.toString()]).toEqual([206, '2345'])
    expect(part.headers).toMatchObject({ 'content-range': 'bytes 2-5/10', 'content-length': '4' })
    expect((await get('bytes=-3')).body.toString()).toBe('789')
    expect((await get('bytes=8-')).body.toString()).toBe('89')
    const several = await get('bytes=0-1,4-5')
    expect([several.status, several.body.toString()]).toEqual([200, '0123456789'])
    const beyond = await get('bytes=10-')
    expect(failureOf(beyond)).toBe('416 E-RANGE')
    expect(beyond.headers['content-range']).toBe('bytes */10')
    const etag = `"${sha256('0123456789')}"`
    expect((await get('bytes=0-0', { 'if-range': etag })).status).toBe(206)
    expect((await get('bytes=0-0', { 'if-range': '"old"' })).status).toBe(200)
    expect((await get('bytes=0-0', { 'if-range': `W/${etag}` })).status).toBe(200)
    const head = await lab.send('HEAD', `/api/files/${fileId}`, {
      as: owner,
      headers: { range: 'bytes=99-' },
    })
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, '10', 0])
    expect(head.headers).not.toHaveProperty('content-range')
  })

  test('is bound to what the reader expects of it', async () => {
    const lab = await openLab()
    const fileId = await uploaded(lab, '0123456789')
    const etag = `"${sha256('0123456789')}"`
    const now = new Date(lab.clock.now()).toUTCString()
    const before = new Date(lab.clock.now() - 1000).toUTCString()
    for (const method of ['GET', 'HEAD'])
      for (const [headers, expected] of [
        [{ 'if-match': etag }, 200],
        [{ 'if-match': '"old"' }, 412],
        [{ 'if-match': '"old"', range: 'bytes=99-' }, 412],
        [{ 'if-unmodified-since': now }, 200],
        [{ 'if-unmodified-since': before }, 412],
        [{ 'if-modified-since': now }, 304],
        [{ 'if-modified-since': before }, 200],
      ] as const) {
        const answer = await lab.send(method, `/api/files/${fileId}`, { as: owner, headers })
        expect([method, headers, answer.status]).toEqual([method, headers, expected])
      }
    const refused = await lab.send('GET', `/api/files/${fileId}`, {
      as: owner,
      headers: { 'if-match': '"old"' },
    })
    expect(failureOf(refused)).toBe('412 E-PRECONDITION')
  })

  test('of text says that it is UTF-8 where all of its bytes are', async () => {
    const lab = await openLab()
    const typeOf = async (declared: string, body: Uint8Array | string, query = '') => {
      const fileId = await uploaded(lab, body, { headers: { 'content-type': declared } })
      const about = (await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })).json.data
      const { headers } = await lab.send('GET', `/api/files/${fileId}${query}`, { as: owner })
      return [headers['content-type'], about.contentType]
    }
    const late = Buffer.concat([Buffer.alloc(100_000, 'a'), Buffer.from('é', 'latin1')])
    for (const [declared, body, served] of [
      ['text/plain', 'Grüße', 'text/plain; charset=utf-8'],
      ['text/csv', 'a,b', 'text/csv; charset=utf-8'],
      ['text/plain', Buffer.from('Grüße', 'latin1'), 'text/plain'],
      ['text/plain', late, 'text/plain'],
      ['text/plain; charset=iso-8859-1', 'hello', 'text/plain; charset=iso-8859-1'],
      ['application/json', '{}', 'application/json'],
    ] as const) {
      const headers = declared === 'application/json' ? 'application/octet-stream' : declared
      const fileId = (
        await lab.upload(declared === 'application/json' ? 'a.json' : 'a', body, {
          headers: { 'content-type': headers },
        })
      ).json.data.fileId
      const answer = await lab.send('GET', `/api/files/${fileId}`, { as: owner })
      expect([declared, answer.headers['content-type']]).toEqual([declared, served])
      const about = (await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })).json.data
      expect(about.contentType).toBe(declared)
    }
    expect(await typeOf('text/plain', 'hello', '?variant=sd')).toEqual([
      'text/plain; charset=utf-8',
      'text/plain',
    ])
  })

  test('of text from before that was noted is looked at once', async () => {
    const lab = await openLab()
    const noted = async (fileId: string, isUtf8?: null) =>
      lab.db.transact(alice.tenantId, async (tx) => {
        const files = tx.tables<{ files: { file_id: string; is_utf8: number | null } }>()
        if (isUtf8 === null)
          await files.updateTable('files').set({ is_utf8: null }).where('file_id', '=', fileId).execute()
        return (await files.selectFrom('files').select('is_utf8').where('file_id', '=', fileId).execute())[0]
          ?.is_utf8
      })
    for (const [body, served, isUtf8] of [
      ['Grüße', 'text/plain; charset=utf-8', 1],
      [Buffer.from('Grüße', 'latin1'), 'text/plain', 0],
    ] as const) {
      const fileId = await uploaded(lab, body)
      expect(await noted(fileId)).toBe(isUtf8)
      expect(await noted(fileId, null)).toBeNull()
      const head = await lab.send('HEAD', `/api/files/${fileId}`, { as: owner })
      expect(head.headers['content-type']).toBe(served)
      expect(await noted(fileId)).toBe(isUtf8)
    }
  })

  test('has the name of the picture that it is', async () => {
    const lab = await openLab()
    const photo = await readFile(
      join(import.meta.dirname, '../../../../test/fixtures/images/transparent.png'),
    )
    const nameOf = async (name: string, preset: string, query: string) => {
      const { fileId } = (await lab.upload(name, photo, { preset })).json.data
      await lab.settle()
      const { headers } = await lab.send('GET', `/api/files/${fileId}${query}`, { as: owner })
      return `${headers['content-type']} ${/filename="(.*)"/.exec(String(headers['content-disposition']))?.[1]}`
    }
    expect(await nameOf('x.png', 'default', '?variant=ic')).toBe('image/webp x.webp')
    expect(await nameOf('x.png', 'default', '?variant=orig')).toBe('image/png x.png')
    expect(await nameOf('v1.2', 'default', '?variant=ic')).toBe('image/webp v1.2.webp')
    expect(await nameOf('me.PNG', 'profile-picture', '')).toBe('image/webp me.webp')
  })

  test('answers nothing new to whoever has it', async () => {
    const lab = await openLab()
    const fileId = await uploaded(lab, 'hello')
    const get = (tag: string, range?: string) => {
      const headers = { 'if-none-match': tag, ...(range === undefined ? {} : { range }) }
      return lab.send('GET', `/api/files/${fileId}`, { as: owner, headers })
    }
    const known = await get(`"other", "${sha256('hello')}"`)
    expect([known.status, known.body.length]).toEqual([304, 0])
    expect(known.headers).toMatchObject({
      etag: `"${sha256('hello')}"`,
      'cache-control': 'private, no-cache',
    })
    expect((await get(`"${sha256('hello')}"`, 'bytes=99-')).status).toBe(304)
    expect((await get('"other"')).status).toBe(200)
  })

  test('of no bytes at all answers no bytes', async () => {
    const lab = await openLab()
    const fileId = await uploaded(lab, '')
    const answer = await lab.send('GET', `/api/files/${fileId}`, { as: owner })
    expect([answer.status, answer.headers['content-length'], answer.body.length]).toEqual([200, '0', 0])
    const part = await lab.send('GET', `/api/files/${fileId}`, { as: owner, headers: { range: 'bytes=0-' } })
    expect([part.status, part.headers['content-range']]).toEqual([416, 'bytes */0'])
  })

  test('may be kept for ever only when everybody may read it', async () => {
    const lab = await openLab()
    const cached = async (fileId: string) =>
      (await lab.send('GET', `/api/files/${fileId}`, { as: owner })).headers['cache-control']
    expect(await cached(await uploaded(lab, 'a', publicly))).toBe('public, max-age=31536000, immutable')
    for (const code of ['V', 'F', 'C'])
      expect(await cached(await uploaded(lab, 'b', { query: `?visibility=${code}` }))).toBe(
        'private, no-cache',
      )
    const attached = await uploaded(lab, 'c')
    await lab.putAction(alice, { visibility: 'V', attachments: [attached] })
    expect(await cached(attached)).toBe('private, no-cache')
    await lab.putAction(alice, { visibility: 'P', attachments: [attached] })
    expect(await cached(attached)).toBe('public, max-age=31536000, immutable')
  })

  test('of a picture whose variants are not made yet is not kept in their place', async () => {
    const lab = await openLab()
    const photo = await readFile(join(pictures, 'photo.jpg'))
    const { fileId } = (await lab.upload('photo.jpg', photo, publicly)).json.data
    const get = async (variant: string) => {
      const path = `/api/files/${fileId}?variant=${variant}`
      const { headers, body } = await lab.send('GET', path, { as: stranger })
      return [headers['cache-control'], 'last-modified' in headers, body.equals(photo)]
    }
    expect(await get('tn')).toEqual(['private, no-cache', false, true])
    expect(await get('orig')).toEqual(['private, no-cache', false, true])
    await lab.settle()
    expect(await get('tn')).toEqual(['public, max-age=31536000, immutable', true, false])
  })

  describe('gives a guest nothing of a picture that may say where it was taken:', () => {
    const readPhoto = () => readFile(join(pictures, 'photo.jpg'))
    const guestSees = async (lab: FilesLab, fileId: string, bytes: Buffer) => {
      const seen = new Map<string, string>()
      for (const query of ['', '?variant=orig', '?variant=hd', '?variant=sd', '?variant=tn']) {
        const { status, body } = await lab.send('GET', `/api/files/${fileId}${query}`)
        seen.set(query, body.equals(bytes) ? 'original' : status === 200 ? 'made' : `${status}`)
      }
      return Object.fromEntries(seen)
    }
    const nothing = {
      '': '404',
      '?variant=orig': '404',
      '?variant=hd': '404',
      '?variant=sd': '404',
      '?variant=tn': '404',
    }

    test('the largest that was made stands in for the original, which others who may read it still get', async () => {
      const lab = await openLab()
      const photo = await readPhoto()
      const { fileId } = (await lab.upload('photo.jpg', photo, publicly)).json.data
      expect(await guestSees(lab, fileId, photo)).toEqual(nothing)
      await lab.settle()
      const made = { '?variant=hd': 'made', '?variant=sd': 'made', '?variant=tn': 'made' }
      expect(await guestSees(lab, fileId, photo)).toEqual({ ...made, '': 'made', '?variant=orig': '404' })
      const { headers } = await lab.send('GET', `/api/files/${fileId}`)
      expect(headers['cache-control']).toBe('private, no-cache')
      const { json } = await lab.send('GET', `/api/files/${fileId}/descriptor`)
      expect(json.data.variants.map(({ id }: { id: string }) => id)).not.toContain('orig')
      for (const query of ['', '?variant=orig']) {
        const answer = await lab.send('GET', `/api/files/${fileId}${query}`, { as: stranger })
        expect(answer.body.equals(photo)).toBe(true)
        expect(answer.headers['cache-control']).toBe('private, no-cache')
      }
    })

    test('one that cannot be processed is not shown', async () => {
      const lab = await openLab()
      const broken = (await readPhoto()).subarray(0, 3000)
      const { fileId } = (await lab.upload('photo.jpg', broken, publicly)).json.data
      await lab.settle()
      expect(await guestSees(lab, fileId, broken)).toEqual(nothing)
      expect((await lab.send('GET', `/api/files/${fileId}`, { as: owner })).body.equals(broken)).toBe(true)
    })

    test('one without metadata is its original, and one that was uploaded raw is published as it is', async () => {
      const lab = await openLab()
      const png = await readFile(join(pictures, 'transparent.png'))
      const { fileId } = (await lab.upload('x.png', png, publicly)).json.data
      await lab.settle()
      expect(await guestSees(lab, fileId, png)).toMatchObject({ '': 'original', '?variant=orig': 'original' })
      const photo = await readPhoto()
      const raw = (await lab.upload('photo.jpg', photo, { ...publicly, preset: 'raw' })).json.data
      expect(await guestSees(lab, raw.fileId, photo)).toMatchObject({ '': 'original' })
    })
  })

  test('gives the next larger variant for one that was left out', async () => {
    const lab = await openLab()
    // 480 × 320: no larger than `sd`.
    const png = await readFile(join(pictures, 'transparent.png'))
    const fileId = await uploaded(lab, png, { headers: {} })
    const typeOf = async (path: string) => {
      const { headers, body } = await lab.send('GET', path, { as: owner })
      return `${headers['content-type']} ${body.equals(png) ? 'original' : 'made'}`
    }
    for (const variant of ['tn', 'ic'])
      expect(await typeOf(`/api/files/${fileId}?variant=${variant}`)).toBe('image/webp made')
    for (const variant of ['sd', 'hd', 'orig'])
      expect(await typeOf(`/api/files/${fileId}?variant=${variant}`)).toBe('image/png original')
    expect(await typeOf(`/api/files/${fileId}`)).toBe('image/png original')
    expect(await typeOf(`/api/files/variant/${fileId}~tn`)).toBe('image/webp made')
    expect(await typeOf(`/api/files/variant/${fileId}~hd`)).toBe('image/png original')
    expect(await typeOf(`/api/file/variant/${fileId}~tn`)).toBe('image/webp made')
  })

  test('strips where a picture was taken from everything that is made of it', async () => {
    const lab = await openLab()
    const photo = await readFile(join(pictures, 'photo.jpg'))
    expect(photo.includes('Exif')).toBe(true)
    const fileId = await uploaded(lab, photo, { headers: {} })
    for (const variant of ['tn', 'ic', 'sd', 'hd']) {
      const { body } = await lab.send('GET', `/api/files/${fileId}?variant=${variant}`, { as: owner })
      expect(body.toString('latin1')).not.toMatch(/exif|gps/i)
    }
  })

  test.each([
    ['text/html', '<script>alert(1)</script>', 'text/html; charset=utf-8'],
    ['text/javascript', 'alert(1)', 'application/octet-stream'],
    ['application/x-javascript', 'alert(1)', 'application/octet-stream'],
    ['text/ecmascript', 'alert(1)', 'application/octet-stream'],
    ['text/css', 'p { display: none }', 'application/octet-stream'],
    ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
    ['application/xml', '<?xml version="1.0"?><a/>', 'application/xml'],
    ['multipart/related', 'MIME-Version: 1.0\r\n\r\n', 'application/octet-stream'],
  ])('saves what could run in a browser: %s', async (declared, body, stored) => {
    const lab = await openLab()
    const fileId = await uploaded(lab, body, { headers: { 'content-type': declared } })
    const { headers } = await lab.send('GET', `/api/files/${fileId}`, { as: owner })
    expect(headers).toMatchObject({
      'content-type': stored,
      'content-disposition': 'attachment; filename="notes.txt"',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    })
  })

  test('saves anything when asked to', async () => {
    const lab = await openLab()
    const fileId = await uploaded(lab, 'hello', publicly)
    for (const path of [`/api/files/${fileId}?download=1`, `/api/files/variant/${fileId}~orig?download=1`])
      expect((await lab.send('GET', path)).headers['content-disposition']).toBe(
        'attachment; filename="notes.txt"',
      )
  })

  test('takes the bearer from the query, for an <img>', async () => {
    const lab = await openLab()
    const fileId = await uploaded(lab, 'hello')
    const token = lab.bearerOf(owner, alice)
    expect((await lab.send('GET', `/api/files/${fileId}?token=${token}`)).status).toBe(200)
    expect((await lab.send('GET', `/api/files/variant/${fileId}~tn?token=${token}`)).status).toBe(200)
    expect(failureOf(await lab.send('GET', `/api/files/${fileId}?token=bad`))).toBe('401 E-AUTH-UNAUTH')
    expect(failureOf(await lab.send('GET', `/api/files/${fileId}/metadata?token=${token}`))).toBe(
      '404 E-FILE-NOTFOUND',
    )
  })

  test('shows its descriptor and its metadata', async () => {
    const lab = await openLab()
    const fileId = await uploaded(lab, 'hello', { query: '?visibility=F&tags=x&created_at=1700000000' })
    const descriptor = await lab.send('GET', `/api/files/${fileId}/descriptor`, { as: owner })
    expect(descriptor.json.data).toEqual({
      fileId,
      contentType: 'text/plain',
      fileName: 'notes.txt',
      size: 5,
      createdAt: '2023-11-14T22:13:20.000Z',
      variants: [{ id: 'orig', size: 5, format: 'plain' }],
      sha256: createHash('sha256').update('hello').digest('base64url'),
      salt: expect.stringMatching(/^[\w-]{22}$/),
    })
    const { sha256: committed, salt } = descriptor.json.data
    const id = createHash('sha256').update('blob').update(Buffer.from(salt, 'base64url'))
    expect(`b1~${id.update(Buffer.from(committed, 'base64url')).digest('base64url')}`).toBe(fileId)
    const metadata = await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })
    expect(metadata.json.data).toEqual({
      fileId,
      status: 'A',
      fileTp: 'BLOB',
      contentType: 'text/plain',
      fileName: 'notes.txt',
      tags: ['x'],
      parentId: null,
      size: 5,
      visibility: 'F',
      owner: { idTag: aliceTag, name: 'Alice' },
      createdAt: '2023-11-14T22:13:20.000Z',
      userData: { pinned: false, starred: false },
    })
    expect(descriptor.headers['cache-control']).toBe('no-store')
  })

  describe('answers what may not be known like what is not there:', () => {
    const unknown = `b1~${'A'.repeat(43)}`
    const pathsOf = (fileId: string) => [
      `/api/files/${fileId}`,
      `/api/files/variant/${fileId}~tn`,
      `/api/files/${fileId}/descriptor`,
      `/api/files/${fileId}/metadata`,
    ]

    test('a private file, an unknown one, one of another tenant, and text without the form of an id', async () => {
      const lab = await openLab()
      const hidden = await uploaded(lab, 'hello')
      const others = await uploaded(lab, 'hello', { at: bob, as: identity(bobTag, bob), ...publicly })
      for (const fileId of [hidden, others, unknown, 'x', '..', `${hidden}A`, sha256('hello')])
        for (const path of pathsOf(fileId)) {
          const answer = await lab.send('GET', path, { as: stranger })
          expect([path, failureOf(answer)]).toEqual([path, '404 E-FILE-NOTFOUND'])
          expect(answer.json.error).toEqual({ code: 'E-FILE-NOTFOUND', message: 'There is no such file.' })
          expect(JSON.stringify(answer.headers)).not.toContain(sha256('hello'))
        }
    })

    test('its etag and its ranges too', async () => {
      const lab = await openLab()
      const fileId = await uploaded(lab, 'hello')
      for (const headers of [
        { 'if-none-match': `"${sha256('hello')}"` },
        { 'if-none-match': '*' },
        { range: 'bytes=99-' },
      ])
        expect(failureOf(await lab.send('GET', `/api/files/${fileId}`, { headers }))).toBe(
          '404 E-FILE-NOTFOUND',
        )
      expect((await lab.send('HEAD', `/api/files/${fileId}`)).status).toBe(404)
    })
  })

  test('needs a scope that reads files', async () => {
    const lab = await openLab()
    const fileId = await uploaded(lab, 'hello', publicly)
    for (const path of [
      `/api/files/${fileId}`,
      `/api/files/${fileId}/descriptor`,
      `/api/files/${fileId}/metadata`,
    ]) {
      const narrowed = (scope: string) => lab.send('GET', path, { as: identity(aliceTag, alice, { scope }) })
      expect(failureOf(await narrowed('read:actions'))).toBe('403 E-AUTH-FORBIDDEN')
      expect((await narrowed('read:files')).status).toBe(200)
      expect((await lab.send('GET', path, { as: holder(`file:${fileId}:read`) })).status).toBe(200)
    }
  })

  test('whose bytes are gone is not there now, and says nothing of the disk but in the log', async () => {
    const lab = await openLab()
    const fileId = await uploaded(lab, 'hello')
    await lab.deps.blobs.remove(alice.tenantId, sha256('hello') as never)
    const answer = await lab.send('GET', `/api/files/${fileId}`, { as: owner })
    expect(failureOf(answer)).toBe('503 E-UNAVAILABLE')
    const { message, details } = answer.json.error
    expect(JSON.stringify({ message, details })).not.toMatch(/blob|tenant|sha|\/tmp/)
    expect((await lab.send('HEAD', `/api/files/${fileId}`, { as: owner })).status).toBe(503)
    expect(lab.warnings).toHaveLength(2)
    expect(lab.errors).toEqual([])
  })
})
