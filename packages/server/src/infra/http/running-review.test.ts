import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { contract } from '@kith/protocol'
import Type from 'typebox'
import { expect, onTestFinished, test } from 'vitest'
import { alice, callers, type HttpSiteOptions, httpSites, type startHttpSite } from '#harness/http-site.ts'
import { sendHttp2, startSecureSite } from '#harness/secure-site.ts'
import { Failure } from '#lib/failure.ts'
import { bind, type Endpoint } from './endpoint.ts'

const common = { tag: 'Things', auth: 'required', errors: [] } as const
const write = contract({
  ...common,
  name: 'write',
  method: 'PUT',
  path: '/api/note',
  summary: 'Write',
  body: { kind: 'json', schema: Type.Object({ text: Type.String() }) },
  reply: { kind: 'data', status: 200, schema: Type.String() },
})
const upload = contract({
  ...common,
  name: 'upload',
  method: 'POST',
  path: '/api/bytes',
  summary: 'Upload',
  body: { kind: 'bytes' },
  reply: { kind: 'data', status: 200, schema: Type.String() },
})
const download = contract({
  ...common,
  name: 'download',
  method: 'GET',
  path: '/api/bytes',
  summary: 'Download',
  auth: 'optional',
  reply: { kind: 'bytes', status: 200 },
})

const open = httpSites()
type HttpSite = Awaited<ReturnType<typeof startHttpSite>>

/** A site of which some credentials, or its tenant, can be ended. */
async function lab<Site extends HttpSite>(
  start: (endpoints: readonly Endpoint[], options: HttpSiteOptions) => Promise<Site>,
) {
  const written: string[] = []
  const ended = new Set<unknown>()
  let isTenantEnded = false
  let isAway = false
  let looks = 0
  let admitted = Promise.withResolvers<void>()
  const endless = () => {
    const stream = new Readable({ read: () => undefined })
    stream.push('first')
    return stream
  }
  const site = await start(
    [
      bind(write, async ({ body }) => {
        written.push(body.text)
        return 'written'
      }),
      bind(upload, async ({ body }) => {
        written.push(await text(body.stream))
        return 'written'
      }),
      bind(download, async () => ({ status: 200 as const, headers: {}, body: async () => endless() })),
    ],
    {
      hooks: {
        findTenant: (host) => (host === alice.idTag ? alice : undefined),
        authenticate({ bearer }) {
          const caller = callers[bearer]
          if (!caller) throw new Failure('E-AUTH-UNAUTH')
          admitted.resolve()
          return { caller, credential: bearer }
        },
        async listEnded(held) {
          looks += 1
          if (isAway) throw new Error('the database is away')
          return new Set(held.filter((one) => ended.has(one)))
        },
        async listEndedTenants(tenantIds) {
          return new Set(isTenantEnded ? tenantIds : [])
        },
      },
    },
  )
  return {
    site,
    written,
    looks: () => looks,
    end: (credential: string) => void ended.add(credential),
    endTenant: () => {
      isTenantEnded = true
    },
    setAway: (away: boolean) => {
      isAway = away
    },
    /** Until the next request is let in. */
    nextAdmitted() {
      admitted = Promise.withResolvers<void>()
      return admitted.promise
    },
    /** A request of which the rest comes later, once it was let in; `answer` is what comes back until the connection ends. */
    async begin(head: string, first = '') {
      admitted = Promise.withResolvers<void>()
      const socket = connect(site.port, '127.0.0.1')
      socket.write(`${head}\r\nhost: ${alice.idTag}\r\nconnection: close\r\n\r\n${first}`)
      const answer = text(socket).catch(() => '')
      await admitted.promise
      await site.send('/api/nowhere')
      return { socket, answer, status: async () => Number((await answer).split(' ')[1]) }
    },
  }
}

const slowWrite = `PUT /api/note HTTP/1.1
authorization: Bearer owner
content-type: application/json
content-length: 15`.replaceAll('\n', '\r\n')
const slowUpload = `POST /api/bytes HTTP/1.1
authorization: Bearer owner
content-length: 10`.replaceAll('\n', '\r\n')
const slowDownload = `GET /api/bytes HTTP/1.1
authorization: Bearer owner`.replaceAll('\n', '\r\n')

test('a body that comes after its caller’s time is not written', async () => {
  for (const head of [slowWrite, slowUpload]) {
    const { site, written, end, begin } = await lab(open)
    const request = await begin(head, '{"tex')
    end('owner')
    site.clock.advance(1_000)
    expect(await request.status()).toBe(401)
    request.socket.end('t":"late"}')
    await site.send('/api/nowhere')
    expect(written).toEqual([])
    expect(site.logged).toEqual([])
  }
})

test('nor by HTTP/2, where the connection goes on for others', async () => {
  const { site, written, end, nextAdmitted } = await lab(startSecureSite)
  onTestFinished(() => site.close())
  const session = site.openHttp2()
  const headers = { 'content-type': 'application/json', 'content-length': '15' }
  const stream = session.request({
    ...headers,
    ':path': '/api/note',
    ':method': 'PUT',
    authorization: 'Bearer owner',
  })
  const answered = new Promise<number | undefined>((resolve, reject) => {
    stream.once('response', (head) => resolve(head[':status'])).once('error', reject)
  })
  const admitted = nextAdmitted()
  stream.write('{"tex')
  await admitted
  await sendHttp2(session, '/api/nowhere')
  end('owner')
  site.clock.advance(1_000)
  expect(await answered).toBe(401)
  stream.end('t":"late"}')
  const later = { method: 'PUT', body: '{"text":"next"}' }
  const { status } = await sendHttp2(session, '/api/note', {
    ...later,
    headers: { ...headers, authorization: 'Bearer admin' },
  })
  expect([status, written]).toEqual([200, ['next']])
})

test('nor to a tenant that was suspended since', async () => {
  const { site, written, endTenant, begin } = await lab(open)
  const request = await begin(slowWrite, '{"tex')
  endTenant()
  site.clock.advance(1_000)
  expect(await request.status()).toBe(404)
  expect(written).toEqual([])
})

test('a download ends with its caller’s time', async () => {
  const { site, end, begin } = await lab(open)
  const request = await begin(slowDownload)
  await expect.poll(() => request.socket.bytesRead).toBeGreaterThan(0)
  end('owner')
  site.clock.advance(1_000)
  expect(await request.answer).toMatch(/^HTTP\/1\.1 200 /)
})

test('a request that goes on rightly is left alone, also while the database is away', async () => {
  const { site, written, setAway, end, begin, looks } = await lab(open)
  const request = await begin(slowWrite, '{"tex')
  end('somebody else')
  setAway(true)
  for (let second = 0; second < 3; second += 1) {
    site.clock.advance(1_000)
    await site.send('/api/nowhere')
  }
  expect(looks()).toBe(3)
  setAway(false)
  request.socket.write('t":"late"}')
  expect(await request.status()).toBe(200)
  expect(written).toEqual(['late'])
  expect(site.logged.map(({ message }) => message)).toEqual(['running requests could not be looked at again'])
})

test('nothing is asked while no request takes longer than a second', async () => {
  const { site, looks, begin } = await lab(open)
  for (let second = 0; second < 3; second += 1) site.clock.advance(1_000)
  await begin(slowWrite)
  site.clock.advance(999)
  await site.send('/api/nowhere')
  expect(looks()).toBe(0)
})
