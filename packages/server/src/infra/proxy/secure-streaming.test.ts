import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readToEnd, readUntil, startRawBackend, startSecureProxiedSite, wiki } from '#harness/proxied-site.ts'
import { sendHttp2 } from '#harness/secure-site.ts'

let lab: Awaited<ReturnType<typeof startSecureProxiedSite>>
beforeAll(async () => {
  lab = await startSecureProxiedSite()
})
afterEach(() => lab.configure({}))
afterAll(() => lab.close())

const request = (...lines: string[]) => [...lines, '', ''].join('\r\n')
const get = request('GET / HTTP/1.1', `Host: ${wiki}`)
const handshake = request(
  'GET / HTTP/1.1',
  `Host: ${wiki}`,
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
)

/** A backend that says one thing to each connection. */
async function says(text: string) {
  const open: Socket[] = []
  const backend = await startRawBackend((socket) => {
    open.push(socket)
    socket.once('data', () => socket.write(text))
  })
  lab.configure({ origin: backend.origin, readTimeoutMs: 2_000 })
  return { ...backend, open }
}

const withLength = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'
const inChunks = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'
const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhalf'
const refusal = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 100\r\n\r\nhalf'

describe('over TLS', () => {
  test.each([
    ['with a length', get, withLength],
    ['in chunks', get, inChunks],
    ['that refuses a WebSocket', handshake, refusal],
  ])('an answer %s that breaks off is never taken for a whole one', async (_, asked, answer) => {
    const backend = await says(answer)
    const socket = await lab.site.connectTls()
    socket.write(asked)
    await readUntil(socket, 'half')
    backend.close()
    const { received } = await readToEnd(socket)
    expect(received).toBe('')
  })

  test('an answer that has begun and goes silent is cut off', async () => {
    const backend = await says(withLength)
    const socket = await lab.site.connectTls()
    socket.write(get)
    await readUntil(socket, 'half')
    lab.clock.advance(500)
    lab.clock.advance(2_500)
    expect((await readToEnd(socket)).received).toBe('')
    backend.close()
  })

  test('a WebSocket whose backend resets it is cut off', async () => {
    const backend = await says(switching)
    const socket = await lab.site.connectTls()
    socket.write(handshake)
    await readUntil(socket, 'half')
    expect(lab.proxy.tunnels).toBe(1)
    backend.open[0]?.resetAndDestroy()
    expect((await readToEnd(socket)).received).toBe('')
    expect(lab.proxy.tunnels).toBe(0)
    backend.close()
  })

  test('a visitor who does not read on leaves no connection to the backend behind', async () => {
    const backend = await says(`HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n${'x'.repeat(5_000_000)}`)
    const socket = await lab.site.connectTls()
    socket.write(get)
    await once(socket, 'readable')
    const [connection] = backend.open
    await expect
      .poll(() => {
        lab.clock.advance(2_500)
        return connection?.destroyed
      })
      .toBe(true)
    socket.destroy()
    backend.close()
  })
})

describe('over HTTP/2', () => {
  async function ask(...headers: string[]) {
    const backend = await says(`${request('HTTP/1.1 200 OK', ...headers, 'Content-Length: 5')}hello`)
    const session = lab.site.openHttp2()
    const answer = await sendHttp2(session, '/', { headers: { ':authority': wiki } })
    session.destroy()
    backend.close()
    return answer
  }

  test('what HTTP/2 has once comes once, whatever a backend repeats', async () => {
    const twice = {
      'x-content-type-options': 'nosniff',
      date: 'Mon, 01 Jan 2024 00:00:00 GMT',
      'content-type': 'text/plain',
      'access-control-allow-credentials': 'true',
      'x-other': 'one',
    }
    const answer = await ask(
      ...Object.entries(twice).flatMap(([name, value]) => Array(2).fill(`${name}: ${value}`)),
    )
    expect(answer).toMatchObject({ status: 200, text: 'hello', headers: { ...twice, 'x-other': 'one, one' } })
  })

  test('headers of a connection stay there', async () => {
    const { status, headers } = await ask('HTTP2-Settings: x', 'TE: trailers', 'X-Kept: 1')
    expect({ status, ...headers }).toMatchObject({ status: 200, 'x-kept': '1' })
    for (const name of ['http2-settings', 'te']) expect(headers).not.toHaveProperty(name)
  })
})
