import type { IdTag } from '@kith/protocol'
import { AwarenessExchange, type ExchangeDeps } from '../awareness/awareness-exchange.ts'
import type { AtFile } from '../documents-tables.ts'
import { DocumentGone } from '../log/document-log.ts'
import { updateFrame } from '../socket/frames.ts'
import { ThreadDied } from '../threads/document-thread.ts'
import type { OpenDocument, Taken } from './open-document.ts'
import type { Participant } from './participant.ts'
import { type PendingUpdate, PendingUpdates, type SubmitOutcome } from './pending-updates.ts'

interface Question {
  ask(): Promise<void>
  reject(error: unknown): void
}

export interface SessionDeps extends ExchangeDeps {
  readonly logger: {
    warn(fields: object, message: string): void
    error(fields: object, message: string): void
  }
}

/** A document that is open in this process, and its participants. All operations on it are serialised here; updates that
 * arrive meanwhile share the next commit. */
export class DocumentSession {
  readonly awareness: AwarenessExchange<Participant>
  readonly #deps: SessionDeps
  readonly #document: OpenDocument
  readonly #channel: string
  // Bounded by the sockets.
  readonly #participants = new Set<Participant>()
  readonly #pending = new PendingUpdates()
  // One for each connection at most, and one for each request over HTTP.
  readonly #questions: Question[] = []
  readonly #unsubscribe: () => void
  #isBehind = false
  #isEnded = false
  #working: Promise<void> | undefined
  #onFailure: (error: unknown) => void

  constructor(
    deps: SessionDeps,
    at: AtFile,
    { document, onFailure }: { document: OpenDocument; onFailure: (error: unknown) => void },
  ) {
    this.#deps = deps
    this.#document = document
    this.#onFailure = onFailure
    this.#channel = `crdt:${at.tenantId}:${at.fileId}`
    this.awareness = new AwarenessExchange(deps, this.#channel, (frame) => this.#tellAll(frame))
    this.#unsubscribe = deps.bus.subscribe(this.#channel, {
      onMessage: (message) => this.#hear(message),
      onGap: () => this.lookAgain(),
    })
  }

  get participants(): number {
    return this.#participants.size
  }

  get seq(): number {
    return this.#document.seq
  }

  join(participant: Participant): void {
    this.#participants.add(participant)
  }

  leave(participant: Participant): void {
    if (this.#participants.delete(participant)) this.awareness.leave(participant)
  }

  /** Takes an update of a client; resolves when it is durable, or refused. Answers whether it was new. */
  async submit(from: Participant, bytes: Uint8Array): Promise<boolean> {
    return (await this.#submit({ from, writer: from.idTag, bytes, isTrusted: false })) === 'new'
  }

  /** The same for a change that was made here, which is bounded by the quota alone; false where that has no room. */
  async write(writer: IdTag | undefined, bytes: Uint8Array): Promise<boolean> {
    const outcome = await this.#submit({ from: undefined, writer, bytes, isTrusted: true })
    if (outcome === 'failed') throw new Error('the document was not stored')
    return outcome !== 'refused'
  }

  /** Asks about the committed state. Undefined when what was sent cannot be read. */
  ask(request: { kind: 'diff'; stateVector: Uint8Array }): Promise<readonly Uint8Array[] | undefined>
  ask(request: { kind: 'restore'; past: Uint8Array }): Promise<Uint8Array | undefined>
  ask(request: { kind: 'vector' | 'state' }): Promise<Uint8Array>
  ask(request: Parameters<OpenDocument['ask']>[0]): Promise<Uint8Array | readonly Uint8Array[] | undefined> {
    return this.#question(
      () => this.#document.ask(request) as Promise<Uint8Array | readonly Uint8Array[] | undefined>,
    )
  }

  /** Has the log read again: another process may have written. */
  lookAgain(): void {
    this.#isBehind = true
    this.#work()
  }

  /** Resolves when everything that is committed now was read. */
  async catchUp(): Promise<void> {
    this.#isBehind = true
    await this.#question(async () => undefined)
  }

  /** Compacts the log, if it has grown; resolves when that is durable, or has failed. */
  async compact(): Promise<void> {
    const isDone = await this.#question(async () =>
      this.#document.isCompactable ? await this.#document.startCompaction() : undefined,
    )
    // One that had begun before has all that was committed then.
    await (isDone ? isDone.finished : this.#document.settled())
  }

  /** Resolves when the queues are empty. */
  async settled(): Promise<void> {
    while (this.#working) await this.#working
    await this.#document.settled()
  }

  /** Ends a session that has no users left. */
  async end(): Promise<void> {
    this.#isEnded = true
    this.#unsubscribe()
    await this.settled()
    this.#document.release()
  }

  /** The document was replaced by another state: all clients have to reconnect. */
  drop(): void {
    this.#fail(new DocumentGone())
  }

  #submit(sent: Omit<PendingUpdate, 'deaths' | 'settle'>): Promise<SubmitOutcome> {
    if (this.#isEnded) return Promise.resolve('failed')
    const { promise, resolve } = Promise.withResolvers<SubmitOutcome>()
    this.#pending.add({ ...sent, settle: resolve })
    this.#work()
    return promise
  }

  #question<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    if (this.#isEnded) return Promise.reject(new DocumentGone())
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    this.#questions.push({ ask: () => ask().then(resolve, reject), reject })
    this.#work()
    return promise
  }

  #work(): void {
    if (this.#isEnded && !this.#hasWork) return
    this.#working ??= this.#workAll()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#working = undefined
        if (this.#hasWork) this.#work()
      })
  }

  get #hasWork(): boolean {
    return this.#pending.size > 0 || this.#questions.length > 0 || (this.#isBehind && !this.#isEnded)
  }

  /** Updates and questions alternate, so that neither delays the other for long. */
  async #workAll(): Promise<void> {
    while (this.#hasWork) {
      if (this.#isBehind) await this.#readOthers()
      if (this.#pending.size > 0) await this.#commit(this.#pending.take())
      for (const question of this.#questions.splice(0)) await question.ask()
      if (this.#document.isDueForCompaction) await this.#document.startCompaction()
    }
  }

  async #commit(batch: readonly PendingUpdate[]): Promise<void> {
    let taken: Taken
    try {
      taken = await this.#document.take(batch)
    } catch (error) {
      if (!(error instanceof ThreadDied)) {
        for (const { settle } of batch) settle('failed')
        throw error
      }
      this.#pending.putBack(batch, error)
      return
    }
    const { merged, outcomes } = taken
    const written = new Set<Participant>()
    for (const [at, { from }] of batch.entries()) if (from && outcomes[at] === 'new') written.add(from)
    if (merged) {
      this.#tellAll(updateFrame(merged), written)
      this.#deps.bus.publish(this.#channel, this.awareness.message({ seq: this.#document.seq }))
    }
    for (const [at, waiting] of batch.entries()) {
      const outcome = outcomes[at]
      if (outcome === 'malformed') waiting.from?.noteMistake()
      if (outcome === 'full') waiting.from?.close('full')
      waiting.settle(outcome === 'new' || outcome === 'known' ? outcome : 'refused')
    }
    for (const participant of written) participant.noteWritten()
    if (this.#document.isBehind) this.#isBehind = true
  }

  async #readOthers(): Promise<void> {
    this.#isBehind = false
    const merged = await this.#document.catchUp()
    if (merged) this.#tellAll(updateFrame(merged))
  }

  #hear(message: string): void {
    const heard = this.awareness.hear(message)
    if (heard.seq !== undefined && heard.seq > this.#document.seq) this.lookAgain()
  }

  #tellAll(frame: Uint8Array, written?: ReadonlySet<Participant>): void {
    for (const participant of this.#participants) participant.send(frame, written?.has(participant))
  }

  /** After a failure of the store all clients reconnect, and sync what was not stored. */
  #fail(error: unknown): void {
    if (!(error instanceof DocumentGone))
      this.#deps.logger.error({ err: error, channel: this.#channel }, 'a document could not be stored')
    this.#isEnded = true
    this.#isBehind = false
    this.#unsubscribe()
    this.#document.release()
    for (const { settle } of this.#pending.takeAll()) settle('failed')
    for (const { reject } of this.#questions.splice(0)) reject(error)
    this.#onFailure(error)
    for (const participant of this.#participants) participant.close('failed')
  }
}
