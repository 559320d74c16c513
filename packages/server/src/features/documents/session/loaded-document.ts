import type { TenantId } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import type { DocumentLog } from '../log/document-log.ts'
import { ThreadDied } from '../threads/document-thread.ts'
import type { DocumentThreads } from '../threads/document-threads.ts'
import type { HeldDocument } from '../threads/held-document.ts'
import type { EngineAnswers } from '../threads/worker-messages.ts'

export interface LoadedDocumentDeps {
  readonly threads: DocumentThreads
  readonly logger: { error(fields: object, message: string): void }
  readonly log: DocumentLog
  readonly tenantId: TenantId
  /** The processor time that opening took before, in milliseconds. */
  readonly expectedMs: () => number
  /** Called after each loading, before the document is used. */
  readonly onLoaded: (loaded: Loaded) => void
}

interface Loaded {
  /** The last update that it contains. */
  readonly seq: number
  /** Updates behind the newest snapshot. */
  readonly loggedUpdates: number
  /** Processor time in milliseconds. */
  readonly openMs: number
}

// A thread that dies while it opens a document may have run out of memory because of other documents.
const mostOpenings = 2
// For deaths that other documents caused.
const mostAttempts = 10

/** Threads died again and again while they opened the document, or it took too long. */
export class CannotOpen extends Failure {
  constructor(cause: unknown) {
    super('E-UNAVAILABLE', { message: 'The document cannot be opened now.', cause })
    this.name = 'CannotOpen'
  }
}

/** A document loaded from its log into a thread, and loaded again when the thread died or it was released. */
export class LoadedDocument {
  readonly #deps: LoadedDocumentDeps
  #held: HeldDocument | undefined
  /** Set when it has used more than its share of a thread. */
  #isSlow = false

  constructor(deps: LoadedDocumentDeps) {
    this.#deps = deps
  }

  /** The estimated processor time of opening it, in milliseconds; 0 while it is not loaded. */
  get openMs(): number {
    return this.#held?.openMs ?? 0
  }

  /** A compaction measured how long opening takes. */
  measured(openMs: number): void {
    if (this.#held) this.#held.openMs = openMs
  }

  /** The next request is expected to take longer than a shared thread allows. */
  expectSlow(): void {
    this.#isSlow = true
  }

  /** Throws `ThreadDied` when the thread died of this very request. */
  async ask<Asked extends Parameters<HeldDocument['ask']>[0]>(
    asked: Asked,
  ): Promise<EngineAnswers[Asked['kind']]> {
    for (let attempt = 1; ; attempt += 1) {
      const held = await this.load()
      try {
        return await held.ask(asked)
      } catch (error) {
        if (!(error instanceof ThreadDied) || attempt >= mostAttempts) throw error
        if (error.isSuspect && error.wasSlow) throw error
        // Where others wait for it, it had less time and memory.
        this.#isSlow ||= error.isSuspect
      }
    }
  }

  /** Drops it in the thread: the next request loads it again. */
  release(): void {
    this.#held?.release()
    this.#held = undefined
  }

  /** Loads it where it is not loaded. Throws `CannotOpen`. */
  async load(): Promise<HeldDocument> {
    if (this.#held && !this.#held.isSlow && (this.#isSlow || this.#held.isToMove)) {
      this.#isSlow = true
      this.release()
    }
    for (let opening = 1; !this.#held?.isAlive; opening += 1)
      try {
        await this.#loadOnce()
      } catch (error) {
        if (!(error instanceof ThreadDied)) throw error
        const isHere = error.isSuspect && error.wasSlow
        this.#isSlow ||= error.isSuspect
        if ((isHere && error.isTooLong) || opening >= (isHere ? mostOpenings : mostAttempts))
          throw new CannotOpen(error)
      }
    return this.#held
  }

  async #loadOnce(): Promise<void> {
    this.release()
    const { state, updates, upTo } = await this.#deps.log.readAfter(-1)
    const pieces = [...(state ? [state] : []), ...updates]
    const { held, damaged } = await this.#deps.threads.open({
      tenantId: this.#deps.tenantId,
      pieces: pieces.map(({ bytes }) => bytes),
      expectedMs: this.#deps.expectedMs(),
      isSlow: this.#isSlow,
    })
    if (damaged.length > 0) {
      const isStateDamaged = state !== undefined && damaged.includes(0)
      const seqs = damaged.flatMap((at) => (isStateDamaged && at === 0 ? [] : (pieces[at]?.seq ?? [])))
      this.#deps.logger.error(
        { seqs, isStateDamaged },
        'parts of a document cannot be read, and were put aside',
      )
      await this.#deps.log.quarantine(seqs, isStateDamaged ? state.seq : undefined)
      if (isStateDamaged) {
        held.release()
        return await this.#loadOnce()
      }
    }
    this.#held = held
    const loggedUpdates = updates.reduce((sum, update) => sum + update.updates, 0)
    this.#deps.onLoaded({ seq: upTo, loggedUpdates, openMs: held.openMs })
  }
}
