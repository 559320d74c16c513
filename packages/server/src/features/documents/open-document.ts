import { crdtLimits, type IdTag } from '@kith/protocol'
import { Failure } from '#lib/failure.ts'
import type { DocumentLog } from './document-log.ts'
import type { StoredDocument } from './document-log-store.ts'
import { type DocumentThreads, type HeldDocument, ThreadDied } from './document-threads.ts'
import type { EngineAnswers, UpdateOutcome } from './worker-messages.ts'

export interface OpenDocumentDeps {
  readonly threads: DocumentThreads
  readonly logger: {
    warn(fields: object, message: string): void
    error(fields: object, message: string): void
  }
}

export interface SentUpdate {
  readonly bytes: Uint8Array
  readonly writer: IdTag | undefined
}

/** What became of updates that clients sent. */
export interface Taken {
  readonly outcomes: readonly UpdateOutcome[]
  /** What is new, as one; it is durable. */
  readonly merged: Uint8Array | undefined
}

// docs/protocol/realtime.md, `/ws/crdt`.
const updatesPerCompaction = 500
const bytesPerCompaction = 1024 ** 2
// A thread that dies while it opens a document may have died of another.
const mostOpenings = 2

/** Threads died again and again while they opened the document. */
export class CannotOpen extends Error {
  constructor(cause: ThreadDied) {
    super('the document cannot be opened', { cause })
    this.name = 'CannotOpen'
  }
}

/** A document in a thread, together with its log. One thing after the other: who calls waits for the answer. */
export class OpenDocument {
  readonly #deps: OpenDocumentDeps
  readonly #log: DocumentLog
  #held: HeldDocument | undefined
  #stored: StoredDocument = { lastSeq: 0, stateBytes: 0, logBytes: 0, uncountedBytes: 0 }
  #loggedUpdates = 0
  #seq = 0
  #compacting: Promise<void> | undefined

  constructor(deps: OpenDocumentDeps, log: DocumentLog) {
    this.#deps = deps
    this.#log = log
  }

  /** Everything up to this number is in it. */
  get seq(): number {
    return this.#seq
  }

  /** Has the log grown since the last compaction? */
  get isCompactable(): boolean {
    return this.#loggedUpdates > 0
  }

  get isDueForCompaction(): boolean {
    const { logBytes } = this.#stored
    const isLong = this.#loggedUpdates >= updatesPerCompaction || logBytes >= bytesPerCompaction
    return isLong && !this.#compacting
  }

  /** Opens it, and makes it where it never was before. */
  async open(): Promise<void> {
    this.#stored = await this.#log.create()
    await this.#get()
  }

  /** Throws `ThreadDied`. */
  async ask<Kind extends 'diff' | 'vector' | 'state' | 'restore'>(
    request: { readonly kind: Kind } & Parameters<HeldDocument['ask']>[0],
  ): Promise<EngineAnswers[Kind]> {
    const held = await this.#get()
    return (await held.ask(request)) as EngineAnswers[Kind]
  }

  /** Applies what clients sent; what is new is durable when it answers. Throws `ThreadDied`, and what the store throws. */
  async take(sent: readonly SentUpdate[]): Promise<Taken> {
    const held = await this.#get()
    const room = crdtLimits.documentBytes - this.#stored.stateBytes - this.#stored.logBytes
    const updates = sent.map(({ bytes }) => bytes)
    const applied = await held.ask({ kind: 'apply', updates, room })
    const { brokenAt, merged, outcomes } = applied
    if (brokenAt !== undefined) {
      this.release()
      const rest = await this.take(sent.toSpliced(brokenAt, 1))
      return { ...rest, outcomes: rest.outcomes.toSpliced(brokenAt, 0, 'malformed') }
    }
    if (!merged) return { outcomes, merged }
    const fresh = sent.filter((_, at) => outcomes[at] === 'new')
    const isStored = await this.#append(merged, fresh)
    if (isStored) return { outcomes, merged }
    const refused = outcomes.map((outcome) => (outcome === 'new' ? 'full' : outcome))
    return { outcomes: refused, merged: undefined }
  }

  /** Reads what other processes wrote; answers what is new in it. */
  async catchUp(): Promise<Uint8Array | undefined> {
    const held = await this.#get()
    const { state, updates, upTo } = await this.#log.readAfter(this.#seq)
    const pieces = [...(state ? [state.bytes] : []), ...updates.map(({ bytes }) => bytes)]
    const { merged, brokenAt } =
      pieces.length > 0
        ? await held.ask({ kind: 'apply', updates: pieces, room: Number.MAX_SAFE_INTEGER })
        : { merged: undefined, brokenAt: undefined }
    // Opening leaves out what cannot be applied.
    if (brokenAt !== undefined) this.release()
    this.#seq = Math.max(this.#seq, upTo)
    this.#loggedUpdates += updates.reduce((sum, update) => sum + update.updates, 0)
    return merged
  }

  /** Has another process written meanwhile? */
  get isBehind(): boolean {
    return this.#stored.lastSeq > this.#seq
  }

  /** Puts the state in the place of the log; resolves when that is durable, or has failed. What comes meanwhile is not
   * kept waiting, but while the state is made. */
  async startCompaction(): Promise<{ readonly finished: Promise<void> }> {
    const state = await this.ask({ kind: 'state' })
    const seq = this.#seq
    const updates = this.#loggedUpdates
    this.#compacting = this.#compact(state, seq, updates).finally(() => {
      this.#compacting = undefined
    })
    return { finished: this.#compacting }
  }

  /** Lets the thread forget it. Asked again it is opened anew. */
  release(): void {
    this.#held?.release()
    this.#held = undefined
  }

  async settled(): Promise<void> {
    await this.#compacting
  }

  async #compact(state: Uint8Array, seq: number, updates: number): Promise<void> {
    this.#loggedUpdates -= updates
    try {
      const stored = await this.#log.compact(state, seq)
      if (stored) this.#stored = { ...stored, lastSeq: Math.max(stored.lastSeq, this.#stored.lastSeq) }
      if (stored && stored.uncountedBytes > 0) await this.#count()
    } catch (error) {
      this.#deps.logger.error({ err: error }, 'a document could not be compacted')
    }
  }

  async #count(): Promise<void> {
    try {
      await this.#log.count()
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'E-QUOTA')) throw error
    }
  }

  /** False when there is no room for it in the quota. */
  async #append(merged: Uint8Array, fresh: readonly SentUpdate[]): Promise<boolean> {
    const writers = [...new Set(fresh.flatMap(({ writer }) => writer ?? []))]
    try {
      this.#stored = await this.#log.append({ bytes: merged, updates: fresh.length, writers })
    } catch (error) {
      // What is in memory is not in the log.
      this.release()
      if (error instanceof Failure && error.code === 'E-QUOTA') return false
      throw error
    }
    this.#loggedUpdates += fresh.length
    if (this.#stored.lastSeq === this.#seq + 1) this.#seq += 1
    return true
  }

  async #get(): Promise<HeldDocument> {
    for (let opening = 1; !this.#held?.isAlive; opening += 1)
      try {
        await this.#load()
      } catch (error) {
        if (!(error instanceof ThreadDied)) throw error
        if (opening >= (error.isSuspect ? mostOpenings : 2 * mostOpenings)) throw new CannotOpen(error)
      }
    return this.#held
  }

  async #load(): Promise<void> {
    this.release()
    const { state, updates, upTo } = await this.#log.readAfter(-1)
    const pieces = [...(state ? [state] : []), ...updates]
    const { held, damaged } = await this.#deps.threads.open(pieces.map(({ bytes }) => bytes))
    if (damaged.length > 0) {
      const isStateDamaged = state !== undefined && damaged.includes(0)
      const seqs = damaged.flatMap((at) => (isStateDamaged && at === 0 ? [] : (pieces[at]?.seq ?? [])))
      this.#deps.logger.error(
        { seqs, isStateDamaged },
        'parts of a document cannot be read, and were put aside',
      )
      await this.#log.quarantine(seqs, isStateDamaged ? state.seq : undefined)
      if (isStateDamaged) {
        held.release()
        return await this.#load()
      }
    }
    this.#held = held
    this.#seq = upTo
    this.#loggedUpdates = updates.reduce((sum, update) => sum + update.updates, 0)
  }
}
