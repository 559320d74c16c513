import type { FileId } from '@kith/protocol'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import * as Y from 'yjs'
import { eachDialect, type OpenTestDatabase } from '#harness/each-dialect.ts'
import { TestClock } from '#harness/test-clock.ts'
import { type NodeBus, openLocalBus } from '#infra/bus/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { documentCostMigrations, documentsMigrations } from './documents-migrations.ts'
import type { DocumentSession } from './session/document-session.ts'
import { Documents } from './session/open-documents.ts'
import type { Participant } from './session/participant.ts'
import { readFrame } from './socket/frames.ts'
import { DocumentThreads } from './threads/document-threads.ts'

const tenantId = 7 as TenantId
const fileId = 'f1~document' as FileId
const editors = 3
const processes = 2

// Each takes a while to start.
const threads = new DocumentThreads({ logger: silentLogger })
afterAll(() => threads.close())

/** Somebody who edits a text, a list and a map, with and without a connection. */
class Editor implements Participant {
  readonly idTag = undefined
  readonly doc = new Y.Doc()
  /** The document as it would be of what this editor was told is durable alone. */
  readonly durable = new Y.Doc()
  #session: DocumentSession | undefined
  #giveBack: (() => void) | undefined

  constructor() {
    this.doc.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin !== this) void this.#session?.submit(this, update)
    })
  }

  async connect(documents: Documents): Promise<void> {
    this.disconnect()
    const { session, giveBack } = await documents.take(tenantId, fileId)
    this.#session = session
    this.#giveBack = giveBack
    session.join(this)
    const [vector, missing] = await Promise.all([
      session.ask({ kind: 'vector' }),
      session.ask({ kind: 'diff', stateVector: Y.encodeStateVector(this.doc) }),
    ])
    for (const piece of missing ?? []) this.#take(piece)
    await session.submit(this, Y.encodeStateAsUpdate(this.doc, vector))
  }

  disconnect(): void {
    this.#session?.leave(this)
    this.#giveBack?.()
    this.#session = undefined
    this.#giveBack = undefined
  }

  send(frame: Uint8Array): void {
    const read = readFrame(frame)
    if (read?.kind === 'update') this.#take(read.update)
  }

  noteMistake(): void {
    throw new Error('what it sent was not understood')
  }

  noteWritten(): void {}

  close(): void {
    this.disconnect()
  }

  edit(kind: number, at: number, value: number): void {
    const text = this.doc.getText('text')
    const list = this.doc.getArray('list')
    if (kind === 0) text.insert(at % (text.length + 1), `${value} `)
    if (kind === 1 && text.length > 0) text.delete(at % text.length, 1)
    if (kind === 2) list.insert(at % (list.length + 1), [value])
    if (kind === 3) this.doc.getMap('map').set(`key ${at % 4}`, value)
    if (kind === 4) this.doc.getMap('map').delete(`key ${at % 4}`)
  }

  get content(): unknown {
    return contentOf(this.doc)
  }

  #take(update: Uint8Array): void {
    Y.applyUpdate(this.doc, update, this)
    Y.applyUpdate(this.durable, update)
  }
}

function contentOf(doc: Y.Doc): unknown {
  return [doc.getText('text').toString(), doc.getArray('list').toJSON(), doc.getMap('map').toJSON()]
}

const who = fc.nat(editors - 1)
const where = fc.nat(processes - 1)
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('edit'),
      who,
      kind: fc.nat(4),
      at: fc.nat(50),
      value: fc.nat(99),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('connect'), who, where }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('disconnect'), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compact'), where }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die'), where }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait'), turns: fc.nat(20) }) },
)
type Step = {
  do: string
  who?: number
  where?: number
  kind?: number
  at?: number
  value?: number
  turns?: number
}

async function openWorld(open: OpenTestDatabase, hints: (message: number) => boolean) {
  const clock = new TestClock()
  const db = await open({
    migrations: [...documentsMigrations, ...documentCostMigrations],
    clock,
    logger: silentLogger,
  })
  const local = openLocalBus({ clock })
  let messages = 0
  // Hints may be lost.
  const bus: NodeBus = {
    publish(channel, message) {
      messages += 1
      if (hints(messages)) local.publish(channel, message)
    },
    subscribe: local.subscribe.bind(local),
    mark: () => undefined,
    unmark: () => undefined,
    isMarked: async () => false,
    [Symbol.asyncDispose]: async () => undefined,
  }
  const start = () =>
    new Documents({
      db,
      clock,
      bus,
      threads,
      logger: silentLogger,
      limitsOf: async () => ({ maxFileBytes: 0, maxStorageBytes: 0 }),
      countContent: async () => undefined,
    })
  const running = Array.from({ length: processes }, start)
  const people = Array.from({ length: editors }, () => new Editor())
  const at = (index: number) => running[index] as Documents
  const person = (index: number) => people[index] as Editor
  const dead: Documents[] = []
  return {
    start,
    running,
    people,
    dead,
    async take(next: Step): Promise<void> {
      const { who = 0, where = 0, kind = 0, at: place = 0, value = 0, turns = 0 } = next
      if (next.do === 'edit') person(who).edit(kind, place, value)
      if (next.do === 'connect') await person(who).connect(at(where))
      if (next.do === 'disconnect') person(who).disconnect()
      if (next.do === 'compact') await at(where).use(tenantId, fileId, (session) => session.compact())
      // Its connections break; what it had not stored is gone with it.
      if (next.do === 'die') {
        dead.push(at(where))
        running[where] = start()
        for (const editor of people) editor.disconnect()
      }
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

eachDialect('editors who come and go', (open) => {
  test('agree in the end, whatever processes do, and nothing that they were told is stored is lost', async () => {
    const steps = fc.array(step, { minLength: 20, maxLength: 120 })
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 4 }), async (plan, every) => {
        const world = await openWorld(open, (message) => message % every === 0)
        const { people, running, dead } = world
        await people[0]?.connect(running[0] as Documents)
        for (const next of plan) await world.take(next as Step)
        for (const editor of people) editor.disconnect()
        for (const documents of [...running, ...dead]) await documents.close()
        // A process that knows nothing but the log.
        const fresh = world.start()
        const stored = await fresh.use(tenantId, fileId, (session) => session.ask({ kind: 'state' }))
        for (const { durable } of people) {
          const doc = new Y.Doc()
          Y.applyUpdate(doc, stored)
          const before = Y.encodeStateVector(doc)
          Y.applyUpdate(doc, Y.encodeStateAsUpdate(durable))
          expect(Y.encodeStateVector(doc)).toEqual(before)
        }
        for (const editor of people) await editor.connect(fresh)
        await fresh.settled()
        const [first, ...others] = people.map(({ content }) => content)
        for (const other of others) expect(other).toEqual(first)
        for (const editor of people) editor.disconnect()
        await fresh.close()
      }),
      { numRuns: open.runs(15), verbose: true },
    )
  })
})
