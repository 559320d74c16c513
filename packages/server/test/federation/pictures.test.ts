import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KithError } from '@kith/client'
import { createAction, getProfile, getProfileCover, getProfileImage, updateMyImage } from '@kith/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ForeignServer } from '#harness/foreign-server.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'

const mallory = 'mallory.localhost'
const photo = await readFile(join(import.meta.dirname, '../fixtures/images/photo.jpg'))

let network: TestNetwork
let foreign: ForeignServer
let alice: Person
let bob: Person

beforeAll(async () => {
  network = await TestNetwork.start(2)
  foreign = await network.addForeign(mallory)
})
afterAll(() => network[Symbol.asyncDispose]())
beforeEach(async () => {
  ;({ alice, bob } = await network.cast('alice', 'bob'))
})

const imageOf = (idTag: string) => ({ params: { idTag } })
const failure = async (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: KithError) => error,
  )
const guestOf = ({ at, idTag }: Person) => network.server(at).client(idTag)

/** What a file id commits to, and a server whose profile names the file. */
function hang(bytes: Buffer, changes: { descriptor?: object; bytes?: Buffer } = {}): { asked: () => number } {
  const sha256 = createHash('sha256').update(bytes).digest()
  const salt = Buffer.alloc(16, bytes.length % 251)
  const id = createHash('sha256').update('blob').update(salt).update(sha256).digest('base64url')
  const fileId = `b1~${id}`
  const data = {
    ...{ fileId, contentType: 'image/jpeg', fileName: 'me.jpg', size: bytes.length },
    ...{ createdAt: '2026-01-31T12:00:00.000Z', variants: [] },
    ...{ sha256: sha256.toString('base64url'), salt: salt.toString('base64url') },
    ...changes.descriptor,
  }
  let asked = 0
  foreign.onRequest = ({ url = '' }, answer) => {
    if (url.startsWith('/api/profiles/'))
      answer.end(JSON.stringify({ data: { idTag: mallory, name: 'M', profilePic: fileId } }))
    else if (url.endsWith('/descriptor')) answer.end(JSON.stringify({ data }))
    else {
      asked += 1
      answer.writeHead(200, { 'content-type': 'text/html' }).end(changes.bytes ?? bytes)
    }
  }
  return { asked: () => asked }
}

/** Another day, on which the profile is asked for again. */
async function nextDay(): Promise<void> {
  network.clock.advance(25 * 3600_000)
  await (await network.server(0).as(alice.idTag)).call(getProfile, imageOf(mallory))
  await network.settle()
}

describe('A picture of another server', () => {
  test('comes from the own origin, as it is there, with the headers of files', async () => {
    await bob.client.upload(updateMyImage, { body: photo }, { contentType: 'image/jpeg' })
    const { data } = await alice.client.call(getProfileImage, imageOf(bob.idTag))
    const { headers } = data
    expect(
      Buffer.from(await data.arrayBuffer())
        .subarray(8, 12)
        .toString(),
    ).toBe('WEBP')
    expect(headers.get('content-type')).toBe('image/webp')
    expect(headers.get('cache-control')).toBe('private, max-age=300')
    expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    const again = alice.client.call(getProfileImage, {
      ...imageOf(bob.idTag),
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    })
    expect(await failure(again)).toMatchObject({ status: 304 })
    const cover = alice.client.call(getProfileCover, imageOf(bob.idTag))
    expect(await failure(cover)).toMatchObject({ status: 404, code: 'E-FILE-NOTFOUND' })
  })

  test('is fetched once for many who ask, and then kept', async () => {
    await nextDay()
    const { asked } = hang(photo)
    await nextDay()
    const ask = async () => (await alice.client.call(getProfileImage, imageOf(mallory))).data.arrayBuffer()
    const client = await network.server(0).as(alice.idTag)
    alice = { ...alice, client }
    const all = await Promise.all(Array.from({ length: 8 }, ask))
    for (const bytes of all) expect(Buffer.from(bytes).equals(photo)).toBe(true)
    await ask()
    expect(asked()).toBe(1)
  })

  test.each<[string, () => { asked: () => number }]>([
    ['other bytes', () => hang(Buffer.concat([photo, Buffer.from('1')]), { bytes: photo })],
    ['a page', () => hang(Buffer.from('<html><script>alert(1)</script>'))],
    [
      'vectors with a script',
      () => hang(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')),
    ],
    ['too many bytes', () => hang(Buffer.concat([photo, Buffer.alloc(3 * 1024 ** 2)]))],
    [
      'more bytes than were said',
      () =>
        hang(Buffer.concat([photo, Buffer.from('22')]), { bytes: Buffer.concat([photo, Buffer.alloc(50)]) }),
    ],
    [
      'a descriptor of another file',
      () => hang(Buffer.concat([photo, Buffer.from('333')]), { descriptor: { salt: 'A'.repeat(22) } }),
    ],
  ])('is not shown where it is %s, and not asked for again for five minutes', async (_, show) => {
    const { asked } = show()
    await nextDay()
    const client = await network.server(0).as(alice.idTag)
    const ask = () => failure(client.call(getProfileImage, imageOf(mallory)))
    expect(await ask()).toMatchObject({ status: 404, code: 'E-FILE-NOTFOUND' })
    const once = asked()
    await ask()
    expect(asked()).toBe(once)
    network.clock.advance(301_000)
    await ask()
    expect(asked()).toBe(once * 2)
  })
})

test('of the same server: as it is on the host of its owner, in the variant asked for', async () => {
  const carol = await network.person(0, `carol-${alice.idTag.split('.')[0]}`)
  await carol.client.upload(updateMyImage, { body: photo }, { contentType: 'image/jpeg' })
  await network.settle()
  const { data } = await alice.client.call(getProfileImage, {
    ...imageOf(carol.idTag),
    query: { variant: 'tn' },
  })
  expect(data.headers.get('content-type')).toBe('image/webp')
  expect((await data.arrayBuffer()).byteLength).toBeGreaterThan(0)
})

describe('Guests', () => {
  test('are shown the tenant, and the issuers of what they may read; for anybody else nothing is fetched', async () => {
    await alice.client.upload(updateMyImage, { body: photo }, { contentType: 'image/jpeg' })
    await bob.client.upload(updateMyImage, { body: photo }, { contentType: 'image/jpeg' })
    const guest = guestOf(alice)
    expect((await guest.call(getProfileImage, imageOf(alice.idTag))).data.status).toBe(200)
    const before = foreign.requests.length
    for (const idTag of [bob.idTag, mallory, 'nobody.localhost'])
      expect(await failure(guest.call(getProfileImage, imageOf(idTag)))).toMatchObject({
        status: 404,
        code: 'E-PROFILE-NOTFOUND',
      })
    expect(foreign.requests.length).toBe(before)
    // A relation alone is nobody's business; a public post on the page is there for everybody.
    await network.server(0).relate(alice.idTag, bob.idTag, { isFollowing: true, connection: 'connected' })
    expect(await failure(guest.call(getProfileImage, imageOf(bob.idTag)))).toMatchObject({ status: 404 })
    await bob.client.call(createAction, {
      body: { type: 'POST', content: { text: 'hi' }, audienceTag: alice.idTag, visibility: 'P' },
    })
    await network.settle()
    expect((await guest.call(getProfileImage, imageOf(bob.idTag))).data.status).toBe(200)
  })
})
