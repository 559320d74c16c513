import { connectBus, type SocketLike } from '@kith/client/bus'
import { connectDocument } from '@kith/client/crdt'
import { connectDatabase } from '@kith/client/rtdb'
import { createAction, createFile } from '@kith/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
const retry = { firstMs: 5, longestMs: 50 }

/** A socket that breaks at one of its events: opening, a message of the client, or one of the server. */
class BreakingSocket implements SocketLike {
  onopen: SocketLike['onopen'] = null
  onmessage: SocketLike['onmessage'] = null
  onclose: SocketLike['onclose'] = null
  onerror: SocketLike['onerror'] = null
  readonly #socket: WebSocket
  readonly #isLast: () => boolean
  #isBroken = false

  constructor(url: string, isLast: () => boolean) {
    this.#isLast = isLast
    this.#socket = new WebSocket(url)
    this.#socket.binaryType = 'arraybuffer'
    this.#socket.onopen = () => this.#pass(() => this.onopen?.({} as never))
    this.#socket.onmessage = (event) => this.#pass(() => this.onmessage?.(event as never))
    this.#socket.onclose = (event) => {
      if (!this.#isBroken) this.onclose?.(event as never)
    }
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    this.#pass(() => this.#socket.send(data))
  }

  close(): void {
    this.#socket.close()
  }

  #pass(event: () => void): void {
    if (this.#isBroken) return
    this.#isBroken = this.#isLast()
    if (!this.#isBroken) event()
    else {
      this.#socket.close()
      // As of a real socket: never within `send`.
      setImmediate(() => this.onclose?.({ code: 1006, reason: '' } as never))
    }
  }
}

/** Makes sockets of which the first breaks at its event with this number, from 1 on. */
function breakingAt(last: number) {
  let events = 0
  let isBroken = false
  const connect = (url: string): SocketLike => {
    if (isBroken) return new WebSocket(url) as SocketLike
    return new BreakingSocket(url, () => {
      events += 1
      isBroken = events === last
      return isBroken
    })
  }
  return { connect, hasBroken: () => isBroken }
}

let server: TestServer
let token: string
let place: { baseUrl: string; token: string; retry: typeof retry; onRetry: () => void }
const closing: { close(): void }[] = []
beforeAll(async () => {
  server = await TestServer.start()
  token = await server.signIn(home)
  const baseUrl = `http://127.0.0.1:${server.running.port}`
  place = { baseUrl, token, retry, onRetry: () => undefined }
})
afterEach(() => {
  for (const connected of closing.splice(0)) connected.close()
})
afterAll(() => server.stop())

const create = async (fileTp: 'CRDT' | 'RTDB') =>
  (await server.client(home, token).call(createFile, { body: { fileTp } })).data.fileId

function keep<Connected extends { close(): void }>(connected: Connected): Connected {
  closing.push(connected)
  return connected
}

/** Runs it with a line that breaks at each event of the first connection, one after the other. Returns how many there are. */
async function breakEverywhere(
  run: (connect: (url: string) => SocketLike) => Promise<void>,
): Promise<number> {
  for (let last = 1; ; last += 1) {
    const line = breakingAt(last)
    await run(line.connect)
    if (!line.hasBroken()) return last - 1
  }
}

describe('a line that breaks, wherever that is, changes no outcome', () => {
  test('of a database', { timeout: 120_000 }, async () => {
    const events = await breakEverywhere(async (connect) => {
      const fileId = await create('RTDB')
      const database = keep(connectDatabase({ ...place, fileId, connect, hasPresence: true }))
      const tasks = database.collection<{ title: string; n: number }>('tasks')
      let told: readonly string[] = []
      tasks.orderBy('n').onChange((found) => {
        told = found.map(({ title }) => title)
      })
      let counted: unknown
      tasks.onGroups({ groupBy: 'title' }, (rows) => {
        counted = rows.length
      })
      database.setPresence({ name: 'Alice' })
      expect(await tasks.get()).toEqual([])
      const id = await tasks.add({ title: 'one', n: 1 })
      await tasks.doc('two').set({ title: 'two', n: 2 })
      await tasks.doc('two').update({ n: 0 })
      await database.createIndex('tasks', 'n')
      // One that another connection holds, of which the end is not known yet, is answered as well.
      await database.lock('tasks/two')
      await database.unlock('tasks/two')
      await database.transaction([
        { type: 'create', path: 'tasks', data: { title: 'three', n: 3 } },
        { type: 'delete', path: `tasks/${id}` },
      ])
      expect((await tasks.orderBy('n').get()).map(({ title }) => title)).toEqual(['two', 'three'])
      expect(await tasks.groups({ groupBy: 'title' })).toHaveLength(2)
      await expect.poll(() => [told, counted]).toEqual([['two', 'three'], 2])
      expect(database.state).toMatchObject({ kind: 'open', waiting: 0 })
      database.close()
    })
    expect(events).toBeGreaterThan(30)
  })

  test('of a document', { timeout: 60_000 }, async () => {
    const events = await breakEverywhere(async (connect) => {
      const fileId = await create('CRDT')
      const document = keep(connectDocument({ ...place, fileId, connect }))
      const text = document.doc.getText('body')
      text.insert(0, 'early ')
      await document.loaded()
      for (const word of ['one ', 'two ', 'three']) {
        text.insert(text.length, word)
        await document.saved()
      }
      const other = keep(connectDocument({ ...place, fileId }))
      await other.loaded()
      expect(`${other.doc.getText('body')}`).toBe('early one two three')
      document.close()
    })
    expect(events).toBeGreaterThan(10)
  })

  test('of the bus', { timeout: 60_000 }, async () => {
    const client = server.client(home, token)
    const events = await breakEverywhere(async (connect) => {
      const heard: string[] = []
      let isOpen = false
      let gaps = 0
      const bus = keep(
        connectBus({
          ...place,
          connect,
          onEvent: (event) => {
            if (event.cmd === 'ACTION') heard.push(String(event.data.content?.text))
          },
          onGap: () => {
            gaps += 1
          },
          onState: ({ kind }) => {
            isOpen = kind === 'open'
          },
        }),
      )
      await expect.poll(() => isOpen).toBe(true)
      const texts = ['one', 'two', 'three']
      for (const text of texts) await client.call(createAction, { body: { type: 'POST', content: { text } } })
      await expect.poll(() => heard).toEqual(texts)
      await expect.poll(() => bus.ask('ping', {}).catch(() => undefined)).toEqual({ status: 'pong' })
      expect(gaps).toBeLessThan(2)
      bus.close()
    })
    expect(events).toBeGreaterThan(5)
  })
})
