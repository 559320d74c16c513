import { crdtLimits, type IdTag } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import type { DocumentLog } from '../log/document-log.ts'
import type { StoredDocument } from '../log/document-log-store.ts'
import { RequestFailed, ThreadDied } from '../threads/document-thread.ts'
import type { DocumentThreads } from '../threads/document-threads.ts'
import { isSlowToRead } from '../threads/thread-limits.ts'
import type { CompactState, UpdateOutcome } from '../threads/worker-messages.ts'
import { LoadedDocument, type LoadedDocumentDeps } from './loaded-document.ts'

export interface OpenDocumentDeps {
  readonly threads: DocumentThreads
  readonly logger: {
    warn(fields: object, message: string): void
    error(fields: object, message: string): void
  }
  /** A document is full when opening it takes longer, in milliseconds of processor time. */
  readonly fullAtMs?: number
}

export interface SentUpdate {
  readonly bytes: Uint8Array
  readonly writer: IdTag | undefined
  /** Made by this server, to restore a former state. */
  readonly isTrusted: boolean
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
// The processor time of updates after which a compaction measures again how long opening takes.
const workPerCompactionMs = 1000
// A quarter of the limit for opening.
const defaultFullAtMs = 5000
// Assumed for a document whose compacted state could not be opened.
const unmeasuredMs = 20_000

/** A document in a thread, together with its log. The caller awaits each operation before the next. */
export class OpenDocument {
  readonly #deps: OpenDocumentDeps
  readonly #log: DocumentLog
  readonly #loaded: LoadedDocument
  #stored: StoredDocument = { lastSeq: 0, stateBytes: 0, logBytes: 0, uncountedBytes: 0, openMs: 0 }
  /** Of the document in the thread, when it was opened or compacted. */
  #measuredMs = 0
  #hasUnsoundState = false
  #loggedUpdates = 0
  #seq = 0
  #compacting: Promise<void> | undefined

  constructor(deps: OpenDocumentDeps, log: DocumentLog, tenantId: TenantId) {
    this.#deps = deps
    this.#log = log
    const expectedMs = () => this.#stored.openMs
    const onLoaded: LoadedDocumentDeps['onLoaded'] = ({ seq, loggedUpdates, openMs }) => {
      this.#seq = seq
      this.#loggedUpdates = loggedUpdates
      this.#measuredMs = openMs
    }
    this.#loaded = new LoadedDocument({ ...deps, log, tenantId, expectedMs, onLoaded })
  }

  /** Everything up to this number is in it. */
  get seq(): number {
    return this.#seq
  }

  /** Has the log grown since the last compaction? */
  get isCompactable(): boolean {
    return this.#loggedUpdates > 0 && !this.#hasUnsoundState
  }

  get isDueForCompaction(): boolean {
    const { logBytes } = this.#stored
    const isLong =
      this.#loggedUpdates >= updatesPerCompaction ||
      logBytes >= bytesPerCompaction ||
      this.#loaded.openMs - this.#measuredMs >= workPerCompactionMs
    return isLong && this.isCompactable && !this.#compacting
  }

  /** Opens it, and makes it where it never was before. */
  async open(): Promise<void> {
    this.#stored = await this.#log.create()
    await this.#loaded.load()
  }

  /** Asks the thread. Throws `ThreadDied` when the thread died of this very request. */
  readonly ask: LoadedDocument['ask'] = (asked) => this.#loaded.ask(asked)

  /** Applies what clients sent; what is new is durable when it answers. Throws `ThreadDied`, and what the store throws. */
  async take(sent: readonly SentUpdate[]): Promise<Taken> {
    await this.#loaded.load()
    const updates = sent.map(({ bytes }) => bytes)
    if (isSlowToRead(updates.reduce((sum, { length }) => sum + length, 0))) this.#loaded.expectSlow()
    const isTrusted = sent.some((update) => update.isTrusted)
    const room = isTrusted ? Number.MAX_SAFE_INTEGER : this.#room
    const applied = await this.#loaded.ask({ kind: 'apply', updates, room, isTrusted })
    const { brokenAt, merged, outcomes } = applied
    if (brokenAt !== undefined) {
      this.#loaded.release()
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
    const { state, updates, upTo } = await this.#log.readAfter(this.#seq)
    const pieces = [...(state ? [state.bytes] : []), ...updates.map(({ bytes }) => bytes)]
    const { merged, brokenAt } =
      pieces.length > 0
        ? await this.#loaded.ask({
            ...{ kind: 'apply', updates: pieces, isTrusted: true },
            room: Number.MAX_SAFE_INTEGER,
          })
        : { merged: undefined, brokenAt: undefined }
    // Opening leaves out what cannot be applied.
    if (brokenAt !== undefined) this.#loaded.release()
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
    const state = await this.#compactState()
    if (!state) return { finished: Promise.resolve() }
    const seq = this.#seq
    const updates = this.#loggedUpdates
    this.#compacting = this.#compact({ ...state, seq }, updates).finally(() => {
      this.#compacting = undefined
    })
    return { finished: this.#compacting }
  }

  /** Drops it in the thread: the next request loads it again. */
  release(): void {
    this.#loaded.release()
  }

  async settled(): Promise<void> {
    await this.#compacting
  }

  /** Undefined when there is none that could take the place of the log. */
  async #compactState(): Promise<CompactState | undefined> {
    try {
      const compact = await this.#loaded.ask({ kind: 'compact' })
      if (compact.isSound) return compact
    } catch (error) {
      if (error instanceof ThreadDied) {
        if (!error.isSuspect) return undefined
        await this.#log.noteOpening(unmeasuredMs)
        this.#stored = { ...this.#stored, openMs: unmeasuredMs }
      } else if (!(error instanceof RequestFailed)) throw error
    }
    this.#hasUnsoundState = true
    this.#deps.logger.error(
      { seq: this.#seq },
      'the state of a document cannot be opened, and its log is kept',
    )
    return undefined
  }

  async #compact(compacted: CompactState & { readonly seq: number }, updates: number): Promise<void> {
    this.#loggedUpdates -= updates
    const { openMs } = compacted
    this.#loaded.measured(openMs)
    this.#measuredMs = openMs
    try {
      const stored = await this.#log.compact(compacted)
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
      this.#loaded.release()
      if (error instanceof Failure && error.code === 'E-QUOTA') return false
      throw error
    }
    this.#loggedUpdates += fresh.length
    if (this.#stored.lastSeq === this.#seq + 1) this.#seq += 1
    return true
  }

  /** What clients may add. A document that takes long to open is full: it has to be opened again. */
  get #room(): number {
    const { stateBytes, logBytes, openMs } = this.#stored
    const { fullAtMs = defaultFullAtMs } = this.#deps
    const isFull = Math.max(openMs, this.#loaded.openMs) > fullAtMs
    return isFull ? 0 : crdtLimits.documentBytes - stateBytes - logBytes
  }
}
