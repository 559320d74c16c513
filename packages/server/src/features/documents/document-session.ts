import type { IdTag, SocketClose } from '@kith/protocol'
import { AwarenessExchange, type ExchangeDeps } from './awareness-exchange.ts'
import { DocumentGone } from './document-log.ts'
import { ThreadDied } from './document-threads.ts'
import type { AtFile } from './documents-tables.ts'
import { updateFrame } from './frames.ts'
import type { OpenDocument, Taken } from './open-document.ts'

/** A client that looks at a document. */
export interface Participant {
  /** Undefined for guests. */
  readonly idTag: IdTag | undefined
  /** Shows it what has happened; `isAnswer`: it has a part in that itself. */
  send(frame: Uint8Array, isAnswer?: boolean): void
  /** What it sent cannot be read. */
  noteMistake(): void
  /** What it sent has changed the document. */
  noteWritten(): void
  close(why: SocketClose): void
}

interface Waiting {
  readonly from: Participant | undefined
  readonly writer: IdTag | undefined
  readonly bytes: Uint8Array
  /** How many threads died while they applied it, with others or alone. */
  deaths: number
  settle(outcome: 'done' | 'refused' | 'failed'): void
}

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

// What shares one commit.
const mostUpdates = 500
const mostBytes = 4 * 1024 ** 2
// An update during which so many threads died is refused.
const mostDeaths = 2

/** A document that is open in this process, with those who look at it. Everything that is done to it is done here, one thing
 * after the other; updates that come meanwhile share the next commit. */
export class DocumentSession {
  readonly awareness: AwarenessExchange<Participant>
  readonly #deps: SessionDeps
  readonly #document: OpenDocument
  readonly #channel: string
  // Bounded by the sockets.
  readonly #participants = new Set<Participant>()
  // Bound: what each connection may have under way (`document-connection.ts`).
  #waiting: Waiting[] = []
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

  /** Takes an update of a client; resolves when it is durable, or refused. */
  submit(from: Participant, bytes: Uint8Array): Promise<void> {
    return this.#submit({ from, writer: from.idTag, bytes }).then(() => undefined)
  }

  /** The same for what comes over HTTP; false where there is no room. */
  async write(writer: IdTag | undefined, bytes: Uint8Array): Promise<boolean> {
    const outcome = await this.#submit({ from: undefined, writer, bytes })
    if (outcome === 'failed') throw new Error('the document was not stored')
    return outcome === 'done'
  }

  /** Asks about the committed state. Undefined when what was sent cannot be read. */
  ask(request: { kind: 'diff'; stateVector: Uint8Array }): Promise<Uint8Array | undefined>
  ask(request: { kind: 'restore'; past: Uint8Array }): Promise<Uint8Array | undefined>
  ask(request: { kind: 'vector' | 'state' }): Promise<Uint8Array>
  ask(request: Parameters<OpenDocument['ask']>[0]): Promise<Uint8Array | undefined> {
    return this.#question(async () => {
      try {
        return (await this.#document.ask(request)) as Uint8Array | undefined
      } catch (error) {
        if (!(error instanceof ThreadDied)) throw error
        return (await this.#document.ask(request)) as Uint8Array | undefined
      }
    })
  }

  /** Another process may have written. */
  lookAgain(): void {
    this.#isBehind = true
    this.#work()
  }

  /** Resolves when everything is read that is committed now. */
  async catchUp(): Promise<void> {
    this.#isBehind = true
    await this.#question(async () => undefined)
  }

  /** Puts the state in the place of the log, if that has grown. */
  async compact(): Promise<void> {
    const isDone = await this.#question(async () =>
      this.#document.isCompactable ? await this.#document.startCompaction() : undefined,
    )
    await isDone?.finished
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    while (this.#working) await this.#working
    await this.#document.settled()
  }

  /** Nobody asks for anything any more. */
  async end(): Promise<void> {
    this.#isEnded = true
    this.#unsubscribe()
    await this.settled()
    this.#document.release()
  }

  #submit(sent: Pick<Waiting, 'from' | 'writer' | 'bytes'>): Promise<'done' | 'refused' | 'failed'> {
    if (this.#isEnded) return Promise.resolve('failed')
    const { promise, resolve } = Promise.withResolvers<'done' | 'refused' | 'failed'>()
    this.#waiting.push({ ...sent, deaths: 0, settle: resolve })
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
    return this.#waiting.length > 0 || this.#questions.length > 0 || (this.#isBehind && !this.#isEnded)
  }

  /** Updates and questions in turns: neither keeps the other waiting. */
  async #workAll(): Promise<void> {
    while (this.#hasWork) {
      if (this.#isBehind) await this.#readOthers()
      if (this.#waiting.length > 0) await this.#commit(this.#takeBatch())
      for (const question of this.#questions.splice(0)) await question.ask()
      if (this.#document.isDueForCompaction) await this.#document.startCompaction()
    }
  }

  #takeBatch(): Waiting[] {
    const [first] = this.#waiting
    // What may have ended a thread is tried alone.
    if (first && first.deaths > 0) return this.#waiting.splice(0, 1)
    let bytes = 0
    let count = 0
    for (const waiting of this.#waiting) {
      if (
        waiting.deaths > 0 ||
        count >= mostUpdates ||
        (count > 0 && bytes + waiting.bytes.length > mostBytes)
      )
        break
      bytes += waiting.bytes.length
      count += 1
    }
    return this.#waiting.splice(0, count)
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    let taken: Taken
    try {
      taken = await this.#document.take(batch)
    } catch (error) {
      if (!(error instanceof ThreadDied)) {
        for (const { settle } of batch) settle('failed')
        throw error
      }
      this.#putBack(batch, error.isSuspect)
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
      waiting.settle(outcome === 'new' || outcome === 'known' ? 'done' : 'refused')
    }
    for (const participant of written) participant.noteWritten()
    if (this.#document.isBehind) this.#isBehind = true
  }

  #putBack(batch: readonly Waiting[], isSuspect: boolean): void {
    const again: Waiting[] = []
    for (const waiting of batch) {
      if (isSuspect) waiting.deaths += 1
      if (waiting.deaths < mostDeaths || batch.length > 1) again.push(waiting)
      else {
        waiting.from?.noteMistake()
        waiting.settle('refused')
      }
    }
    this.#waiting = [...again, ...this.#waiting]
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

  /** The store failed: everybody connects anew, and syncs what was not stored. */
  #fail(error: unknown): void {
    if (!(error instanceof DocumentGone))
      this.#deps.logger.error({ err: error, channel: this.#channel }, 'a document could not be stored')
    this.#isEnded = true
    this.#isBehind = false
    this.#unsubscribe()
    this.#document.release()
    for (const { settle } of this.#waiting.splice(0)) settle('failed')
    for (const { reject } of this.#questions.splice(0)) reject(error)
    this.#onFailure(error)
    for (const participant of this.#participants) participant.close('failed')
  }
}
