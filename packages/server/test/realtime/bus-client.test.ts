import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Bus,
  type BusOptions,
  type ConnectionState,
  connectBus,
  type SocketLike,
} from '@kith/client/bus'
import { type BusEvent, createAction, getAccessToken, logout } from '@kith/protocol'
import { afterEach, expect, test } from 'vitest'
import { closedPort } from '#harness/addresses.ts'
import { CuttableLink } from '#harness/cuttable-link.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
const hello = { type: 'POST', content: { text: 'Hello' } } as const
const retry = { firstMs: 5, longestMs: 50 }

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function listen(server: TestServer, token: string, options: Partial<BusOptions> = {}) {
  const events: BusEvent[] = []
  const states: ConnectionState[] = []
  let gaps = 0
  const bus: Bus = connectBus({
    // Not every resolver knows names below `localhost`; the base tenant answers for all.
    baseUrl: `http://127.0.0.1:${server.port}`,
    token: () => token,
    onEvent: (event) => events.push(event),
    onState: (state) => states.push(state),
    onGap: () => {
      gaps += 1
    },
    retry,
    ...options,
  })
  cleanUps.push(() => bus.close())
  const isOpen = () => states.at(-1)?.kind === 'open'
  return { bus, events, states, isOpen, gaps: () => gaps }
}

test('events arrive typed, commands are answered', async () => {
  await using server = await TestServer.start()
  const token = await server.signIn(home)
  const { bus, events, isOpen } = listen(server, token)
  await expect.poll(isOpen).toBe(true)
  expect(await bus.ask('ping', {})).toEqual({ status: 'pong' })
  await server.client(home, token).call(createAction, { body: hello })
  await expect.poll(() => events.length).toBe(1)
  const [event] = events
  expect(event?.cmd === 'ACTION' && event.data.content?.text).toBe('Hello')
  expect(bus.since).toBe(1)
})

test('it comes back after the server was away, and gets what it missed', async () => {
  await using link = await CuttableLink.open()
  const dataDir = await mkdtemp(join(tmpdir(), 'kith-bus-'))
  cleanUps.push(() => rm(dataDir, { recursive: true, force: true }))
  const first = await TestServer.start({ link, dataDir })
  const token = await first.signIn(home)
  const { bus, events, states, isOpen, gaps } = listen(first, token)
  await expect.poll(isOpen).toBe(true)
  await first.client(home, token).call(createAction, { body: hello })
  await expect.poll(() => events.length).toBe(1)
  await first.stop()
  // Nobody is there to tell of this one.
  const second = await TestServer.start({ link, dataDir })
  cleanUps.push(() => second.stop())
  await second.client(home, token).call(createAction, { body: { ...hello, content: { text: 'two' } } })
  await expect.poll(isOpen).toBe(true)
  await expect.poll(() => events.map(({ seq }) => seq)).toEqual([1, 2])
  expect([gaps(), bus.since]).toEqual([0, 2])
  expect(states.filter(({ kind }) => kind === 'ended')).toEqual([])
})

test('it says when something was missed that nobody keeps, once, and goes on from there', async () => {
  await using server = await TestServer.start()
  const token = await server.signIn(home)
  const urls: string[] = []
  const connect = (url: string) => {
    urls.push(url)
    return new WebSocket(url)
  }
  const { bus, events, gaps, isOpen } = listen(server, token, { since: 77, connect })
  await expect.poll(isOpen).toBe(true)
  expect([gaps(), bus.since]).toEqual([1, 0])
  await server.client(home, token).call(createAction, { body: hello })
  await expect.poll(() => events.length).toBe(1)
  expect(bus.since).toBe(1)
  expect(urls.map((url) => new URL(url).searchParams.get('since'))).toEqual(['77'])
})

test('an event right behind the answer to a gap is not lost', async () => {
  const socket: SocketLike = {
    ...{ onopen: null, onmessage: null, onclose: null, onerror: null },
    send: () => undefined,
    close: () => undefined,
  }
  const events: (number | undefined)[] = []
  const bus = connectBus({
    baseUrl: `http://${home}`,
    token: 'x',
    since: 77,
    onEvent: ({ seq }) => events.push(seq),
    connect: () => socket,
  })
  cleanUps.push(() => bus.close())
  await expect.poll(() => socket.onmessage).not.toBeNull()
  const receive = (message: object) => socket.onmessage?.({ data: JSON.stringify(message) } as never)
  socket.onopen?.({} as never)
  // Some platforms give both on in one turn.
  receive({ cmd: 'ack', data: { status: 'error', code: 'gap', seq: 4 } })
  receive({ id: 'x', cmd: 'SETTING', data: ['ui.x', 1], seq: 5 })
  expect([events, bus.since]).toEqual([[5], 5])
})

test('it knows where it stands before anything has happened', async () => {
  await using server = await TestServer.start()
  const { bus, gaps, isOpen } = listen(server, await server.signIn(home))
  await expect.poll(isOpen).toBe(true)
  expect([bus.since, gaps()]).toEqual([0, 0])
})

test('it ends for good when its session does, and is told why', async () => {
  await using server = await TestServer.start()
  const token = await server.signIn(home)
  const { bus, states, isOpen } = listen(server, token)
  await expect.poll(isOpen).toBe(true)
  server.clock.advance(1000)
  await server.client(home, token).call(logout, {})
  await expect.poll(() => states.at(-1)).toMatchObject({ kind: 'ended', code: 1008 })
  await expect(bus.ask('ping', {})).rejects.toThrow('not connected')
})

test('it tries again while there is no server, and stops when it is told to', async () => {
  const states: ConnectionState[] = []
  let attempts = 0
  const bus = connectBus({
    baseUrl: `http://127.0.0.1:${closedPort}`,
    token: () => {
      attempts += 1
      return 'x'
    },
    onEvent: () => undefined,
    onState: (state) => states.push(state),
    retry,
  })
  await expect.poll(() => attempts).toBeGreaterThan(3)
  bus.close()
  expect(states.at(-1)).toEqual({ kind: 'ended', code: 1000, reason: 'closed by the client' })
})

test('a token is asked for with each connection', async () => {
  await using server = await TestServer.start()
  const token = await server.signIn(home)
  const { data } = await server.client(home, token).call(getAccessToken, {})
  let asked = 0
  const { isOpen } = listen(server, token, {
    token: async () => {
      asked += 1
      return data.token
    },
  })
  await expect.poll(isOpen).toBe(true)
  expect(asked).toBe(1)
})
