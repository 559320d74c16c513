import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { CuttableLink } from '#harness/cuttable-link.ts'
import { StockClient } from '#harness/document-client.ts'
import { runsOf } from '#harness/property-runs.ts'
import { type ServerPlace, ServerProcess } from '#harness/server-process.ts'

const idTag = 'alice.localhost'
const editors = 3
const kills = runsOf(4)
// In more of them a document becomes so long that it is full.
const killsPerDocument = 40
// Where in a commit or a compaction it dies differs.
const echoesBefore = (kill: number) => 5 + ((kill * 37) % 60)

let folder: string
let link: CuttableLink
let place: ServerPlace
let server: ServerProcess

/** The numbers of a client in an update. Those count that wait for what it wrote before: a client that comes back may write
 * before it was asked for what the server lacks, and keeps that until it is echoed. */
function* numbersOf(update: Uint8Array, client: number): Iterable<number> {
  for (const struct of Y.decodeUpdate(update).structs)
    if (struct instanceof Y.Item && struct.id.client === client && struct.content instanceof Y.ContentAny)
      for (const value of struct.content.getContent()) yield Number(value)
}

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
    this.#editText()
    this.next += 1
    setTimeout(() => this.count(), 5)
  }

  /** Somewhere in a text that all of them edit. */
  #editText(): void {
    const { text } = this.stock
    const at = (this.next * 31) % (text.length + 1)
    if (text.length < 200) text.insert(at, this.name)
    else text.delete(Math.min(at, text.length - 10), 10)
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
    for (const number of numbersOf(frame.subarray(at + 1), this.stock.doc.clientID)) this.echoed.add(number)
  }
}

describe('a document whose server is killed', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-documents-'))
    link = await CuttableLink.open()
    place = { idTag, link, dataDir: join(folder, 'alice') }
    server = await ServerProcess.start(place)
  })

  afterAll(async () => {
    await server?.kill()
    await link?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  async function createDocument(): Promise<{ fileId: string; token: string }> {
    const headers = await server.signIn()
    const made = await server.request('/api/files', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ fileTp: 'CRDT' }),
    })
    const { data } = (await made.json()) as { data: { fileId: string } }
    return { fileId: data.fileId, token: headers.authorization.slice('Bearer '.length) }
  }

  /** Edits one document while its server is killed as often as it is said, and compares what everybody has then. */
  async function editThroughKills(first: number, end: number): Promise<void> {
    const { fileId, token } = await createDocument()
    const open = () => StockClient.open({ port: link.port, host: idTag }, fileId, { token })
    const counters = await Promise.all(
      Array.from({ length: editors }, async (_, at) => new Counter(await open().synced(), `editor ${at}`)),
    )
    for (const counter of counters) counter.count()
    for (let kill = first; kill < end; kill += 1) {
      const enough = counters.map(({ echoed }) => echoed.size + echoesBefore(kill))
      await expect.poll(() => counters.every(({ echoed }, at) => echoed.size >= (enough[at] ?? 0))).toBe(true)
      await server.kill('SIGKILL')
      const promised = counters.map(({ stock, echoed }) => ({
        client: stock.doc.clientID,
        numbers: [...echoed],
      }))
      server = await ServerProcess.start(place)
      // A client that knows nothing of what the others have.
      await using stranger = await StockClient.open({ port: link.port, host: idTag }, fileId, {
        token,
        params: { access: 'read' },
      }).synced()
      for (const { numbers, client } of promised) {
        const kept = new Set(numbersOf(Y.encodeStateAsUpdate(stranger.doc), client))
        expect(numbers.filter((number) => !kept.has(number))).toEqual([])
      }
    }
    for (const counter of counters) counter.stop()
    await using last = await open().synced()
    const arrays = Object.fromEntries(
      counters.map(({ name, next }) => [name, Array.from({ length: next }, (_, at) => at)]),
    )
    const present = (doc: Y.Doc) =>
      Object.fromEntries([
        ...counters.map(({ name }) => [name, doc.getArray(name).toJSON()]),
        ['text', doc.getText('text').toString()],
      ])
    await expect.poll(() => present(last.doc)).toMatchObject(arrays)
    const expected = present(last.doc)
    for (const { stock } of [...counters, { stock: last }])
      await expect.poll(() => present(stock.doc)).toEqual(expected)
    for (const counter of counters) await counter[Symbol.asyncDispose]()
  }

  test(
    'what was echoed is there after kill -9, and those who come back agree',
    async () => {
      for (let kill = 1; kill <= kills; kill += killsPerDocument)
        await editThroughKills(kill, Math.min(kill + killsPerDocument, kills + 1))
    },
    60_000 + kills * 20_000,
  )
})
