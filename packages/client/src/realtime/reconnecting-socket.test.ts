import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { connectDocument } from '../crdt/index.ts'
import { connectDatabase } from '../rtdb/index.ts'
import {
  type ConnectionOptions,
  type ConnectionState,
  ReconnectingSocket,
  type SocketLike,
} from './reconnecting-socket.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A socket whose events the test makes. */
class FakeSocket implements SocketLike {
  onopen: SocketLike['onopen'] = null
  onmessage: SocketLike['onmessage'] = null
  onclose: SocketLike['onclose'] = null
  onerror: SocketLike['onerror'] = null
  bufferedAmount = 0
  readonly sent: unknown[] = []
  isClosed = false

  send(data: unknown): void {
    this.sent.push(data)
  }

  close(): void {
    this.isClosed = true
  }

  open(): void {
    this.onopen?.({} as never)
  }

  receive(data: unknown): void {
    this.onmessage?.({ data } as never)
  }

  end(code: number, reason = ''): void {
    this.onclose?.({ code, reason } as never)
  }
}

function start(options: Partial<ConnectionOptions> & { awaitsLargeAnswer?: () => boolean } = {}) {
  const { awaitsLargeAnswer = () => false, ...others } = options
  const sockets: FakeSocket[] = []
  const retries: { error: Error; delayMs: number }[] = []
  const states: ConnectionState[] = []
  const connect = () => {
    sockets.push(new FakeSocket())
    return sockets.at(-1) as FakeSocket
  }
  const socket = new ReconnectingSocket(
    { baseUrl: 'https://alice.example', connect, onRetry: (retry) => retries.push(retry), ...others },
    {
      target: () => '/ws/test',
      opened: () => undefined,
      received: (data) => void JSON.parse(String(data)),
      lost: () => undefined,
      ping: () => void socket.send('ping'),
      awaitsLargeAnswer,
      stateChanged: (state) => states.push(state),
    },
  )
  return { socket, sockets, retries, states, last: () => sockets.at(-1) as FakeSocket }
}

async function opened(options: Parameters<typeof start>[0] = {}) {
  const made = start(options)
  await vi.advanceTimersByTimeAsync(0)
  made.last().open()
  await vi.advanceTimersByTimeAsync(0)
  expect(made.socket.state.kind).toBe('open')
  return made
}

test.each(['', 'alice.example', 'wss://alice.example', 'file:///alice'])(
  'the base URL "%s" is refused at once',
  (baseUrl) => {
    expect(() => start({ baseUrl })).toThrow('baseUrl must be an http or https URL')
    expect(() => connectDocument({ baseUrl, fileId: 'f1~x' })).toThrow(TypeError)
    expect(() => connectDatabase({ baseUrl, fileId: 'r1~x' })).toThrow(TypeError)
  },
)

test('the error of a token function is told, and the function is called again with growing delays', async () => {
  let calls = 0
  const token = () => {
    calls += 1
    throw new Error('not signed in')
  }
  const { sockets, retries } = start({ token, retry: { firstMs: 100, longestMs: 10_000 } })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(sockets).toEqual([])
  expect(retries[0]).toMatchObject({ error: { message: 'not signed in' } })
  expect(calls).toBeLessThan(25)
  const delays = retries.map(({ delayMs }) => delayMs)
  expect(delays[6]).toBeGreaterThan(10 * (delays[0] as number))
})

test('a failed connection says which server did not answer, without the token', async () => {
  const { last, retries, states } = await opened({ token: 'secret' })
  last().end(1006)
  expect(states.at(-1)).toEqual({ kind: 'connecting' })
  expect(retries[0]?.error.message).toBe('the connection to wss://alice.example failed: 1006')
})

test('a message that is none of the protocol makes a new connection, after a delay', async () => {
  const { sockets, last, retries } = await opened()
  last().receive('<html>')
  expect(sockets[0]?.isClosed).toBe(true)
  expect(sockets).toHaveLength(1)
  expect(retries[0]?.error).toBeInstanceOf(SyntaxError)
  await vi.advanceTimersByTimeAsync(1000)
  expect(sockets).toHaveLength(2)
})

test('an error of the application is reported, and changes nothing', async () => {
  const reported: unknown[] = []
  vi.stubGlobal('reportError', (error: unknown) => reported.push(error))
  try {
    const failing = () => {
      throw new Error('of the application')
    }
    const { last, sockets } = await opened({ onRetry: failing })
    last().end(1006)
    await vi.advanceTimersByTimeAsync(1000)
    expect(sockets).toHaveLength(2)
    expect(reported).toMatchObject([{ message: 'of the application' }])
  } finally {
    vi.unstubAllGlobals()
  }
})

test('a socket that opens after it was closed is not used', async () => {
  const { socket, last, states } = start()
  await vi.advanceTimersByTimeAsync(0)
  socket.close()
  last().open()
  expect(socket.send('x')).toBe(false)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(last().isClosed).toBe(true)
  expect(states.map(({ kind }) => kind)).toEqual(['connecting', 'ended'])
})

test('a connection without any message for 40 s is replaced', async () => {
  const { last, sockets, retries } = await opened()
  await vi.advanceTimersByTimeAsync(30_000)
  expect(last().sent).toEqual(['ping'])
  await vi.advanceTimersByTimeAsync(12_000)
  expect(retries[0]?.error.message).toBe('wss://alice.example does not answer')
  expect(sockets).toHaveLength(2)
})

test('while a large answer comes, silence of minutes is no sign of a broken connection', async () => {
  const { sockets, retries } = await opened({ awaitsLargeAnswer: () => true })
  await vi.advanceTimersByTimeAsync(5 * 60_000)
  expect([retries, sockets.length]).toEqual([[], 1])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(sockets).toHaveLength(2)
})

test('while a large message is being sent, silence is no sign of a broken connection', async () => {
  const { last, retries } = await opened()
  last().bufferedAmount = 10_000_000
  for (let at = 0; at < 20; at += 1) {
    await vi.advanceTimersByTimeAsync(9_000)
    last().bufferedAmount -= 100_000
  }
  expect(retries).toEqual([])
  await vi.advanceTimersByTimeAsync(21_000)
  expect(retries).toHaveLength(1)
})
