import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { alice } from '#harness/http-site.ts'
import { SocketClient } from '#harness/socket-client.ts'
import { type SocketSite, type SocketSiteOptions, startSocketSite } from '#harness/socket-site.ts'
import { Failure } from '#lib/failure.ts'
import { defaultSocketLimits } from './open-socket-set.ts'
import { SocketRefusal } from './socket-route.ts'

const sites: SocketSite[] = []
afterEach(async () => {
  for (const site of sites.splice(0)) await site.close()
})

async function start(options?: SocketSiteOptions): Promise<SocketSite> {
  const site = await startSocketSite(options)
  sites.push(site)
  return site
}

/** Lets everything that is under way in this process and on its sockets happen. */
async function flushMicrotasks(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('an upgrade', () => {
  test('opens a socket whose messages come back, text as text', async () => {
    const site = await start()
    await using client = await site.connect()
    client.send('hello')
    await client.until(1)
    expect(client.received).toEqual(['hello'])
  })

  test('takes the bearer from the header as well, and reads parameters and access', async () => {
    const site = await start()
    await using client = await site.connect('/ws/echo/a%2Fb?access=read', {
      headers: { authorization: 'Bearer owner' },
    })
    client.send('x')
    await client.until(1)
    expect(site.visits[0]).toMatchObject({ params: { name: 'a/b' }, access: 'read' })
    expect(site.visits[0]?.proof.caller).toMatchObject({ kind: 'identity', idTag: alice.idTag })
  })

  test('gives handlers no token to lose', async () => {
    const site = await start()
    await using client = await site.connect('/ws/echo/x?token=owner&other=1')
    client.send('x')
    await client.until(1)
    expect([...(site.visits[0]?.query.keys() ?? [])]).toEqual(['other'])
  })

  test('is 404 for an unknown host, and at an unknown path', async () => {
    const site = await start()
    await expect(SocketClient.connect(site.port, 'nobody.example', '/ws/echo/x')).rejects.toMatchObject({
      status: 404,
    })
    await expect(site.connect('/ws/other')).rejects.toMatchObject({ status: 404 })
  })

  test('is 426 when it is none', async () => {
    const site = await start()
    const answer = await site.send('/ws/echo/x')
    expect([answer.status, answer.headers.upgrade]).toEqual([426, 'websocket'])
    expect(answer.json.error.code).toBe('E-VALIDATION')
    expect((await site.send('/ws/echo/x', { headers: { host: 'nobody.example' } })).status).toBe(404)
    const other = await site.send('/ws/echo/x', { headers: { connection: 'Upgrade', upgrade: 'h2c' } })
    expect(other.status).toBe(426)
  })

  test('is 429 with a time to wait when an address asks too often', async () => {
    const site = await start({ rates: { upgrade: 2 } })
    await using _good = await site.connect()
    await using _bad = await site.connect('/ws/echo/x?token=bad')
    for (const path of ['/ws/echo/x', '/ws/echo/x?token=bad'])
      await expect(site.connect(path)).rejects.toMatchObject({ status: 429, retryAfter: '60' })
    expect(site.visits).toHaveLength(1)
  })

  test('of somebody who is known has a rate of its own, whatever the address did', async () => {
    const site = await start({ rates: { upgrade: 1 } })
    await using _bad = await site.connect('/ws/echo/x?token=bad')
    await using _good = await site.connect()
    await expect(site.connect()).rejects.toMatchObject({ status: 429, retryAfter: '60' })
    await using _visitor = await site.connect('/ws/echo/x?token=visitor')
    expect(site.visits).toHaveLength(2)
  })

  test('counts for the address that a trusted proxy names', async () => {
    const site = await start({ rates: { upgrade: 1 }, trustedProxies: ['127.0.0.1/32'] })
    const from = (ip: string) => site.connect(undefined, { headers: { 'x-forwarded-for': ip } })
    await using _first = await from('192.0.2.1')
    await using _second = await from('192.0.2.2')
    await using _own = await from('192.0.2.1')
    await expect(from('192.0.2.1')).rejects.toMatchObject({ status: 429 })
  })

  test('is 503 while the server stops', async () => {
    const site = await start()
    await site.sockets.stop()
    await expect(site.connect()).rejects.toMatchObject({ status: 503 })
  })

  test('is 400 with two hosts or half a handshake', async () => {
    const site = await start()
    const head = `GET /ws/echo/x HTTP/1.1\r\nHost: ${alice.idTag}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`
    expect(await site.sendRaw(`${head}Host: other.example\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 /)
    expect(await site.sendRaw(`${head}Sec-WebSocket-Version: 13\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 /)
  })

  test('agrees to no compression', async () => {
    const site = await start()
    await using client = await site.connect(undefined, { perMessageDeflate: true })
    expect(client.socket.extensions).toBe('')
  })
})

describe('a refusal', () => {
  test.each(['bad', ''])('for the bearer "%s" is 1008, a second after the upgrade', async (token) => {
    const site = await start()
    await using client = await site.connect(`/ws/echo/x?token=${token}`)
    await flushMicrotasks()
    site.clock.advance(999)
    await flushMicrotasks()
    expect(client.socket.readyState).toBe(client.socket.OPEN)
    site.clock.advance(1)
    expect(await client.closed).toMatchObject({ code: 1008 })
    expect(site.visits).toHaveLength(0)
  })

  test.each([
    ['forbidden', 4403],
    ['notFound', 4404],
    ['wrongType', 4409],
    ['full', 4413],
  ] as const)('%s is %i, a second after the upgrade', async (why, code) => {
    const site = await start({
      open() {
        throw new SocketRefusal(why)
      },
    })
    await using client = await site.connect()
    await flushMicrotasks()
    site.clock.advance(999)
    await flushMicrotasks()
    expect(client.socket.readyState).toBe(client.socket.OPEN)
    site.clock.advance(1)
    expect(await client.closed).toMatchObject({ code })
  })

  test('for too much at once is 1013, without delay', async () => {
    const site = await start({
      open() {
        throw new SocketRefusal('overloaded')
      },
    })
    await using client = await site.connect()
    expect(await client.closed).toMatchObject({ code: 1013 })
  })

  test('for a store that fails is 1011, and logged', async () => {
    const site = await start({
      open() {
        throw new Error('the disk is on fire')
      },
    })
    await using client = await site.connect()
    expect(await client.closed).toMatchObject({ code: 1011, reason: 'the store failed' })
    expect(site.logged).toHaveLength(1)
    expect(JSON.stringify(site.logged)).not.toContain('owner')
  })

  test('of many bad bearers comes before the upgrade', async () => {
    const site = await start({ rates: { 'bad-bearer': 1 } })
    await using _client = await site.connect('/ws/echo/x?token=bad')
    await flushMicrotasks()
    await expect(site.connect('/ws/echo/x?token=bad')).rejects.toMatchObject({ status: 429 })
    await using good = await site.connect()
    good.send('still here')
    await good.until(1)
  })
})

describe('messages', () => {
  test('of the wrong frame type are ignored, and end the socket (1008) after ten', async () => {
    const site = await start()
    await using client = await site.connect()
    for (let at = 0; at < 10; at += 1) client.send(Buffer.from('bytes'))
    client.send('still here')
    await client.until(1)
    expect(client.received).toEqual(['still here'])
    client.send(Buffer.from('bytes'))
    await flushMicrotasks()
    site.clock.advance(1000)
    expect(await client.closed).toMatchObject({ code: 1008 })
  })

  test('are bytes where the path speaks bytes', async () => {
    const site = await start({ frames: 'binary' })
    await using client = await site.connect()
    client.send('text')
    client.send(Buffer.from([1, 2, 3]))
    await client.until(1)
    expect(client.received).toEqual([Buffer.from([1, 2, 3])])
  })

  test('are handled in their order, one after the other', async () => {
    const handled: string[] = []
    const first = Promise.withResolvers<void>()
    const site = await start({
      open: () => ({
        async receive(frame) {
          handled.push(`${frame} begins`)
          if (frame === 'first') await first.promise
          handled.push(`${frame} ends`)
        },
      }),
    })
    await using client = await site.connect()
    for (const message of ['first', 'second']) client.send(message)
    await flushMicrotasks()
    expect(handled).toEqual(['first begins'])
    first.resolve()
    await expect.poll(() => handled).toEqual(['first begins', 'first ends', 'second begins', 'second ends'])
  })

  test('wait with the client when they come faster than they are handled', async () => {
    const gate = Promise.withResolvers<void>()
    let handled = 0
    const site = await start({
      messagesPerMinute: 10_000,
      open: () => ({
        async receive() {
          await gate.promise
          handled += 1
        },
      }),
    })
    await using client = await site.connect()
    const large = 'x'.repeat(100_000)
    for (let at = 0; at < 200; at += 1) client.send(large)
    await flushMicrotasks()
    // Some twenty megabytes are not read: they stay where they are.
    expect(client.socket.bufferedAmount).toBeGreaterThan(5_000_000)
    gate.resolve()
    await expect.poll(() => handled).toBe(200)
  })

  test('of more than 16 MiB end the socket with 1009', async () => {
    const site = await start()
    await using client = await site.connect()
    const part = Buffer.alloc(4 * 1024 ** 2, 'x')
    for (let at = 0; at < 4; at += 1) client.socket.send(part, { fin: false, binary: false })
    client.socket.send('x', { fin: true, binary: false })
    expect(await client.closed).toMatchObject({ code: 1009 })
  })

  test('of 16 MiB in frames of 4 MiB arrive; a longer frame ends the socket with 1009', async () => {
    let length = 0
    const site = await start({
      open: () => ({
        receive(frame) {
          length = frame.length
        },
      }),
    })
    await using client = await site.connect()
    const part = Buffer.alloc(4 * 1024 ** 2, 'x')
    for (let at = 0; at < 4; at += 1) client.socket.send(part, { fin: at === 3, binary: false })
    await expect.poll(() => length).toBe(16 * 1024 ** 2)
    client.send(Buffer.alloc(4 * 1024 ** 2 + 1).toString())
    expect(await client.closed).toMatchObject({ code: 1009 })
  })

  test('may be larger where the path says so, and end the socket (1009) above that', async () => {
    const lengths: number[] = []
    const bytes = 20 * 1024 ** 2
    const site = await start({
      frames: 'binary',
      largest: { frameBytes: bytes, messageBytes: bytes },
      open: () => ({
        receive(frame) {
          lengths.push(frame.length)
        },
      }),
    })
    await using client = await site.connect()
    client.send(Buffer.alloc(bytes))
    await expect.poll(() => lengths).toEqual([bytes])
    client.send(Buffer.alloc(bytes + 1))
    expect(await client.closed).toMatchObject({ code: 1009 })
  })

  test('of more than the path allows in a minute come more slowly, and nothing is lost or closed', async () => {
    const site = await start({ messagesPerMinute: 20 })
    await using client = await site.connect()
    const sent = Array.from({ length: 100 }, (_, at) => `message ${at}`)
    for (const message of sent) client.send(message)
    await client.until(20)
    await flushMicrotasks()
    expect(client.received).toHaveLength(20)
    site.clock.advance(3000)
    await client.until(21)
    for (let count = 22; count <= 100; count += 1) {
      await flushMicrotasks()
      site.clock.advance(3000)
      await client.until(count)
    }
    expect(client.received).toEqual(sent)
  })

  test('give way to others when they take long, and those of a client that closes meanwhile are left over', async () => {
    let handled = 0
    const left = Promise.withResolvers<number | undefined>()
    const site = await start({
      open: () => ({
        receive() {
          handled += 1
          const untilMs = performance.now() + 1
          while (performance.now() < untilMs);
        },
        gone: (unread) => left.resolve(unread?.length),
      }),
    })
    await using client = await site.connect()
    for (let at = 0; at < 500; at += 1) client.send('x')
    client.socket.close()
    expect(await left.promise).toBe(500 - handled)
    expect(handled).toBeLessThan(500)
  })

  test('count once for each unit of bytes where the path says so', async () => {
    const site = await start({ messagesPerMinute: 20, messageUnitBytes: 100 })
    await using client = await site.connect()
    const sent = ['x'.repeat(1801), 'x', 'y']
    for (const message of sent) client.send(message)
    await client.until(2)
    await flushMicrotasks()
    expect(client.received).toEqual(sent.slice(0, 2))
    site.clock.advance(3000)
    await client.until(3)
    expect(client.received).toEqual(sent)
  })

  test('wait after too many pings, of which the last gets its pong', async () => {
    const site = await start({ messagesPerMinute: 20 })
    await using client = await site.connect()
    const pongs: string[] = []
    client.socket.on('pong', (data) => pongs.push(String(data)))
    for (let at = 0; at < 200; at += 1) client.socket.ping(String(at))
    await expect.poll(() => pongs.length).toBeGreaterThan(0)
    await flushMicrotasks()
    client.send('x')
    await flushMicrotasks()
    expect(client.received).toEqual([])
    const inTheEnd = () => {
      site.clock.advance(60_000)
      return [client.received, pongs.at(-1)]
    }
    await expect.poll(inTheEnd).toEqual([['x'], '199'])
    expect(client.socket.readyState).toBe(client.socket.OPEN)
  })

  test('wait where too much comes in at once, except small ones; who sends nothing more is ended (1013)', async () => {
    const bytes = 2 * 1024 ** 2
    const handled: number[] = []
    const site = await start({
      frames: 'binary',
      maxReceivedBytes: bytes,
      open: () => ({
        receive(frame) {
          handled.push(frame.length)
        },
      }),
    })
    await using stalled = await site.connect()
    stalled.socket.send(Buffer.alloc(bytes), { fin: false })
    await using small = await site.connect()
    await using large = await site.connect()
    // More than the system keeps for it.
    const message = Buffer.alloc(16 * 1024 ** 2 - 1)
    for (let at = 0; at < 4; at += 1)
      large.socket.send(message.subarray(at * 2 ** 22, (at + 1) * 2 ** 22), { fin: at === 3 })
    await expect.poll(() => large.socket.bufferedAmount).toBeGreaterThan(0)
    small.send(Buffer.alloc(5))
    await expect.poll(() => handled).toEqual([5])
    await flushMicrotasks()
    expect(large.socket.bufferedAmount).toBeGreaterThan(0)
    for (let at = 0; at < 7; at += 1) site.clock.advance(1000)
    expect(await stalled.closed).toMatchObject({ code: 1013 })
    await expect.poll(() => handled).toEqual([5, message.length])
  })

  test('that break the handler end the socket with 1011', async () => {
    const site = await start({
      open: () => ({
        receive() {
          throw new Failure('E-INTERNAL', { cause: new Error('no') })
        },
      }),
    })
    await using client = await site.connect()
    client.send('x')
    expect(await client.closed).toMatchObject({ code: 1011 })
  })
})

describe('a client that', () => {
  test('never reads is cut off with 1013 instead of costing memory', async () => {
    const site = await start()
    await using client = await site.connect()
    client.send('x')
    await client.until(1)
    client.socket.pause()
    const { socket } = site.visits[0]!
    const message = 'x'.repeat(64 * 1024)
    let sent = 0
    while (socket.isOpen && sent < 1000) {
      socket.send(message)
      sent += 1
      if (sent % 16 === 0) await flushMicrotasks()
    }
    expect(socket.isOpen).toBe(false)
    expect(sent).toBeLessThan(500)
    // It does not say goodbye either.
    site.clock.advance(5000)
    await expect.poll(() => site.sockets.size).toBe(0)
    client.socket.resume()
    expect((await client.closed).code).not.toBe(1000)
  })

  test('has a thousand messages waiting is cut off with 1013', async () => {
    const site = await start()
    await using client = await site.connect()
    client.send('x')
    await client.until(1)
    const { socket } = site.visits[0]!
    for (let at = 0; at < 1001; at += 1) socket.send('x')
    expect(await client.closed).toMatchObject({ code: 1013 })
  })

  test('reads slowly what it asked for is waited for, however much that is', async () => {
    let answered = 0
    const site = await start({
      frames: 'binary',
      open: ({ socket }) => ({
        async receive(frame) {
          await socket.answer(Buffer.alloc(Number(frame.length) * 1024 ** 2))
          answered += 1
        },
      }),
    })
    await using client = await site.connect()
    client.socket.pause()
    for (let at = 0; at < 3; at += 1) client.send(Buffer.alloc(8))
    await expect.poll(() => site.visits).toHaveLength(1)
    await flushMicrotasks()
    const { socket } = site.visits[0]!
    // What others did waits behind it, within its own bound.
    for (let at = 0; at < 4; at += 1) socket.send(Buffer.alloc(64 * 1024))
    expect([socket.isOpen, answered]).toEqual([true, 0])
    client.socket.resume()
    await client.until(7)
    expect(client.received.map(({ length }) => length)).toEqual([
      8 * 1024 ** 2,
      ...Array.from({ length: 4 }, () => 64 * 1024),
      8 * 1024 ** 2,
      8 * 1024 ** 2,
    ])
    expect(answered).toBe(3)
  })

  test('takes its answer slowly stays, pongs or not; one that takes nothing is gone', async () => {
    const site = await start({
      frames: 'binary',
      open: ({ socket }) => ({
        receive: () => socket.answer(Buffer.alloc(80 * 1024 ** 2)),
      }),
    })
    await using slow = await site.connect(undefined, { autoPong: false })
    await using stuck = await site.connect()
    for (const client of [slow, stuck]) {
      client.send(Buffer.alloc(1))
      client.socket.pause()
    }
    await expect.poll(() => site.visits).toHaveLength(2)
    const { _socket: line } = slow.socket as unknown as { _socket: Socket }
    // More than the system keeps by itself, so that the server has sent some of it.
    const readSome = () =>
      new Promise<void>((resolve) => {
        const enough = line.bytesRead + 10 * 1024 ** 2
        const onData = () => {
          if (line.bytesRead < enough) return
          line.off('data', onData)
          slow.socket.pause()
          resolve()
        }
        line.on('data', onData)
        slow.socket.resume()
      })
    for (let beat = 0; beat < 6; beat += 1) {
      await readSome()
      await flushMicrotasks()
      site.clock.advance(25_000)
    }
    expect(slow.received).toEqual([])
    await expect.poll(() => site.sockets.size).toBe(1)
    slow.socket.resume()
    await slow.until(1)
    stuck.socket.resume()
    expect((await stuck.closed).code).toBe(1006)
  })

  test('pings during a long answer gets its pong before the end', async () => {
    const site = await start({
      frames: 'binary',
      open: ({ socket }) => ({
        receive: () => socket.answer(Buffer.alloc(64 * 1024 ** 2)),
      }),
    })
    await using client = await site.connect()
    client.send(Buffer.alloc(1))
    const seen: string[] = []
    client.socket.on('pong', () => seen.push('pong'))
    client.socket.on('message', () => seen.push('answer'))
    await expect.poll(() => site.visits).toHaveLength(1)
    client.socket.ping()
    await client.until(1)
    expect(seen).toEqual(['pong', 'answer'])
  })

  test('goes away during an answer leaves nobody waiting', async () => {
    const answered = Promise.withResolvers<void>()
    const site = await start({
      open: ({ socket }) => ({
        receive: () => socket.answer('x'.repeat(16 * 1024 ** 2)).then(answered.resolve),
      }),
    })
    const client = await site.connect()
    client.socket.pause()
    client.send('x')
    await flushMicrotasks()
    await client[Symbol.asyncDispose]()
    await answered.promise
    await expect.poll(() => site.sockets.size).toBe(0)
  })

  test('sends a long message slowly stays, though its pongs wait behind it', async () => {
    const site = await start()
    await using slow = await site.connect(undefined, { autoPong: false })
    const parts = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const [at, part] of parts.entries()) {
      slow.socket.send(part, { fin: at === parts.length - 1 })
      slow.socket.ping()
      await once(slow.socket, 'pong')
      site.clock.advance(25_000)
    }
    await slow.until(1)
    expect(slow.received).toEqual([parts.join('')])
  })

  test('misses two pongs in a row is gone', async () => {
    const site = await start()
    await using silent = await site.connect(undefined, { autoPong: false })
    await using alive = await site.connect()
    for (const client of [silent, alive]) client.send('x')
    await Promise.all([silent.until(1), alive.until(1)])
    let pings = 0
    silent.socket.on('ping', () => {
      pings += 1
    })
    for (let at = 0; at < 3; at += 1) {
      site.clock.advance(25_000)
      await flushMicrotasks()
    }
    expect((await silent.closed).code).toBe(1006)
    expect(pings).toBe(2)
    expect([site.sockets.size, alive.socket.readyState]).toEqual([1, alive.socket.OPEN])
  })

  test('goes away leaves nothing', async () => {
    let gone = 0
    const site = await start({
      open: () => ({
        receive: () => undefined,
        gone: () => {
          gone += 1
        },
      }),
    })
    const client = await site.connect()
    await flushMicrotasks()
    await client[Symbol.asyncDispose]()
    await expect.poll(() => [site.sockets.size, gone]).toEqual([0, 1])
  })

  test('breaks off in the handshake harms nobody', async () => {
    const site = await start()
    for (let at = 0; at < 5; at += 1) {
      const socket = connectTcp(site.port, '127.0.0.1')
      socket.write(
        `GET /ws/echo/x HTTP/1.1\r\nHost: ${alice.idTag}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      )
      socket.resetAndDestroy()
    }
    await flushMicrotasks()
    await using client = await site.connect()
    client.send('x')
    await client.until(1)
  })
})

test('an account may have 200 sockets, an address 1000', () => {
  expect(defaultSocketLimits).toMatchObject({ perAccount: 200, perAddress: 1000 })
})

describe('the number of sockets is bounded', () => {
  const limits = { total: 4, perAddress: 3, perAccount: 2 }
  const trustedProxies = ['127.0.0.1/32']
  const from = (site: SocketSite, ip: string, token: string) =>
    site.connect(`/ws/echo/x?token=${token}`, { headers: { 'x-forwarded-for': ip } })

  test('per address: 429', async () => {
    const site = await start({ limits, trustedProxies })
    await using _a = await from(site, '192.0.2.1', 'owner')
    await using _b = await from(site, '192.0.2.1', 'visitor')
    const last = await from(site, '192.0.2.1', 'nobody')
    await expect(from(site, '192.0.2.1', 'nobody')).rejects.toMatchObject({ status: 429 })
    await last[Symbol.asyncDispose]()
    await expect.poll(() => site.sockets.size).toBe(2)
    await using _again = await from(site, '192.0.2.1', 'nobody')
  })

  test('per account and in all: 1013', async () => {
    const site = await start({ limits, trustedProxies })
    await using _a = await from(site, '192.0.2.1', 'owner')
    await using _b = await from(site, '192.0.2.2', 'owner')
    await flushMicrotasks()
    const third = await from(site, '192.0.2.3', 'owner')
    expect(await third.closed).toMatchObject({ code: 1013 })
    await using _c = await from(site, '192.0.2.4', 'visitor')
    await using _d = await from(site, '192.0.2.5', 'visitor')
    await using fifth = await from(site, '192.0.2.6', 'nobody')
    expect(await fifth.closed).toMatchObject({ code: 1013 })
  })
})

describe('what a socket rests on', () => {
  test('is looked at again every two seconds, and its end is 1008', async () => {
    const site = await start()
    await using revoked = await site.connect()
    await using other = await site.connect('/ws/echo/x?token=visitor')
    for (const client of [revoked, other]) client.send('x')
    await Promise.all([revoked.until(1), other.until(1)])
    site.ended.add('owner')
    site.clock.advance(2000)
    expect(await revoked.closed).toMatchObject({ code: 1008 })
    expect(other.socket.readyState).toBe(other.socket.OPEN)
  })

  test('is looked at again at once when something is revoked', async () => {
    const site = await start()
    await using client = await site.connect()
    client.send('x')
    await client.until(1)
    site.clock.advance(1000)
    site.ended.add('owner')
    await site.sockets.review()
    expect(await client.closed).toMatchObject({ code: 1008 })
  })

  test('is reviewed by the path as well, which says how a visit ends', async () => {
    const withdrawn = new Set<string>()
    const asked: string[][] = []
    const site = await start({
      async review(visits) {
        asked.push(visits.map(({ params }) => String(params.name)))
        return new Map(
          visits.flatMap((visit) => (withdrawn.has(String(visit.params.name)) ? [[visit, 'notFound']] : [])),
        )
      },
    })
    await using kept = await site.connect('/ws/echo/kept?token=owner')
    await using guest = await site.connect('/ws/echo/gone')
    for (const client of [kept, guest]) client.send('x')
    await Promise.all([kept.until(1), guest.until(1)])
    site.clock.advance(2000)
    await flushMicrotasks()
    withdrawn.add('gone')
    site.clock.advance(2000)
    expect(await guest.closed).toMatchObject({ code: 4404 })
    await site.sockets.review()
    expect(asked).toEqual([['kept', 'gone'], ['kept', 'gone'], ['kept']])
    expect(kept.socket.readyState).toBe(kept.socket.OPEN)
  })

  test('is the tenant for clients without a credential: its end is 4404', async () => {
    const site = await start()
    await using owner = await site.connect()
    await using guest = await site.connect('/ws/echo/x')
    for (const client of [owner, guest]) client.send('x')
    await Promise.all([owner.until(1), guest.until(1)])
    site.ended.add(String(alice.tenantId))
    await site.sockets.review()
    site.clock.advance(1000)
    expect(await guest.closed).toMatchObject({ code: 4404 })
    expect(owner.socket.readyState).toBe(owner.socket.OPEN)
  })

  test('is looked at although another look fails, which is logged once', async () => {
    const site = await start({
      review: async () => {
        throw new Error('the disk is on fire')
      },
    })
    await using client = await site.connect()
    client.send('x')
    await client.until(1)
    await site.sockets.review()
    site.clock.advance(1000)
    site.ended.add('owner')
    await site.sockets.review()
    expect(await client.closed).toMatchObject({ code: 1008 })
    expect(site.logged).toHaveLength(1)
  })

  test('can be renewed', async () => {
    const site = await start()
    await using client = await site.connect()
    client.send('x')
    await client.until(1)
    const visit = site.visits[0]!
    visit.renew(await visit.authenticate('admin'))
    await expect(visit.authenticate('bad')).rejects.toMatchObject({ code: 'E-AUTH-UNAUTH' })
    site.ended.add('owner')
    await site.sockets.review()
    client.send('y')
    await client.until(2)
  })
})

test('a stop says goodbye to all with 1012, also to those who do not answer', async () => {
  const site = await start()
  const clients = await Promise.all(Array.from({ length: 20 }, () => site.connect()))
  await using silent = await site.connect()
  silent.socket.pause()
  await site.sockets.stop()
  for (const client of clients) expect(await client.closed).toMatchObject({ code: 1012 })
  expect(site.sockets.size).toBe(0)
})

test('half a request for a socket is no reason to wait at a stop', async () => {
  const site = await start()
  const socket = connectTcp(site.port, '127.0.0.1')
  const answer = text(socket)
  socket.write('GET /ws/echo/x HTTP/1.1\r\n')
  await flushMicrotasks()
  await site.sockets.stop()
  socket.destroy()
  await answer.catch(() => undefined)
})
