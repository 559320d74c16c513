import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Contract } from '@kith/protocol'
import Type from 'typebox'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { alice, type HttpSite, type HttpSiteOptions, jsonBody, startHttpSite } from '#harness/http-site.ts'
import { createEgress, LoopGuard } from '#infra/egress/index.ts'
import { ConnectionLimits } from './connection-limits.ts'
import { bind, type Endpoint } from './endpoint.ts'
import type { NodeServer } from './node-server.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function serving(endpoints: readonly Endpoint[], options: HttpSiteOptions = {}): Promise<HttpSite> {
  const site = await startHttpSite(endpoints, options)
  cleanUps.push(() => site.close())
  return site
}

const echoContract = {
  tag: 'Things',
  summary: 'Echo',
  name: 'echo',
  method: 'POST',
  path: '/api/echo',
  auth: 'none',
  body: { kind: 'json', schema: Type.Object({ text: Type.String() }) },
  reply: { kind: 'data', status: 200, schema: Type.Unknown() },
  errors: [],
} as const satisfies Contract
const echo = bind(echoContract, async ({ body }) => body.text.length)

/** A connection that is open, or has been closed by the server at once. */
async function open({ port }: HttpSite, text = '', localAddress = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  cleanUps.push(() => socket.destroy())
  const state = { isClosed: false }
  socket.on('error', () => undefined)
  socket.once('close', () => {
    state.isClosed = true
  })
  await once(socket, 'connect')
  if (text !== '') socket.write(text)
  return Object.assign(state, { socket })
}

const closed = async (connections: readonly { isClosed: boolean; socket: Socket }[]) => {
  await Promise.all(connections.map(({ isClosed, socket }) => isClosed || once(socket, 'close')))
}

const half = (bytes: number, ip = '') =>
  `POST /api/echo HTTP/1.1\r\nHost: ${alice.idTag}\r\n${ip && `X-Forwarded-For: ${ip}\r\n`}Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(bytes)}`

describe('connections', () => {
  test('of one address are bounded, and leave others what they need', async () => {
    const site = await serving([echo], { connections: { perAddress: 20, total: 1000 } })
    const idle = []
    for (let at = 0; at < 20; at += 1) idle.push(await open(site))
    const late = [await open(site), await open(site)]
    await closed(late)
    expect(idle.filter(({ isClosed }) => isClosed)).toEqual([])
    const other = await open(site, `GET /x HTTP/1.0\r\nHost: ${alice.idTag}\r\n\r\n`, '127.0.0.2')
    const [answer] = await once(other.socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1.1 404/)
    idle[0]?.socket.destroy()
    const ask = () => site.send('/api/echo', { method: 'POST', ...jsonBody({ text: 'abc' }) })
    await expect.poll(async () => (await ask().catch(() => undefined))?.status).toBe(200)
  })

  test('are taken from who has most when there are too many in all', async () => {
    const site = await serving([echo], { connections: { perAddress: 20, total: 10 } })
    const many = []
    for (let at = 0; at < 9; at += 1) many.push(await open(site, '', '127.0.0.2'))
    await open(site, '', '127.0.0.3')
    for (let at = 0; at < 3; at += 1)
      expect((await site.send('/api/echo', { method: 'POST', ...jsonBody({ text: 'abc' }) })).status).toBe(
        200,
      )
    await closed(many.slice(0, 1))
  })

  test('are released by their own upgrade, and not by one from the same port of another address of the network', () => {
    const server = new EventEmitter()
    new ConnectionLimits({ perAddress: 2, total: 10 }, () => false).watch(server as NodeServer)
    const accept = (remoteAddress: string, remotePort: number) => {
      const accepted = { remoteAddress, remotePort, localAddress: '2001:db8:1::1', localPort: 443 }
      const socket = Object.assign(new EventEmitter(), accepted, { destroy: vi.fn() })
      server.emit('connection', socket)
      return { ...accepted, destroy: socket.destroy }
    }
    accept('2001:db8::1', 5000)
    const upgraded = accept('2001:db8::2', 5000)
    // Over TLS it is an object of its own.
    server.emit('upgrade', {}, upgraded)
    expect(accept('2001:db8::3', 5000).destroy).not.toHaveBeenCalled()
    expect(accept('2001:db8::4', 5000).destroy).toHaveBeenCalled()
  })

  test('of a trusted proxy are not one address: requests under way count for whom it names', async () => {
    const site = await serving([echo], {
      connections: { perAddress: 5, total: 1000 },
      trustedProxies: ['127.0.0.1/32'],
    })
    const waiting = []
    for (let at = 0; at < 5; at += 1) waiting.push(await open(site, half(10, '203.0.113.1')))
    for (let at = 0; at < 5; at += 1) waiting.push(await open(site, half(10, '203.0.113.2')))
    const ask = async (ip: string) => {
      const body = jsonBody({ text: 'abc' })
      const headers = { ...body.headers, 'x-forwarded-for': ip }
      return await site.send('/api/echo', { method: 'POST', ...body, headers })
    }
    expect((await ask('203.0.113.3')).status).toBe(200)
    const refused = await ask('203.0.113.1')
    expect([refused.status, refused.json.error.code]).toEqual([503, 'E-UNAVAILABLE'])
    expect(refused.headers).toMatchObject({ 'retry-after': '5', connection: 'close' })
    waiting[0]?.socket.destroy()
    await once(waiting[0]?.socket as Socket, 'close')
    await expect.poll(async () => (await ask('203.0.113.1')).status).toBe(200)
  })
})

describe('bodies that are being read', () => {
  /** Half a body, after the server has read it: what else arrives at the same time might be taken in its place. */
  const from = async (site: HttpSite, ip: string, bytes: number) => {
    const accepted = once(site.server.server, 'connection')
    const text = half(bytes, ip)
    const connection = await open(site, text)
    const [socket] = (await accepted) as [Socket]
    await expect.poll(() => socket.bytesRead).toBe(text.length)
    return connection
  }
  const ask = async (site: HttpSite, ip: string, length = 3) => {
    const body = jsonBody({ text: 'x'.repeat(length) })
    const headers = { ...body.headers, 'x-forwarded-for': ip }
    return await site.send('/api/echo', { method: 'POST', ...body, headers })
  }
  const kib = 1024

  test('are bounded by address and in all, and room is kept for small ones', async () => {
    const site = await serving([echo], {
      bodies: { perAddress: 1000 * kib, total: 4000 * kib },
      trustedProxies: ['127.0.0.1/32'],
    })
    for (const ip of ['203.0.113.1', '203.0.113.2', '203.0.113.3']) await from(site, ip, 900 * kib)
    await expect.poll(async () => (await ask(site, '203.0.113.1', 200 * kib)).status).toBe(503)
    expect((await ask(site, '203.0.113.1', 10 * kib)).status).toBe(200)
    // More than three quarters are taken.
    const refused = await ask(site, '203.0.113.4', 900 * kib)
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5'])
    expect((await ask(site, '203.0.113.4', 200 * kib)).status).toBe(200)
  })

  test('give back what they held, however they end', async () => {
    const site = await serving([echo], {
      bodies: { perAddress: 1000 * kib, total: 4000 * kib },
      trustedProxies: ['127.0.0.1/32'],
    })
    for (let time = 0; time < 3; time += 1) {
      const broken = await from(site, '203.0.113.1', 900 * kib)
      await expect.poll(async () => (await ask(site, '203.0.113.1', 200 * kib)).status).toBe(503)
      if (time === 0) site.clock.advance(30_000)
      else broken.socket.destroy()
      await expect.poll(async () => (await ask(site, '203.0.113.1', 200 * kib)).status).toBe(200)
    }
  })
})

describe('a host', () => {
  test.each([
    '',
    'a b',
    'alice.example, bob.example',
    'alice.example:8080:1',
    'alice..example',
    '<x>',
    'ä.example',
  ])('of the form "%s" is 400', async (host) => {
    const { sendRaw } = await serving([echo])
    const answer = await sendRaw(`GET /api/who HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
  })

  test.each(['alice.example', 'alice.example.:80', '127.0.0.1:1', '[::1]:8080', 'my_host'])(
    'of the form "%s" is one',
    async (host) => {
      const { sendRaw } = await serving([echo])
      const answer = await sendRaw(`GET /api/who HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      expect(answer).toMatch(/^HTTP\/1.1 404 /)
    },
  )
})

describe('a request that comes back', () => {
  test('is ended with 508 after three loops', async () => {
    const loopGuard = new LoopGuard()
    const resolver = {
      resolveAddresses: async () => ({ kind: 'found' as const, records: ['127.0.0.1'] }),
    }
    const egress = createEgress({ privateNetworks: true, resolver, userAgent: 'Kith/test', loopGuard })
    cleanUps.push(() => egress.close())
    let served = 0
    const circle = bind(
      { ...echoContract, name: 'circle', method: 'GET', path: '/api/circle', body: undefined } as never,
      async () => {
        served += 1
        const answer = await egress.request({
          method: 'GET',
          url: `http://${alice.idTag}:${port}/api/circle`,
        })
        return answer.status === 200
          ? JSON.parse(Buffer.from(answer.body).toString()).data
          : { status: answer.status }
      },
    )
    const site = await serving([circle as never], { loopGuard })
    const { port } = site
    expect((await site.send('/api/circle')).json.data).toEqual({ status: 508 })
    expect(served).toBe(3)
    // What others have sent through their own proxies is nothing of ours.
    expect((await site.send('/api/circle', { headers: { via: '1.1 a, 1.1 b, 1.1 c' } })).status).toBe(200)
  })
})
