import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FakeSocket } from '../../test/fake-socket.ts'
import { connectDocument } from '../crdt/index.ts'
import { connectDatabase } from '../rtdb/index.ts'
import { type ConnectionOptions, type ConnectionState, ReconnectingSocket } from './reconnecting-socket.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

interface Options extends Partial<Omit<ConnectionOptions, 'onRetry'>> {
  readonly onRetry?: ConnectionOptions['onRetry'] | undefined
  readonly awaitsLargeAnswer?: () => boolean
  readonly told?: (state: ConnectionState) => void
  readonly lost?: () => void
}

function start(options: Options = {}) {
  const { awaitsLargeAnswer = () => false, told, lost = () => undefined, ...others } = options
  const sockets: FakeSocket[] = []
  const retries: { error: Error; delayMs: number }[] = []
  const states: ConnectionState[] = []
  const connect = () => {
    sockets.push(new FakeSocket())
    return sockets.at(-1) as FakeSocket
  }
  const socket = new ReconnectingSocket(
    {
      ...{ baseUrl: 'https://alice.example', connect, onRetry: (retry) => retries.push(retry), ...others },
    } as ConnectionOptions,
    {
      target: () => '/ws/test',
      opened: () => undefined,
      received: (data) => void JSON.parse(String(data)),
      lost,
      ping: () => void socket.send('ping'),
      awaitsLargeAnswer,
      stateChanged: (state) => {
        states.push(state)
        told?.(state)
      },
    },
  )
  return { socket, sockets, retries, states, last: () => sockets.at(-1) as FakeSocket }
}

async function opened(options: Options = {}) {
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

test.each([
  { firstMs: 0, longestMs: 0 },
  { firstMs: -1, longestMs: 5 },
  { firstMs: 5, longestMs: 4 },
  { firstMs: Number.NaN, longestMs: 5 },
  { firstMs: 1, longestMs: Number.POSITIVE_INFINITY },
])('the delays %j are refused at once', (retry) => {
  expect(() => start({ retry })).toThrow('retry needs 1 <= firstMs <= longestMs')
  const options = { baseUrl: 'https://alice.example', retry }
  expect(() => connectDocument({ ...options, fileId: 'f1~x' })).toThrow(TypeError)
  expect(() => connectDatabase({ ...options, fileId: 'r1~x' })).toThrow(TypeError)
})

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
  const message = 'the connection to wss://alice.example failed: 1006'
  const [retry] = retries
  expect(retry?.error.message).toBe(message)
  expect(states.at(-1)).toEqual({
    ...{ kind: 'connecting', attempt: 2, lastError: retry?.error },
    nextAttemptAt: Date.now() + Math.ceil(retry?.delayMs ?? 0),
  })
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
  await vi.advanceTimersByTimeAsync(32_000)
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

test('the state says which attempt runs, when the next one does, and why the last one failed', async () => {
  const { socket, last, states } = start({ retry: { firstMs: 1000, longestMs: 1000 } })
  await vi.advanceTimersByTimeAsync(0)
  expect(socket.state).toEqual({ kind: 'connecting', attempt: 1 })
  last().end(1006)
  const lastError = new Error('the connection to wss://alice.example failed: 1006')
  expect(socket.state).toEqual({
    kind: 'connecting',
    attempt: 2,
    nextAttemptAt: expect.any(Number),
    lastError,
  })
  await vi.advanceTimersByTimeAsync(1000)
  expect(socket.state).toEqual({ kind: 'connecting', attempt: 2, lastError })
  last().open()
  await vi.advanceTimersByTimeAsync(0)
  expect(states).toHaveLength(4)
  expect(socket.state).toEqual({ kind: 'open' })
  await vi.advanceTimersByTimeAsync(11_000)
  last().end(1006)
  expect(socket.state).toMatchObject({ kind: 'connecting', attempt: 1 })
})

test('an attempt that is not answered is given up', async () => {
  const { sockets, retries } = start()
  await vi.advanceTimersByTimeAsync(19_000)
  expect(retries).toEqual([])
  await vi.advanceTimersByTimeAsync(3_000)
  expect(retries[0]?.error.message).toBe('wss://alice.example does not answer')
  expect(sockets[0]?.isClosed).toBe(true)
  expect(sockets).toHaveLength(2)
})

describe('the delay before the next attempt ends at once', () => {
  const retry = { firstMs: 30_000, longestMs: 30_000 }

  test('when the application asks for it', async () => {
    const { socket, sockets, last } = await opened({ retry })
    last().end(1006)
    socket.reconnect()
    socket.reconnect()
    await vi.advanceTimersByTimeAsync(0)
    expect(sockets).toHaveLength(2)
    socket.reconnect()
    await vi.advanceTimersByTimeAsync(1000)
    expect(sockets).toHaveLength(2)
  })

  test('also from the callbacks of the application, without a loop', async () => {
    let attempts = 0
    const { socket } = start({
      retry,
      token: () => {
        attempts += 1
        throw new Error('not signed in')
      },
      onRetry: () => socket.reconnect(),
    })
    await vi.advanceTimersByTimeAsync(10)
    expect(attempts).toBeGreaterThan(1)
    socket.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('when the browser has a network again', async () => {
    const page = new EventTarget()
    const listeners = new Set<unknown>()
    vi.stubGlobal('addEventListener', (type: string, listener: () => void) => {
      listeners.add(listener)
      page.addEventListener(type, listener)
    })
    vi.stubGlobal('removeEventListener', (_type: string, listener: () => void) => listeners.delete(listener))
    try {
      const { socket, sockets, last } = await opened({ retry })
      last().end(1006)
      page.dispatchEvent(new Event('online'))
      await vi.advanceTimersByTimeAsync(0)
      expect(sockets).toHaveLength(2)
      expect(listeners.size).toBe(1)
      socket.close()
      expect(listeners.size).toBe(0)
    } finally {
      vi.unstubAllGlobals()
    }
  })
})

test('where there is a connection, asking for one finds out whether it still is one', async () => {
  const { socket, last, sockets, retries } = await opened()
  socket.reconnect()
  socket.reconnect()
  expect(last().sent).toEqual(['ping'])
  last().receive('"pong"')
  await vi.advanceTimersByTimeAsync(20_000)
  expect(sockets).toHaveLength(1)
  socket.reconnect()
  await vi.advanceTimersByTimeAsync(5_000)
  socket.reconnect()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(retries).toHaveLength(1)
})

test('an application that closes in a callback has nothing more to wait for', async () => {
  for (const closesIn of ['state', 'retry', 'lost']) {
    const states: string[] = []
    const { socket, last } = await opened({
      onRetry: () => closesIn === 'retry' && socket.close(),
      lost: () => closesIn === 'lost' && socket.close(),
      told: ({ kind }) => {
        states.push(kind)
        if (closesIn === 'state' && kind === 'connecting' && states.includes('open')) socket.close()
      },
    })
    last().end(1006)
    const between = closesIn === 'lost' ? [] : ['connecting']
    expect(states).toEqual(['connecting', 'open', ...between, 'ended'])
    expect(vi.getTimerCount()).toBe(0)
  }
})

test('without onRetry the first failure is written to the console, and no other', async () => {
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  try {
    const { last } = start({ onRetry: undefined })
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await vi.advanceTimersByTimeAsync(5_000)
      last().end(1006)
    }
    const said =
      'the connection to wss://alice.example failed: 1006. Further attempts are made until close().'
    expect(warned.mock.calls).toEqual([[said]])
  } finally {
    warned.mockRestore()
  }
})
