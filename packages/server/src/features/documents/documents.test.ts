import type { FileId, IdTag } from '@kith/protocol'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { eachDialect } from '#harness/each-dialect.ts'
import { crowdedUpdate, slowUpdate } from '#harness/slow-updates.ts'
import { TestClock } from '#harness/test-clock.ts'
import { openLocalBus } from '#infra/bus/index.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import { jobLeasesMigrations, jobQueueMigrations, openJobs } from '#infra/jobs/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { Failure } from '#lib/failure.ts'
import { documentContents } from './document-contents.ts'
import { documentCostMigrations, documentsMigrations } from './documents-migrations.ts'
import type { DocumentTables } from './documents-tables.ts'
import { addDocumentsSweep } from './history/documents-sweep.ts'
import { Documents, type DocumentsDeps } from './session/open-documents.ts'
import type { Participant } from './session/participant.ts'
import { readFrame } from './socket/frames.ts'
import { DocumentThreads } from './threads/document-threads.ts'
import type { ThreadLimits } from './threads/thread-limits.ts'

const tenantId = 7 as TenantId
const fileId = 'f1~document' as FileId
const limits = { maxFileBytes: 0, maxStorageBytes: 0 }

// Each takes a while to start.
const threads = new DocumentThreads({ logger: silentLogger })
afterAll(() => threads.close())

const littleMemory = { sharedHeapMegabytes: 16, slowHeapMegabytes: 16 }

/** Somebody with a document of their own, which follows what they are shown. */
class Editor implements Participant {
  readonly idTag: IdTag | undefined
  readonly doc = new Y.Doc()
  readonly closes: string[] = []
  readonly shown: string[] = []
  mistakes = 0
  written = 0

  constructor(idTag?: string) {
    this.idTag = idTag as IdTag | undefined
  }

  send(frame: Uint8Array): void {
    const read = readFrame(frame)
    if (read?.kind === 'update') Y.applyUpdate(this.doc, read.update)
    if (read?.kind === 'awareness')
      for (const { client, clock, state } of read.entries) this.shown.push(`${client} ${clock} ${state}`)
  }

  /** What a change of the text is as an update. */
  type(text: string): Uint8Array {
    const before = Y.encodeStateVector(this.doc)
    this.doc.getText('t').insert(this.doc.getText('t').length, text)
    return Y.encodeStateAsUpdate(this.doc, before)
  }

  noteMistake(): void {
    this.mistakes += 1
  }

  noteWritten(): void {
    this.written += 1
  }

  close(why: string): void {
    this.closes.push(why)
  }
}

/** As many insertions, none of which is joined with another. */
function scattered(count: number): Uint8Array {
  const doc = new Y.Doc()
  doc.transact(() => {
    for (let at = 0; at < count; at += 1) doc.getText('t').insert(0, 'x')
  })
  return Y.encodeStateAsUpdate(doc)
}

eachDialect('documents', (open) => {
  const closers: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  async function openLab() {
    const clock = new TestClock()
    const migrations = [
      ...jobQueueMigrations,
      ...jobLeasesMigrations,
      ...documentsMigrations,
      ...documentCostMigrations,
    ]
    const db = await open({ migrations, clock, logger: silentLogger })
    const bus = openLocalBus({ clock })
    const usage = { bytes: 0, most: Number.MAX_SAFE_INTEGER }
    const logged: object[] = []
    const process = (over: Partial<Pick<DocumentsDeps, 'bus' | 'db' | 'threads' | 'fullAtMs'>> = {}) => {
      const documents = new Documents({
        db,
        clock,
        bus,
        threads,
        logger: { ...silentLogger, error: (fields: object) => void logged.push(fields) } as never,
        limitsOf: async () => limits,
        async countContent(_, { bytes }) {
          if (bytes > 0 && usage.bytes + bytes > usage.most) throw new Failure('E-QUOTA')
          usage.bytes += bytes
        },
        ...over,
      })
      closers.push(() => documents.close())
      return documents
    }
    const documents = process()
    const contents = documentContents({ db, clock, documents })
    const rows = async (table: keyof DocumentTables) =>
      await db.reader(tenantId).tables<DocumentTables>().selectFrom(table).selectAll().execute()
    const tables = <Result>(
      work: (tx: Parameters<Parameters<Database['transact']>[1]>[0]) => Promise<Result>,
    ) => db.transact(tenantId, work)
    return { clock, db, bus, usage, logged, process, documents, contents, rows, tables }
  }

  type Lab = Awaited<ReturnType<typeof openLab>>

  async function join(documents: Documents, editor = new Editor()) {
    const { session, giveBack } = await documents.take(tenantId, fileId)
    session.join(editor)
    const state = await session.ask({ kind: 'state' })
    Y.applyUpdate(editor.doc, state)
    const leave = () => {
      session.leave(editor)
      giveBack()
    }
    const write = (text: string) => session.submit(editor, editor.type(text))
    return { session, editor, leave, write }
  }

  /** After the last connection has been gone for two seconds. */
  async function unloaded({ clock, documents }: Lab): Promise<void> {
    clock.advance(2000)
    await documents.settled()
  }

  async function presentText(lab: Lab): Promise<string> {
    const doc = new Y.Doc()
    Y.applyUpdate(doc, Buffer.concat(await Array.fromAsync(lab.contents.present(tenantId, fileId))))
    return doc.getText('t').toString()
  }

  describe('the log', () => {
    test('has what is new, before it is shown to others', async () => {
      const lab = await openLab()
      const { write, editor, session } = await join(lab.documents, new Editor('alice.example'))
      const other = await join(lab.documents)
      await Promise.all([write('a'), write('b'), write('c')])
      expect(other.editor.doc.getText('t').toString()).toBe('abc')
      expect(editor.written).toBeGreaterThan(0)
      const rows = (await lab.rows('crdt_updates')) as { writers: string | null; updates: number }[]
      // Those that came while the first was stored shared a commit.
      expect(rows.length).toBeLessThan(4)
      expect(rows.reduce((sum, { updates }) => sum + updates, 0)).toBe(4)
      expect(rows.at(-1)?.writers).toBe('["alice.example"]')
      expect(session.seq).toBe(rows.length)
    })

    test('is compacted when the last connection has been gone for two seconds, and the document unloaded', async () => {
      const lab = await openLab()
      const { write, leave } = await join(lab.documents)
      await write('hello')
      leave()
      lab.clock.advance(1999)
      await lab.documents.settled()
      expect([lab.documents.size, (await lab.rows('crdt_snapshots')).length]).toEqual([1, 0])
      lab.clock.advance(1)
      await lab.documents.settled()
      expect(lab.documents.size).toBe(0)
      expect(await lab.rows('crdt_updates')).toEqual([])
      expect(await lab.rows('crdt_snapshots')).toMatchObject([{ seq: 2, size: lab.usage.bytes }])
      const again = await join(lab.documents)
      expect(again.editor.doc.getText('t').toString()).toBe('hello')
      expect(again.editor.doc.getMap('meta').toJSON()).toEqual({ i: true })
      // Nothing is new: nothing is written.
      again.leave()
      await unloaded(lab)
      expect(await lab.rows('crdt_snapshots')).toHaveLength(1)
    })

    test('stays open for somebody who comes within the two seconds', async () => {
      const lab = await openLab()
      const first = await join(lab.documents)
      first.leave()
      lab.clock.advance(1000)
      const second = await join(lab.documents)
      lab.clock.advance(5000)
      await lab.documents.settled()
      expect(lab.documents.size).toBe(1)
      await second.write('x')
    })

    test('is compacted every 500 updates, while others go on', async () => {
      const lab = await openLab()
      const { write } = await join(lab.documents)
      for (let at = 0; at < 510; at += 1) void write('x')
      await write('y')
      await lab.documents.settled()
      const updates = (await lab.rows('crdt_updates')) as { updates: number }[]
      expect(updates.reduce((sum, row) => sum + row.updates, 0)).toBeLessThan(510)
      expect((await lab.rows('crdt_snapshots')).length).toBe(1)
      expect(await presentText(lab)).toBe(`${'x'.repeat(510)}y`)
    })

    test('is compacted when it has 1 MiB, and stored in rows of a bounded size', async () => {
      const lab = await openLab()
      const { write } = await join(lab.documents)
      await write('x'.repeat(1_200_000))
      await lab.documents.settled()
      expect(await lab.rows('crdt_updates')).toEqual([])
      const parts = (await lab.rows('crdt_snapshot_parts')) as { bytes: Uint8Array }[]
      expect(parts.length).toBe(10)
      expect(Math.max(...parts.map(({ bytes }) => bytes.length))).toBe(128 * 1024)
      expect((await presentText(lab)).length).toBe(1_200_000)
      // What was counted is what is there.
      expect(lab.usage.bytes).toBe(parts.reduce((sum, { bytes }) => sum + bytes.length, 0))
    })
  })

  describe('what cannot be read', () => {
    test('in the log is put aside and kept, and the rest is opened', async () => {
      const lab = await openLab()
      const first = await join(lab.documents)
      await first.write('a')
      await lab.documents.close()
      await lab.tables((tx) =>
        tx
          .tables<DocumentTables>()
          .insertInto('crdt_updates')
          .values({
            tenant_id: tenantId,
            file_id: fileId,
            seq: 3,
            part: 0,
            bytes: Buffer.from('garbage'),
            writers: null,
            updates: 1,
            quarantined_at: null,
          })
          .execute(),
      )
      await lab.tables((tx) =>
        tx.tables<DocumentTables>().updateTable('crdt_documents').set({ last_seq: 3 }).execute(),
      )
      const documents = lab.process()
      const again = await join(documents)
      expect(again.editor.doc.getText('t').toString()).toBe('a')
      expect(lab.logged).toHaveLength(1)
      await again.write('b')
      again.leave()
      lab.clock.advance(2000)
      await documents.settled()
      const left = (await lab.rows('crdt_updates')) as { seq: number; quarantined_at: number | null }[]
      expect(left.map(({ seq, quarantined_at }) => [seq, quarantined_at !== null])).toEqual([[3, true]])
      expect((await join(documents)).editor.doc.getText('t').toString()).toBe('ab')
      expect(lab.logged).toHaveLength(1)
    })

    test('of a state gives way to the one before it, and is kept', async () => {
      const lab = await openLab()
      for (const letter of ['a', 'b']) {
        const { write, leave } = await join(lab.documents)
        await write(letter)
        leave()
        await unloaded(lab)
        lab.clock.advance(3_600_000)
      }
      await lab.tables((tx) =>
        tx
          .tables<DocumentTables>()
          .updateTable('crdt_snapshot_parts')
          .set({ bytes: Buffer.from('garbage') })
          .where('seq', '=', 3)
          .execute(),
      )
      const again = await join(lab.documents)
      expect(again.editor.doc.getText('t').toString()).toBe('a')
      await again.write('c')
      again.leave()
      await unloaded(lab)
      const snapshots = (await lab.rows('crdt_snapshots')) as { seq: number; quarantined_at: number | null }[]
      expect(snapshots.map(({ seq, quarantined_at }) => [seq, quarantined_at !== null])).toEqual([
        [2, false],
        [3, true],
        [4, false],
      ])
    })
  })

  describe('another process', () => {
    test('shows what is written here, and who is here', async () => {
      const lab = await openLab()
      const elsewhere = lab.process()
      const [here, there] = [await join(lab.documents), await join(elsewhere)]
      await here.write('a')
      await expect.poll(() => there.editor.doc.getText('t').toString()).toBe('a')
      await there.write('b')
      await expect.poll(() => here.editor.doc.getText('t').toString()).toBe('ab')
      here.session.awareness.take(here.editor, [{ client: 5, clock: 0, state: '{}' }])
      expect(there.editor.shown).toEqual(['5 0 {}'])
      const late = await join(lab.process())
      expect(late.session.awareness.entries).toEqual([{ client: 5, clock: 0, state: '{}' }])
      here.leave()
      expect(there.editor.shown).toEqual(['5 0 {}', '5 1 null'])
    })

    test('says nothing of a client that came back here', async () => {
      const lab = await openLab()
      const elsewhere = lab.process()
      const dead = await join(elsewhere, new Editor('alice.example'))
      const back = await join(lab.documents, new Editor('alice.example'))
      const watcher = await join(lab.documents)
      const entry = { client: 5, clock: 3, state: '{}' }
      dead.session.awareness.take(dead.editor, [entry])
      back.session.awareness.take(back.editor, [entry, { ...entry, clock: 4 }])
      dead.leave()
      expect(watcher.editor.shown).toEqual(['5 3 {}', '5 4 {}'])
      back.leave()
      expect(watcher.editor.shown).toEqual(['5 3 {}', '5 4 {}', '5 5 null'])
    })

    test('lets a client come back that others were told is gone', async () => {
      const lab = await openLab()
      const elsewhere = lab.process()
      const [left, watcher] = [await join(lab.documents), await join(lab.documents)]
      const entry = { client: 5, clock: 3, state: '{}' }
      left.session.awareness.take(left.editor, [entry])
      left.leave()
      const back = await join(elsewhere)
      // The process has just opened the document, and knows nothing of it.
      back.session.awareness.take(back.editor, [entry])
      expect(back.editor.shown).toEqual(['5 3 {}', '5 4 null'])
      expect(watcher.editor.shown).toEqual(['5 3 {}', '5 4 null'])
      back.session.awareness.take(back.editor, [{ ...entry, clock: 5 }])
      expect(watcher.editor.shown.at(-1)).toBe('5 5 {}')
    })

    test('that died is forgotten after 75 seconds, and one that lives is not', async () => {
      const lab = await openLab()
      const elsewhere = lab.process()
      const [here, there] = [await join(lab.documents), await join(elsewhere)]
      here.session.awareness.take(here.editor, [{ client: 5, clock: 0, state: '{}' }])
      lab.bus.publish(
        `crdt:${tenantId}:${fileId}`,
        JSON.stringify({ from: 'dead', states: [{ client: 6, clock: 3, state: '{}' }] }),
      )
      expect(there.editor.shown).toEqual(['5 0 {}', '6 3 {}'])
      for (let second = 0; second < 81; second += 3) {
        lab.clock.advance(3000)
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(there.editor.shown).toEqual(['5 0 {}', '6 3 {}', '6 4 null'])
    })

    test('that hears no hints reads the log when it writes itself, also what was compacted meanwhile', async () => {
      const lab = await openLab()
      const deaf = openLocalBus({ clock: lab.clock })
      const elsewhere = lab.process({ bus: deaf })
      const [here, there] = [await join(lab.documents), await join(elsewhere)]
      await here.write('a')
      await here.session.compact()
      await here.write('b')
      expect(there.editor.doc.getText('t').toString()).toBe('')
      await there.write('c')
      await expect.poll(() => there.editor.doc.getText('t').toString().length).toBe(3)
      here.session.lookAgain()
      await expect.poll(() => here.editor.doc.getText('t').toString().length).toBe(3)
    })

    test('that makes the document at the same time makes it once', async () => {
      const lab = await openLab()
      const others = [lab.documents, lab.process(), lab.process()]
      const joined = await Promise.all(others.map((documents) => join(documents)))
      for (const { editor } of joined) expect(editor.doc.getMap('meta').toJSON()).toEqual({ i: true })
      expect(await lab.rows('crdt_updates')).toHaveLength(1)
    })

    test('compacts at the same time as this one, and nothing is lost', async () => {
      const lab = await openLab()
      const elsewhere = lab.process()
      const [here, there] = [await join(lab.documents), await join(elsewhere)]
      for (let at = 0; at < 10; at += 1) {
        await Promise.all([here.write('x'), there.write('y')])
        await Promise.all([here.session.compact(), there.session.compact()])
      }
      await Promise.all([here.session.catchUp(), there.session.catchUp()])
      expect(here.editor.doc.getText('t').toString()).toBe(there.editor.doc.getText('t').toString())
      expect(await presentText(lab)).toHaveLength(20)
    })
  })

  describe('the history', () => {
    async function lived(lab: Lab, ...texts: string[]) {
      for (const text of texts) {
        const { write, leave } = await join(lab.documents, new Editor(`${text}.example`))
        await write(text)
        leave()
        await unloaded(lab)
        lab.clock.advance(3_600_000)
      }
    }
    const listed = (lab: Lab) => lab.contents.listSnapshots(lab.db.reader(tenantId), fileId)

    test('has a state for each hour, with who wrote, as bytes', async () => {
      const lab = await openLab()
      await lived(lab, 'a', 'b')
      expect(await listed(lab)).toMatchObject([
        { seq: 3, writers: ['b.example'] },
        { seq: 2, writers: ['a.example'] },
      ])
      const doc = new Y.Doc()
      for await (const piece of (await lab.contents.snapshot(tenantId, fileId, 2)) ?? [])
        Y.applyUpdate(doc, piece)
      expect(doc.getText('t').toString()).toBe('a')
      expect(await lab.contents.snapshot(tenantId, fileId, 1)).toBeUndefined()
    })

    test('is thinned by a job where nobody changes the document, and keeps who wrote', async () => {
      const lab = await openLab()
      await lived(lab, 'a', 'b', 'c')
      const runJobs = async () => {
        const jobs = openJobs({ db: lab.db, clock: lab.clock, logger: silentLogger, nodeId: 'lab' })
        addDocumentsSweep({ db: lab.db, clock: lab.clock, jobs })
        await jobs.start()
        await jobs.settle()
        await jobs.stop()
      }
      await runJobs()
      expect(await listed(lab)).toHaveLength(3)
      lab.clock.advance(26 * 3_600_000)
      await runJobs()
      expect(await listed(lab)).toMatchObject([{ seq: 4, writers: ['a.example', 'b.example', 'c.example'] }])
      expect(
        new Set((await lab.rows('crdt_snapshot_parts')).map(({ seq }: { seq?: number }) => seq)),
      ).toEqual(new Set([4]))
    })

    test('is restored as a change on top, which those who look at it see', async () => {
      const lab = await openLab()
      await lived(lab, 'a', 'b')
      const { editor } = await join(lab.documents)
      const by = 'carol.example' as IdTag
      expect(await lab.contents.restore({ tenantId, fileId, seq: 2, by, limits })).toBe(4)
      expect(editor.doc.getText('t').toString()).toBe('a')
      expect(await listed(lab)).toHaveLength(2)
      // What is read is compacted, and so a snapshot as well.
      expect(await presentText(lab)).toBe('a')
      expect(await listed(lab)).toHaveLength(3)
      await expect(lab.contents.restore({ tenantId, fileId, seq: 9, by, limits })).rejects.toMatchObject({
        code: 'E-NOTFOUND',
      })
    })

    test('and what is in it now have what was written a moment ago, while that is compacted', async () => {
      const lab = await openLab()
      const { write } = await join(lab.documents)
      for (let count = 1; count < 4; count += 1) {
        await write('x'.repeat(1024 ** 2))
        expect((await presentText(lab)).length).toBe(count * 1024 ** 2)
      }
    })

    test('is not given in part where it is thinned while somebody reads', async () => {
      const lab = await openLab()
      const { write, session } = await join(lab.documents)
      for (let count = 0; count < 3; count += 1) await write('x'.repeat(1024 ** 2))
      await session.compact()
      const reading = lab.contents.present(tenantId, fileId)[Symbol.asyncIterator]()
      expect((await reading.next()).done).toBe(false)
      await write('y')
      await session.compact()
      await expect(Array.fromAsync({ [Symbol.asyncIterator]: () => reading })).rejects.toThrow()
      expect((await presentText(lab)).length).toBe(3 * 1024 ** 2 + 1)
    })

    test('has what is larger than most documents, which is restored and copied', async () => {
      const lab = await openLab()
      const { editor, write, session } = await join(lab.documents)
      for (const letter of 'abcdefghijklmnopqrstuvwxyz') await write(letter.repeat(1024 ** 2))
      const text = editor.doc.getText('t')
      const former = `${text}`
      await session.compact()
      const [large] = await listed(lab)
      expect(large?.size).toBeGreaterThan(26 * 1024 ** 2)
      lab.clock.advance(3_600_000)
      text.delete(0, text.length)
      await session.submit(editor, Y.encodeStateAsUpdate(editor.doc, Y.encodeStateVector(editor.doc)))
      await session.compact()
      const seq = large?.seq ?? 0
      await lab.contents.restore({ tenantId, fileId, seq, by: undefined, limits })
      expect(`${text}` === former).toBe(true)
      const copy = 'f1~large' as FileId
      const bytes = await lab.contents.copyAhead({ tenantId, from: fileId, to: copy })
      await write('!')
      const { session: copied, giveBack } = await lab.process().take(tenantId, copy)
      const doc = new Y.Doc()
      Y.applyUpdate(doc, await copied.ask({ kind: 'state' }))
      expect(`${doc.getText('t')}` === former).toBe(true)
      expect(await copied.write(undefined, new Editor().type('?'))).toBe(true)
      giveBack()
      const parts = await lab.rows('crdt_snapshot_parts')
      const sum = parts.reduce(
        (all, { file_id, ...part }) => all + (file_id === copy && 'bytes' in part ? part.bytes.length : 0),
        0,
      )
      expect(sum).toBe(bytes)
    })

    test('is no part of a copy', async () => {
      const lab = await openLab()
      await lived(lab, 'a', 'b')
      const { write } = await join(lab.documents)
      await write('c')
      const copy = 'f1~copy' as FileId
      const bytes = await lab.tables((tx) => lab.contents.copy(tx, fileId, copy))
      expect(bytes).toBeGreaterThan(0)
      expect(await lab.contents.listSnapshots(lab.db.reader(tenantId), copy)).toMatchObject([{ writers: [] }])
      const doc = new Y.Doc()
      for await (const piece of lab.contents.present(tenantId, copy)) Y.applyUpdate(doc, piece)
      expect(doc.getText('t').toString()).toBe('abc')
      const ahead = 'f1~ahead' as FileId
      expect(await lab.contents.copyAhead({ tenantId, from: fileId, to: ahead })).toBeGreaterThan(0)
      expect(await lab.contents.listSnapshots(lab.db.reader(tenantId), ahead)).toMatchObject([
        { seq: 1, writers: [] },
      ])
      const never = 'f1~never' as FileId
      expect(await lab.tables((tx) => lab.contents.copy(tx, never, 'f1~copy2' as FileId))).toBe(0)
      expect(await Array.fromAsync(lab.contents.present(tenantId, never))).toEqual([])
    })
  })

  test('what is removed goes in portions, and nothing is appended to it any more', async () => {
    const lab = await openLab()
    const { write, editor } = await join(lab.documents)
    await write('x'.repeat(600_000))
    const remove = (limit: number) => lab.tables((tx) => lab.contents.remove(tx, [fileId], limit))
    expect(await remove(2)).toBe(false)
    await write('y')
    await expect.poll(() => editor.closes).toEqual(['failed'])
    while (!(await remove(2))) expect(await lab.rows('crdt_documents')).toEqual([])
    const tables = ['crdt_documents', 'crdt_updates', 'crdt_snapshots', 'crdt_snapshot_parts'] as const
    for (const table of tables) expect(await lab.rows(table)).toEqual([])
  })

  test('an update that ends the thread twice is refused, and those that came with it are stored', async () => {
    const lab = await openLab()
    const small = new DocumentThreads({ logger: silentLogger, limits: littleMemory })
    closers.push(() => small.close())
    const documents = lab.process({ threads: small })
    const { session, editor } = await join(documents)
    const other = await join(documents)
    const bomb = session.submit(editor, scattered(150_000))
    await Promise.all([bomb, other.write('b'), other.write('c')])
    expect([editor.mistakes, editor.closes, other.editor.closes]).toEqual([1, [], []])
    expect(await presentText(lab)).toBe('bc')
  })

  describe(`documents that take long (${open.dialect})`, () => {
    test('a document that ends the threads that open it rests for a minute', async () => {
      const lab = await openLab()
      const { editor, session } = await join(lab.documents)
      await session.submit(editor, scattered(150_000))
      const small = new DocumentThreads({ logger: silentLogger, limits: littleMemory })
      closers.push(() => small.close())
      const documents = lab.process({ threads: small })
      await expect(join(documents)).rejects.toThrow('cannot be opened')
      await expect(join(documents)).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
      lab.clock.advance(60_000)
      await expect(join(documents)).rejects.toThrow('cannot be opened')
    })

    describe('a document that takes long', () => {
      const plenty = { sharedMs: 60_000, applyMs: 60_000, openMs: 60_000 }
      const little = { ...plenty, sharedMs: 10, applyMs: 60 }

      function openThreads(limits: Partial<ThreadLimits>): DocumentThreads {
        const opened = new DocumentThreads({ logger: silentLogger, limits })
        closers.push(() => opened.close())
        return opened
      }

      test('refuses an update above the limit, stores what came with it, and others lose nothing', async () => {
        const lab = await openLab()
        const documents = lab.process({ threads: openThreads(little) })
        const taken = await documents.take(tenantId, 'f1~other' as FileId)
        const neighbour = new Editor()
        taken.session.join(neighbour)
        await taken.session.submit(neighbour, neighbour.type('kept'))
        const { session, editor } = await join(documents)
        const other = await join(documents)
        await session.submit(editor, crowdedUpdate)
        const slow = session.submit(editor, slowUpdate(2, 400))
        await Promise.all([slow, other.write('b'), other.write('c')])
        expect([editor.closes, editor.mistakes, other.editor.closes]).toEqual([['full'], 0, []])
        await taken.session.submit(neighbour, neighbour.type(', all of it'))
        expect(neighbour.closes).toEqual([])
        const doc = new Y.Doc()
        Y.applyUpdate(doc, await taken.session.ask({ kind: 'state' }))
        expect(doc.getText('t').toString()).toBe('kept, all of it')
        taken.giveBack()
        const present = await session.ask({ kind: 'state' })
        Y.applyUpdate(doc, present)
        expect(Y.decodeStateVector(Y.encodeStateVectorFromUpdate(present)).has(2)).toBe(false)
        expect(other.editor.doc.getText('t').toString()).toBe('bc')
      })

      // Of a processor: what the slow update takes is several times as long, on any machine.
      const fullAtMs = 20

      test('is full long before it cannot be opened', async () => {
        const lab = await openLab()
        const { session, editor, write } = await join(lab.process({ threads: openThreads(plenty), fullAtMs }))
        await session.submit(editor, crowdedUpdate)
        await session.submit(editor, slowUpdate(2, 200))
        await write('more')
        expect(editor.closes).toContain('full')
      })

      test('is full when it is opened again, and those who have what it has may stay', async () => {
        const lab = await openLab()
        const { session, editor } = await join(lab.process({ threads: openThreads(plenty) }))
        await session.submit(editor, crowdedUpdate)
        const removed = editor.type('removed')
        await session.submit(editor, removed)
        await session.submit(editor, slowUpdate(2, 200))
        expect(editor.closes).toEqual([])
        await session.compact()
        const [stored] = (await lab.rows('crdt_documents')) as { open_ms: number }[]
        expect(stored?.open_ms).toBeGreaterThan(fullAtMs)
        const late = await join(lab.process({ threads: openThreads(plenty), fullAtMs }))
        await late.session.submit(late.editor, await session.ask({ kind: 'state' }))
        await late.session.submit(late.editor, removed)
        expect(late.editor.closes).toEqual([])
        await late.write('more')
        expect(late.editor.closes).toEqual(['full'])
        expect((await join(lab.process())).editor.doc.getText('t').toString()).toBe('removed')
      })

      test('keeps its log when its state cannot be opened in time, and gets longer the next time', async () => {
        const lab = await openLab()
        const limits = { ...plenty, sharedMs: 10, openMs: 80 }
        const { session, editor, leave } = await join(lab.process({ threads: openThreads(limits) }))
        await session.submit(editor, crowdedUpdate)
        await session.submit(editor, slowUpdate(2, 500))
        await session.compact()
        expect(lab.logged).toHaveLength(1)
        expect([await lab.rows('crdt_snapshots'), (await lab.rows('crdt_updates')).length > 1]).toEqual([
          [],
          true,
        ])
        leave()
        const again = await join(lab.process({ threads: openThreads(limits) }))
        expect(again.editor.doc.getArray('list').length).toBe(5500)
      })

      test('that cannot be opened any more is restored, and what it was is kept', async () => {
        const lab = await openLab()
        const first = await join(lab.documents)
        await first.write('a')
        await first.session.compact()
        for (const update of [crowdedUpdate, slowUpdate(2, 400)])
          await first.session.submit(first.editor, update)
        const documents = lab.process({ threads: openThreads({ ...plenty, sharedMs: 10, openMs: 60 }) })
        await expect(join(documents)).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
        const contents = documentContents({ ...lab, documents })
        const by = 'carol.example' as IdTag
        const seq = await contents.restore({ tenantId, fileId, seq: 2, by, limits })
        expect((await contents.listSnapshots(lab.db.reader(tenantId), fileId)).at(0)).toMatchObject({
          ...{ seq, writers: [by] },
        })
        const { editor, write } = await join(documents)
        expect([editor.doc.getText('t').toString(), editor.doc.getArray('list').length]).toEqual(['a', 0])
        await write('b')
        const kept = (await lab.rows('crdt_updates')) as { quarantined_at: number | null }[]
        expect(kept.filter(({ quarantined_at }) => quarantined_at !== null).length).toBeGreaterThan(1)
        expect((await join(lab.process())).editor.doc.getText('t').toString()).toBe('ab')
      })
    })
  })

  test('an update over the quota is refused, and forgotten', async () => {
    const lab = await openLab()
    lab.usage.most = 100_000
    const { write, editor } = await join(lab.documents)
    const other = await join(lab.documents)
    await write('x'.repeat(200_000))
    expect(editor.closes).toEqual(['full'])
    await other.write('y')
    expect(other.editor.closes).toEqual([])
    expect(await presentText(lab)).toBe('y')
  })
})
