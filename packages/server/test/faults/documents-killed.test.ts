import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as Y from 'yjs'
import { StockClient } from '#harness/document-client.ts'
import { hasAllRuns } from '#harness/property-runs.ts'
import { freePort, type ServerPlace, ServerProcess } from '#harness/server-process.ts'

const idTag = 'alice.localhost'
const editors = 3
const kills = hasAllRuns ? 8 : 1

let folder: string
let place: ServerPlace
let server: ServerProcess
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-documents-'))
  place = { idTag, port: await freePort(), dataDir: join(folder, 'alice'), peers: '' }
  server = await ServerProcess.start(place)
}, 60_000)
afterAll(async () => {
  await server?.kill()
  await rm(folder, { recursive: true, force: true })
})

/** Counts in an array of its own, and knows which numbers the server has echoed. */
class Counter implements AsyncDisposable {
  readonly stock: StockClient
  readonly name: string
  readonly echoed = new Set<number>()
  next = 0
  #isStopped = false

  constructor(stock: StockClient, name: string) {
    this.stock = stock
    this.name = name
    const { provider } = stock
    // The provider applies what it is sent with itself as the origin; what it has written is nothing new, so its frames are read.
    const { messageHandlers } = provider
    const handle = messageHandlers[0]
    provider.messageHandlers = [...messageHandlers]
    provider.messageHandlers[0] = (encoder, decoder, ...rest) => {
      const frame = decoder.arr.slice()
      handle?.(encoder, decoder, ...rest)
      this.#note(frame)
    }
  }

  count(): void {
    if (this.#isStopped) return
    this.stock.doc.getArray(this.name).push([this.next])
    this.next += 1
    setTimeout(() => this.count(), 3)
  }

  stop(): void {
    this.#isStopped = true
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.stop()
    return this.stock[Symbol.asyncDispose]()
  }

  #note(frame: Uint8Array): void {
    if (frame[1] !== 2) return
    let at = 2
    while ((frame[at] ?? 0) >= 128) at += 1
    const { structs } = Y.decodeUpdate(frame.subarray(at + 1))
    for (const struct of structs)
      if (struct instanceof Y.Item && struct.id.client === this.stock.doc.clientID)
        for (const value of struct.content.getContent()) this.echoed.add(Number(value))
  }
}

test('what was echoed is there after kill -9, and those who come back agree', async () => {
  const headers = await server.signIn()
  const token = headers.authorization.slice('Bearer '.length)
  const made = await server.request('/api/files', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ fileTp: 'CRDT' }),
  })
  const { data } = (await made.json()) as { data: { fileId: string } }
  const open = () => StockClient.open({ port: place.port, host: idTag }, data.fileId, { token })
  const counters = await Promise.all(
    Array.from({ length: editors }, async (_, at) => new Counter(await open().synced(), `editor ${at}`)),
  )
  for (const counter of counters) counter.count()
  for (let kill = 1; kill <= kills; kill += 1) {
    const enough = counters.map(({ echoed }) => echoed.size + 25)
    await expect
      .poll(() => counters.every(({ echoed }, at) => echoed.size >= (enough[at] ?? 0)), { timeout: 30_000 })
      .toBe(true)
    await server.kill('SIGKILL')
    const promised = counters.map(({ name, echoed }) => [name, [...echoed]] as const)
    server = await ServerProcess.start(place)
    // Somebody who knows nothing of what the others have.
    await using stranger = await StockClient.open({ port: place.port, host: idTag }, data.fileId, {
      token,
      params: { access: 'read' },
    }).synced()
    for (const [name, numbers] of promised) {
      const kept = new Set(stranger.doc.getArray<number>(name).toJSON())
      expect(numbers.filter((number) => !kept.has(number))).toEqual([])
    }
  }
  for (const counter of counters) counter.stop()
  await using last = await open().synced()
  const expected = Object.fromEntries(
    counters.map(({ name, next }) => [name, Array.from({ length: next }, (_, at) => at)]),
  )
  const present = (doc: Y.Doc) =>
    Object.fromEntries(counters.map(({ name }) => [name, doc.getArray(name).toJSON()]))
  for (const { stock } of [...counters, { stock: last }])
    await expect.poll(() => present(stock.doc), { timeout: 30_000 }).toEqual(expected)
  for (const counter of counters) await counter[Symbol.asyncDispose]()
}, 120_000)
