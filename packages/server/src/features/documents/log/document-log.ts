import type { FileId, IdTag } from '@kith/protocol'
import type { StorageLimits } from '#features/files/index.ts'
import type { Database, Reader, TenantId, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import {
  findNewestSnapshot,
  insertSnapshot,
  listSnapshots,
  readSnapshot,
  SnapshotGone,
  updateSnapshot,
} from '../history/snapshot-store.ts'
import { thinStoredHistory } from '../history/thin-history.ts'
import {
  appendUpdate,
  deleteUpdates,
  findDocument,
  insertDocument,
  joined,
  type LoggedUpdate,
  listLogWriters,
  listUpdates,
  lockDocument,
  type NewUpdate,
  quarantineUpdates,
  type StoredDocument,
  sumUpdates,
  updateDocument,
} from './document-log-store.ts'
import { firstUpdate } from './first-update.ts'

export interface LogDeps {
  readonly db: Database
  readonly clock: Clock
  limitsOf(tenantId: TenantId): Promise<StorageLimits>
  countContent(
    tx: Writer,
    counted: {
      readonly fileId: FileId
      readonly bytes: number
      readonly limits: StorageLimits
      readonly now: number
    },
  ): Promise<void>
}

/** What a document is made of. */
export interface DocumentPieces {
  /** The newest snapshot, where it is needed. */
  readonly state: { readonly seq: number; readonly bytes: Uint8Array } | undefined
  /** The updates after it. */
  readonly updates: readonly LoggedUpdate[]
  /** The last number that was read. */
  readonly upTo: number
}

/** A compacted state that was opened to check it. */
interface CompactedState {
  readonly state: Uint8Array
  /** How long the opening took, in milliseconds of processor time. */
  readonly openMs: number
  /** The last update that it contains. */
  readonly seq: number
}

/** The document was removed. */
export class DocumentGone extends Error {}

// Stored bytes are added to the quota in portions: the transaction of each update would write three tables.
const countEveryBytes = 64 * 1024
// Another process may compact between two reads.
const mostTries = 10
const rowLocks = { isolation: 'read-committed' } as const

/** The log of one document, which is the truth about it. */
export class DocumentLog {
  readonly #deps: LogDeps
  readonly #tenantId: TenantId
  readonly #fileId: FileId

  constructor(deps: LogDeps, tenantId: TenantId, fileId: FileId) {
    this.#deps = deps
    this.#tenantId = tenantId
    this.#fileId = fileId
  }

  /** Makes the document when it was never opened before. */
  async create(): Promise<StoredDocument> {
    const found = await findDocument(this.#reader, this.#fileId)
    if (found) return found
    return await this.#transact(async (tx) => {
      const isNew = await insertDocument(tx, this.#fileId)
      if (isNew) await appendUpdate(tx, this.#fileId, { bytes: firstUpdate, updates: 1, writers: [] })
      return await this.#get(tx)
    })
  }

  /** What came after a number: updates, or a state and updates when they were compacted already. With -1 always a state. */
  async readAfter(seq: number): Promise<DocumentPieces> {
    for (let attempt = 0; attempt < mostTries; attempt += 1) {
      const { lastSeq } = await this.#get(this.#reader)
      const known = seq < 0 ? undefined : await this.#updatesAfter(seq, lastSeq)
      if (known) return { state: undefined, ...known }
      const newest = await findNewestSnapshot(this.#reader, this.#fileId)
      const isLastTry = attempt === mostTries - 1
      const { pieces, isWhole } = await this.#readSnapshot(newest)
      const updates = await this.#updatesAfter(newest ?? 0, lastSeq, isLastTry)
      if (!updates || !(isWhole || isLastTry)) continue
      return { state: newest === undefined ? undefined : { seq: newest, bytes: joined(pieces) }, ...updates }
    }
    throw new Error('the log of a document has gaps')
  }

  /** What there is of a snapshot. */
  async #readSnapshot(seq: number | undefined) {
    const pieces: Uint8Array[] = []
    if (seq === undefined) return { pieces, isWhole: true }
    try {
      for await (const piece of readSnapshot(this.#reader, this.#fileId, seq)) pieces.push(piece)
      return { pieces, isWhole: true }
    } catch (error) {
      if (!(error instanceof SnapshotGone)) throw error
      return { pieces, isWhole: false }
    }
  }

  /** Undefined when some of them are not in the log any more. */
  async #updatesAfter(
    seq: number,
    lastSeq: number,
    isIncomplete = false,
  ): Promise<Omit<DocumentPieces, 'state'> | undefined> {
    const updates = await listUpdates(this.#reader, this.#fileId, seq)
    const isWhole =
      updates.every((update, at) => update.seq === seq + 1 + at) && seq + updates.length >= lastSeq
    if (!isWhole && !isIncomplete) return undefined
    return {
      updates: updates.filter(({ isQuarantined }) => !isQuarantined),
      upTo: Math.max(seq, updates.at(-1)?.seq ?? 0),
    }
  }

  /** Durable when it answers. Throws `E-QUOTA`, and `DocumentGone`. */
  async append(update: NewUpdate): Promise<StoredDocument> {
    const limits = await this.#deps.limitsOf(this.#tenantId)
    return await this.#transact(async (tx) => {
      const stored = await appendUpdate(tx, this.#fileId, update)
      if (!stored) throw new DocumentGone()
      if (stored.uncountedBytes >= countEveryBytes) await this.#count(tx, stored.uncountedBytes, limits)
      return stored
    })
  }

  /** Puts a state that has everything up to a number in the place of those updates; undefined when another process has done
   * so. What is over the quota is stored all the same: it is smaller than what it replaces. */
  async compact({ state, openMs, seq }: CompactedState): Promise<StoredDocument | undefined> {
    const limits = await this.#deps.limitsOf(this.#tenantId)
    return await this.#transact(async (tx) => {
      const stored = await lockDocument(tx, this.#fileId)
      const [newest] = stored ? await listSnapshots(tx, this.#fileId) : []
      if (!stored || (newest && newest.seq >= seq)) return undefined
      const writers = await listLogWriters(tx, this.#fileId, seq)
      await insertSnapshot(tx, this.#fileId, { seq, createdAt: this.#now, writers, state })
      await deleteUpdates(tx, this.#fileId, seq)
      const logBytes = await sumUpdates(tx, this.#fileId, seq)
      const counted = stored.stateBytes + stored.logBytes - stored.uncountedBytes
      const grown = state.length + logBytes - counted
      if (grown < 0) await this.#count(tx, grown, limits)
      const uncountedBytes = Math.max(0, grown)
      await updateDocument(tx, this.#fileId, { stateBytes: state.length, logBytes, uncountedBytes, openMs })
      await thinStoredHistory(tx, this.#fileId, this.#now)
      return await this.#get(tx)
    })
  }

  /** Replaces the log of a document that cannot be opened by a former state. The updates after the newest snapshot are kept
   * aside. Answers the number of the new state. */
  async replace(state: Uint8Array, by: IdTag | undefined): Promise<number> {
    return await this.#transact(async (tx) => {
      const stored = await lockDocument(tx, this.#fileId)
      if (!stored) throw new DocumentGone()
      const after = (await findNewestSnapshot(tx, this.#fileId)) ?? 0
      await quarantineUpdates(tx, this.#fileId, { after, now: this.#now })
      const seq = stored.lastSeq + 1
      await insertSnapshot(tx, this.#fileId, { seq, createdAt: this.#now, writers: by ? [by] : [], state })
      const counted = stored.stateBytes + stored.logBytes - stored.uncountedBytes
      await updateDocument(tx, this.#fileId, {
        ...{ lastSeq: seq, stateBytes: state.length, logBytes: 0, openMs: 0 },
        uncountedBytes: state.length - counted,
      })
      return seq
    })
  }

  /** Stores how long opening takes, where no compaction measured it. */
  async noteOpening(openMs: number): Promise<void> {
    await this.#transact((tx) => updateDocument(tx, this.#fileId, { openMs }))
  }

  /** Adds stored bytes that are not counted yet to the quota. */
  async count(): Promise<void> {
    const limits = await this.#deps.limitsOf(this.#tenantId)
    await this.#transact(async (tx) => {
      const stored = await lockDocument(tx, this.#fileId)
      if (stored && stored.uncountedBytes !== 0) await this.#count(tx, stored.uncountedBytes, limits)
    })
  }

  /** Keeps unreadable updates aside, and the state with the number `stateSeq`. */
  async quarantine(seqs: readonly number[], stateSeq: number | undefined): Promise<void> {
    const now = this.#now
    await this.#transact(async (tx) => {
      await lockDocument(tx, this.#fileId)
      if (seqs.length > 0) await quarantineUpdates(tx, this.#fileId, { seqs, now })
      if (stateSeq !== undefined)
        await updateSnapshot(tx, this.#fileId, { seq: stateSeq, quarantinedAt: now })
    })
  }

  async #count(tx: Writer, bytes: number, limits: StorageLimits): Promise<void> {
    await this.#deps.countContent(tx, { fileId: this.#fileId, bytes, limits, now: this.#now })
    await updateDocument(tx, this.#fileId, { uncountedBytes: 0 })
  }

  async #get(reader: Reader): Promise<StoredDocument> {
    const found = await findDocument(reader, this.#fileId)
    if (!found) throw new DocumentGone()
    return found
  }

  get #reader(): Reader {
    return this.#deps.db.reader(this.#tenantId)
  }

  get #now(): number {
    return nowSecs(this.#deps.clock)
  }

  #transact<Result>(work: (tx: Writer) => Promise<Result>): Promise<Result> {
    return this.#deps.db.transact(this.#tenantId, work, rowLocks)
  }
}
