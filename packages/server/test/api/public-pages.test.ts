import type { Client } from '@kith/client'
import {
  createAction,
  deleteAction,
  type IdTag,
  type NewAction,
  updateMe,
  updateMyImage,
  uploadFile,
} from '@kith/protocol'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

const alice = 'alice.localhost' as IdTag
const bob = 'bob.localhost' as IdTag
const club = 'club.localhost' as IdTag

let server: TestServer
let owner: Client
beforeAll(async () => {
  server = await TestServer.start()
  await server.createTenant(alice, { name: 'Alice' })
  await server.createTenant(bob, { name: 'Bob' })
  await server.createTenant(club, { type: 'community', name: 'Garden club' })
  await server.relate(club, bob, { role: 'contributor', connection: 'connected' })
  owner = await server.as(alice)
})
afterAll(() => server.stop())

const html = { accept: 'text/html' }

async function open(path: string, host: string = alice, headers: Record<string, string> = html) {
  const answer = await server.request(host, path, { headers })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

async function post(text: string, more: Partial<NewAction> = {}, by = owner): Promise<string> {
  // Each in a second of its own.
  server.clock.advance(1000)
  const body: NewAction = { type: 'POST', content: { text }, visibility: 'P', ...more }
  return (await by.call(createAction, { body })).data.actionId
}

async function picture(): Promise<Blob> {
  const pixels = sharp({ create: { width: 600, height: 400, channels: 3, background: 'red' } })
  return new Blob([new Uint8Array(await pixels.png().toBuffer())])
}

async function upload(by = owner): Promise<string> {
  const params = { preset: 'default', fileName: 'rose.png' } as const
  const { data } = await by.upload(uploadFile, { params, body: await picture() })
  await server.settle()
  return data.fileId
}

describe('the public page of a person', () => {
  test('shows name, words, picture and posts, to whoever comes and without a script', async () => {
    await owner.call(updateMe, { body: { x: { bio: 'Gardener' } } })
    await owner.upload(updateMyImage, { body: await picture() })
    await server.settle()
    const fileId = await upload()
    const content = { text: 'My roses', alt: { [fileId]: 'A "red" rose' } }
    await post('My roses', { attachments: [fileId], content })
    const { status, text } = await open('/')
    expect(status).toBe(200)
    for (const part of [
      'Alice</bdi>',
      'Gardener',
      'My roses',
      `/api/files/${fileId}?variant=sd`,
      'alt="A &quot;red&quot; rose"',
    ])
      expect(text).toContain(part)
    expect(text).not.toContain('<script')
    const sources = Array.from(text.matchAll(/<img[^>]* src="([^"]+)"/g), ([, source = '']) => source)
    expect(sources).toHaveLength(2)
    for (const source of sources) {
      const image = await server.request(alice, source.replaceAll('&amp;', '&'))
      expect({ status: image.status, type: image.headers.get('content-type') }).toMatchObject({ status: 200 })
    }
  })

  test.each([
    ['for those with an identity', { visibility: 'V' }],
    ['for followers', { visibility: 'F' }],
    ['for connections', { visibility: 'C' }],
    ['for named people', { visibility: null }],
    ['in draft', { draft: true }],
  ] as const)('shows no post %s, and its address is like one that does not exist', async (why, more) => {
    const actionId = await post(`Secret ${why}`, more as Partial<NewAction>)
    expect((await open('/')).text).not.toContain(`Secret ${why}`)
    const [hidden, absent] = await Promise.all([
      open(`/posts/${actionId}`),
      open(`/posts/a1~${'A'.repeat(43)}`),
    ])
    expect(hidden.status).toBe(404)
    expect(hidden.text).toBe(absent.text)
    expect(Object.keys(Object.fromEntries(hidden.headers))).toEqual(
      Object.keys(Object.fromEntries(absent.headers)),
    )
  })

  test('gives each public post an address, until it is deleted', async () => {
    const actionId = await post('A <b>bold</b> word', {
      content: { title: 'Words', text: 'A <b>bold</b> word' },
    })
    const { status, text, headers } = await open(`/posts/${actionId}`)
    expect(status).toBe(200)
    expect(text).toContain('A &lt;b&gt;bold&lt;/b&gt; word')
    expect(text).toContain(`<meta property="og:url" content="${server.urlOf(alice)}/posts/${actionId}">`)
    const etag = headers.get('etag') ?? ''
    const path = `/posts/${actionId}`
    expect((await open(path, alice, { ...html, 'if-none-match': etag })).status).toBe(304)
    expect((await open(path, bob)).status).toBe(404)
    await owner.call(deleteAction, { params: { actionId } })
    expect((await open(path, alice, { ...html, 'if-none-match': etag })).status).toBe(404)
  })

  test('has an address for nothing but posts', async () => {
    const other = await owner.call(createAction, { body: { type: 'FLLW', audienceTag: bob } })
    expect((await open(`/posts/${other.data.actionId}`)).status).toBe(404)
  })

  test('shows twenty posts, and the way to older ones', async () => {
    const client = await server.as(bob)
    for (let count = 1; count <= 21; count += 1) await post(`Number ${count}.`, {}, client)
    const first = await open('/', bob)
    expect(first.text.match(/<article/g)).toHaveLength(20)
    expect(first.text).toContain('Number 2.')
    expect(first.text).not.toContain('Number 1.')
    const [, older = ''] = /<a href="(\/\?before=[^"]+)" rel="next"/.exec(first.text) ?? []
    const second = await open(older, bob)
    expect(second.text).toContain('Number 1.')
    expect(second.text.match(/<article/g)).toHaveLength(1)
    expect(second.text).not.toContain('rel="next"')
    expect((await open('/?before=nonsense', bob)).status).toBe(404)
  })

  test('shows no picture that is not for everybody, and asks nobody else for one', async () => {
    const fileId = await upload()
    await post('With a private picture', { attachments: [fileId], visibility: 'F' })
    await post('Names a picture of others', { content: { text: 'https://tracker.example/x.png' } })
    const { text } = await open('/')
    expect(text).not.toContain(fileId)
    expect(text).not.toMatch(/src="https?:/)
  })

  test('is gone while the tenant is suspended, and what is left is the page of every absent address', async () => {
    const actionId = await post('Still here')
    await server.suspend(alice)
    const absent = await open('/nowhere', 'nobody.example')
    for (const path of ['/', `/posts/${actionId}`]) {
      const answer = await open(path)
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 404, text: absent.text })
    }
    await server.resume(alice)
    owner = await server.as(alice)
    expect((await open('/')).status).toBe(200)
  })
})

test('the public page of a community shows what its members post for everybody', async () => {
  const member = await server.as(bob)
  const visible = await post('For all of the garden', { audienceTag: club }, member)
  await post('Among ourselves', { audienceTag: club, visibility: 'F' }, member)
  await server.settle()
  const { status, text } = await open('/', club)
  expect(status).toBe(200)
  expect(text).toContain('Garden club')
  expect(text).toContain('For all of the garden')
  expect(text).toContain('<bdi>Bob</bdi>')
  expect(text).not.toContain('Among ourselves')
  expect((await open(`/posts/${visible}`, club)).status).toBe(200)
})

describe('who is known elsewhere', () => {
  const visit = (visitor: string, host: string = alice, headers: Record<string, string> = {}) =>
    server.request(host, `/follow?visitor=${encodeURIComponent(visitor)}`, {
      headers: { ...html, ...headers },
      redirect: 'manual',
    })
  const fromForm = { 'sec-fetch-site': 'same-origin' }

  test('finds a form on the page of a person, of a community and of a post', async () => {
    const actionId = await post('Come and see')
    for (const [path, host, label] of [
      ['/', alice, 'Follow from your own server'],
      [`/posts/${actionId}`, alice, 'Follow from your own server'],
      ['/', club, 'Take part from your own server'],
    ] as const) {
      const { text, headers } = await open(path, host)
      expect(text).toContain('<form action="/follow"')
      expect(text).toContain(label)
      expect(headers.get('content-security-policy')).toContain("form-action 'self';")
    }
  })

  test.each([
    ['carol.example.com', 'https://carol.example.com/profiles/alice.localhost'],
    [' @Carol.Example.com/ ', 'https://carol.example.com/profiles/alice.localhost'],
    ['https://bücher.example', 'https://xn--bcher-kva.example/profiles/alice.localhost'],
  ])('is shown from %s the way to the app of their server', async (visitor, address) => {
    // Links in posts that the app shows come from the same origin as the form.
    const answer = await visit(visitor, alice, fromForm)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('location')).toBeNull()
    expect(await answer.text()).toContain(`<a href="${address}"`)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('is led to a tenant of this server under its own address, and to a community as one', async () => {
    const own = await visit(bob, club, fromForm)
    expect(await own.text()).toContain(`<a href="${server.urlOf(bob)}/communities/${club}"`)
  })

  test.each([
    'javascript:alert(1)',
    'https://evil.example/path',
    '//evil.example',
    'evil.example@good.example',
    'evil.example:8080',
    'evil.example\\@good.example',
    '127.0.0.1',
    '[::1]',
    '"><script>alert(1)</script>',
    'a'.repeat(400),
  ])('goes nowhere with %s', async (visitor) => {
    const answer = await visit(visitor, alice, fromForm)
    expect(answer.status).toBe(400)
    expect(answer.headers.get('location')).toBeNull()
    const text = await answer.text()
    expect(text).toContain('This is not an identity.')
    expect(text).not.toContain('<script')
  })

  test('is told the host before going there', async () => {
    const text = await (await visit('carol.example.com')).text()
    expect(text).toContain('You go on at carol.example.com.')
  })

  test('finds no way where the tenant is suspended', async () => {
    await server.suspend(bob)
    expect((await visit('carol.example.com', bob, fromForm)).status).toBe(404)
    await server.resume(bob)
  })
})
