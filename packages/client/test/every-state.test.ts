import type { RtdbOperation } from '@kith/protocol'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type ConnectedDatabase,
  ConnectionLost,
  connectDatabase,
  type DatabaseOptions,
} from '../src/rtdb/index.ts'
import { FakeSocket } from './fake-socket.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

interface Message {
  readonly id: number
  readonly type: string
  readonly operations?: readonly RtdbOperation[]
}

/** A database that answers each request in the simplest way, on as many sockets as are made. */
class FakeDatabase {
  readonly sockets: FakeSocket[] = []
  /** Nothing opens by itself, and no request is answered, until `heal`. */
  isSilent = false

  connect(): FakeSocket {
    const socket = new FakeSocket()
    this.sockets.push(socket)
    socket.onSend = (data) => {
      if (!this.isSilent) this.#answer(socket, JSON.parse(String(data)) as Message)
    }
    if (!this.isSilent) setTimeout(() => socket.open(), 1)
    return socket
  }

  get last(): FakeSocket {
    return this.sockets.at(-1) as FakeSocket
  }

  /** From now on it answers. What came before is lost with its socket. */
  heal(): void {
    this.isSilent = false
    if (!this.last.hasEnded) this.last.end(1006)
  }

  #answer(socket: FakeSocket, { id, type, operations = [] }: Message): void {
    const say = (message: object) => socket.receive(JSON.stringify(message))
    const results = operations.map(() => ({ ref: null, id: 'x' }))
    const answers: Readonly<Record<string, object>> = {
      ping: { type: 'pong' },
      get: { data: null },
      query: { data: [] },
      subscribe: { subscriptionId: String(id) },
      transaction: { results },
      lock: { locked: true },
    }
    queueMicrotask(() => {
      say({ id, type: `${type}Result`, ...answers[type] })
      if (type !== 'subscribe') return
      const event = { action: 'ready', path: 'tasks', data: [] }
      say({ id: 'x', type: 'change', subscriptionId: String(id), event })
    })
  }
}

function start(options: Partial<DatabaseOptions> = {}) {
  const server = new FakeDatabase()
  const database = connectDatabase({
    baseUrl: 'https://alice.example',
    fileId: 'r1~x',
    connect: () => server.connect(),
    retry: { firstMs: 100, longestMs: 100 },
    hasPresence: true,
    onRetry: () => undefined,
    onState: () => undefined,
    ...options,
  })
  return { server, database }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

async function open(options: Partial<DatabaseOptions> = {}) {
  const made = start(options)
  await pass(10)
  expect(made.database.state.kind).toBe('open')
  return made
}

type Made = ReturnType<typeof start>

/** Each leaves the database in one state of its line, and returns how the line gets well. */
const states: Readonly<Record<string, () => Promise<Made & { heal: () => void }>>> = {
  'the token is not there yet': async () => {
    const token = Promise.withResolvers<string>()
    const made = start({ token: () => token.promise })
    await pass(10)
    return { ...made, heal: () => token.resolve('token') }
  },
  'the socket is not open yet': async () => {
    const made = start()
    made.server.isSilent = true
    await pass(10)
    return { ...made, heal: () => made.server.heal() }
  },
  'the server has not answered yet': async () => {
    const made = start()
    made.server.isSilent = true
    await pass(10)
    made.server.last.open()
    await pass(10)
    return { ...made, heal: () => made.server.heal() }
  },
  'it is open': async () => ({ ...(await open()), heal: () => undefined }),
  'it is open, and breaks before the answer': async () => {
    const made = await open()
    made.server.isSilent = true
    return { ...made, heal: () => made.server.heal() }
  },
  'the connection broke in this moment': async () => {
    const made = await open()
    made.server.last.end(1006)
    return { ...made, heal: () => undefined }
  },
  'an answer was lost in this moment': async () => {
    const made = await open()
    made.server.isSilent = true
    const lost = made.database.collection('tasks').get()
    lost.catch(() => undefined)
    await pass(0)
    made.server.heal()
    return { ...made, heal: () => undefined }
  },
  'it waits for the next attempt': async () => {
    const made = await open()
    made.server.last.end(1006)
    await pass(10)
    expect(made.database.state).toMatchObject({ kind: 'connecting', nextAttemptAt: expect.any(Number) })
    return { ...made, heal: () => undefined }
  },
  'the next attempt runs': async () => {
    const made = await open()
    made.server.isSilent = true
    made.server.last.end(1006)
    await pass(200)
    expect(made.server.sockets).toHaveLength(2)
    return { ...made, heal: () => made.server.heal() }
  },
}

const ends: Readonly<Record<string, { code: number; make: () => Promise<Made> }>> = {
  'the server has ended it': {
    code: 4404,
    make: async () => {
      const made = await open()
      made.server.last.end(4404, 'not found')
      return made
    },
  },
  'it is closed': {
    code: 1000,
    make: async () => {
      const made = await open()
      made.database.close()
      return made
    },
  },
}

const data = { title: 'x' }
const tasks = (database: ConnectedDatabase) => database.collection<{ title: string }>('tasks')
const groups = { groupBy: 'title' }
/** A listener as a promise: of its first call, or its error. */
const heard = (listen: (onChange: () => void, onError: (error: Error) => void) => unknown) =>
  new Promise<void>((resolve, reject) => void listen(() => resolve(), reject))

const calls: Readonly<Record<string, (database: ConnectedDatabase) => Promise<unknown>>> = {
  get: (database) => tasks(database).get(),
  'get of a document': (database) => tasks(database).doc('x').get(),
  groups: (database) => tasks(database).groups(groups),
  onChange: (database) => heard((...to) => tasks(database).onChange(...to)),
  'onChange of a document': (database) =>
    heard((...to) =>
      tasks(database)
        .doc('x')
        .onChange(...to),
    ),
  onGroups: (database) => heard((...to) => tasks(database).onGroups(groups, ...to)),
  add: (database) => tasks(database).add(data),
  set: (database) => tasks(database).doc('x').set(data),
  update: (database) => tasks(database).doc('x').update(data),
  delete: (database) => tasks(database).doc('x').delete(),
  transaction: (database) => database.transaction([{ type: 'delete', path: 'tasks/x' }]),
  createIndex: (database) => database.createIndex('tasks', 'title'),
  lock: (database) => database.lock('tasks/x'),
}

describe.each(Object.entries(states))('while %s', (_name, make) => {
  test.each(Object.entries(calls))('%s is done once the line is well', async (_call, call) => {
    const { server, database, heal } = await make()
    let isDone = false
    const calling = call(database).then(() => {
      isDone = true
    })
    await pass(50)
    heal()
    await pass(5_000)
    expect([isDone, database.state.kind]).toEqual([true, 'open'])
    await calling
    // Nothing is asked without end.
    expect(server.sockets.reduce((sum, { sent }) => sum + sent.length, 0)).toBeLessThan(20)
    database.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each(Object.entries(calls))('%s, closed before the answer, is over', async (_call, call) => {
    const { database, heal } = await make()
    const outcome = call(database).then(
      () => 'done',
      (error: unknown) => error,
    )
    database.close()
    heal()
    await pass(5_000)
    expect(database.state).toMatchObject({ kind: 'ended', code: 1000 })
    expect(vi.getTimerCount()).toBe(0)
    // One's own end is no error for a listener.
    const isOver = await Promise.race([outcome, Promise.resolve('unheard')])
    if (isOver !== 'unheard' && isOver !== 'done') expect(isOver).toMatchObject({ code: 1000 })
    else expect(_call).toMatch(isOver === 'done' ? /./ : /^on/)
  })

  test('unlock, setPresence and reconnect do no harm', async () => {
    const { database, heal } = await make()
    database.setPresence({ name: 'Alice' })
    database.reconnect()
    const unlocking = database.unlock('tasks/x')
    heal()
    await pass(5_000)
    await unlocking
    expect(database.state.kind).toBe('open')
    await database.forget()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe.each(Object.entries(ends))('when %s', (_name, { code, make }) => {
  test.each(Object.entries(calls))('%s is refused at once', async (_call, call) => {
    const { database } = await make()
    const refused = call(database).catch((error: unknown) => error)
    await pass(0)
    const error = await refused
    expect(error).toBeInstanceOf(ConnectionLost)
    expect(error).toMatchObject({ code })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('unlock, setPresence, reconnect, close and forget do no harm', async () => {
    const { server, database } = await make()
    database.setPresence({ name: 'Alice' })
    database.reconnect()
    await database.unlock('tasks/x')
    database.close()
    await database.forget()
    await pass(60_000)
    expect(database.state).toMatchObject({ kind: 'ended', code })
    expect(server.sockets).toHaveLength(1)
  })
})

describe('without a connection', () => {
  const waiting = ['get', 'get of a document', 'groups', 'createIndex', 'lock']
  test.each(waiting)('%s is refused after the timeout, with the reason', async (name) => {
    const { server, database } = start({ timeoutMs: 3_000 })
    server.isSilent = true
    await pass(10)
    server.last.end(1006)
    const outcome = calls[name]?.(database).catch((error: unknown) => error)
    let isOver = false
    void outcome?.then(() => {
      isOver = true
    })
    await pass(2_900)
    expect(isOver).toBe(false)
    await pass(200)
    expect(await outcome).toMatchObject({
      name: 'ConnectionLost',
      code: 1006,
      message:
        'no connection to https://alice.example within 3000 ms: the connection to wss://alice.example failed: 1006',
      cause: { message: 'the connection to wss://alice.example failed: 1006' },
    })
    database.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a read waits 10 s, or without end if it is told so', async () => {
    for (const [options, ms] of [
      [{}, 10_000] as const,
      [{ timeoutMs: Number.POSITIVE_INFINITY }, 0] as const,
    ]) {
      const { server, database } = start(options)
      server.isSilent = true
      const refused: unknown[] = []
      const startedAt = Date.now()
      tasks(database)
        .get()
        .catch((error: unknown) => refused.push([error, Date.now() - startedAt]))
      await pass(60_000)
      expect(refused).toEqual(ms === 0 ? [] : [[expect.any(ConnectionLost), ms]])
      database.close()
    }
  })

  test('a write waits for as long as it takes', async () => {
    const { server, database } = start()
    server.isSilent = true
    const adding = tasks(database).add(data)
    await pass(10 * 60_000)
    expect(database.state.waiting).toBe(1)
    server.heal()
    await pass(1_000)
    expect(await adding).toBe('x')
    database.close()
  })
})

test.each([-1, Number.NaN, '5s', 2 ** 31])('a timeout of %s is refused', (timeoutMs) => {
  expect(() => start({ timeoutMs: timeoutMs as number })).toThrow('timeoutMs must be a number of ms')
})

test('without presence, setPresence says what it needs', () => {
  const { database } = start({ hasPresence: false })
  expect(() => database.setPresence({ name: 'Alice' })).toThrow('needs the option hasPresence')
  database.close()
})

describe('what no callback takes is written to the console', () => {
  const withoutCallback = { onState: undefined } as unknown as DatabaseOptions

  async function warningsOf(act: () => Promise<unknown>): Promise<unknown[]> {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    try {
      await act()
      return warned.mock.calls.map(([problem]) => problem)
    } finally {
      warned.mockRestore()
    }
  }

  test('the end of a connection, once, whatever listens', async () => {
    const errors: Error[] = []
    const warnings = await warningsOf(async () => {
      const { server, database } = await open(withoutCallback)
      tasks(database).onChange(() => undefined)
      tasks(database).onChange(
        () => undefined,
        (error) => errors.push(error),
      )
      await pass(10)
      server.last.end(4404, 'not found')
    })
    expect(warnings).toEqual(['The connection to wss://alice.example/ws/rtdb/r1~x has ended: 4404 not found'])
    expect(errors).toMatchObject([{ name: 'ConnectionLost', code: 4404 }])
  })

  test('the refusal of a subscription', async () => {
    const warnings = await warningsOf(async () => {
      const { server, database } = await open()
      server.isSilent = true
      tasks(database).onChange(() => undefined)
      await pass(10)
      const { id } = JSON.parse(String(server.last.sent.at(-1))) as Message
      server.last.receive(JSON.stringify({ id, type: 'error', code: 403, message: 'no' }))
      await pass(10)
      database.close()
    })
    expect(warnings).toMatchObject([{ name: 'RtdbError', code: 403 }])
  })

  test('nothing of one’s own end', async () => {
    const errors: Error[] = []
    const warnings = await warningsOf(async () => {
      const { database } = await open(withoutCallback)
      tasks(database).onChange(() => undefined)
      tasks(database).onChange(
        () => undefined,
        (error) => errors.push(error),
      )
      await pass(10)
      database.close()
      await pass(10)
    })
    expect([warnings, errors]).toEqual([[], []])
  })
})
