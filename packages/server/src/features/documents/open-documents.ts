import type { FileId } from '@kith/protocol'
import type { NodeBus } from '#infra/bus/index.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import { Failure } from '#lib/failure.ts'
import { newNodeName } from './awareness-exchange.ts'
import { DocumentLog, type LogDeps } from './document-log.ts'
import { listLastSeqs } from './document-log-store.ts'
import { DocumentSession } from './document-session.ts'
import { DocumentThreads } from './document-threads.ts'
import { CannotOpen, OpenDocument } from './open-document.ts'

export interface DocumentsDeps extends LogDeps {
  readonly bus: NodeBus
  readonly logger: Logger
  /** Those of another, which closes them; its own otherwise. */
  readonly threads?: DocumentThreads
}

// docs/protocol/realtime.md, `/ws/crdt`.
const idleMs = 2000
// Between hints, and instead of them where processes do not hear each other.
const lookEveryMs = 3000
const repeatEveryMs = 25_000
// Of documents that end threads: others in the same thread have to be opened anew each time.
const restMs = 60_000
const maxResting = 1000
const askedAtOnce = 500

interface Opened {
  readonly session: Promise<DocumentSession>
  /** Once it is open. */
  ready: DocumentSession | undefined
  readonly tenantId: TenantId
  readonly fileId: FileId
  users: number
  callOff: (() => void) | undefined
}

/** The documents that are open in this process. */
export class Documents {
  readonly #deps: DocumentsDeps
  readonly #threads: DocumentThreads
  readonly #node = newNodeName()
  // Bound: the sockets, and requests that read a document.
  readonly #opened = new Map<string, Opened>()
  readonly #closing = new Set<Promise<void>>()
  readonly #resting = new Map<string, number>()
  #callOff: (() => void) | undefined
  #repeatedAtMs = 0

  constructor(deps: DocumentsDeps) {
    this.#deps = deps
    this.#threads = deps.threads ?? new DocumentThreads(deps)
  }

  get size(): number {
    return this.#opened.size
  }

  /** A document, opened if it is not; whoever takes it gives it back. */
  async take(
    tenantId: TenantId,
    fileId: FileId,
  ): Promise<{ session: DocumentSession; giveBack: () => void }> {
    const key = `${tenantId} ${fileId}`
    if ((this.#resting.get(key) ?? 0) > this.#deps.clock.now()) throw new Failure('E-UNAVAILABLE')
    const opened = this.#opened.get(key) ?? this.#open(key, tenantId, fileId)
    opened.users += 1
    opened.callOff?.()
    opened.callOff = undefined
    const giveBack = () => this.#giveBack(key, opened)
    try {
      return { session: await opened.session, giveBack }
    } catch (error) {
      giveBack()
      throw error
    }
  }

  /** With a document, opened if it is not. */
  async use<Result>(
    tenantId: TenantId,
    fileId: FileId,
    work: (session: DocumentSession) => Promise<Result>,
  ): Promise<Result> {
    const { session, giveBack } = await this.take(tenantId, fileId)
    try {
      return await work(session)
    } finally {
      giveBack()
    }
  }

  log(tenantId: TenantId, fileId: FileId): DocumentLog {
    return new DocumentLog(this.#deps, tenantId, fileId)
  }

  /** Resolves when everything that was sent is stored and told, or has failed. */
  async settled(): Promise<void> {
    for (const { session } of this.#opened.values()) {
      const open = await session.catch(() => undefined)
      await open?.settled()
    }
    while (this.#closing.size > 0) await Promise.all(this.#closing)
  }

  /** Stores what was sent, and ends. The log is left as it is: it is what counts. */
  async close(): Promise<void> {
    this.#callOff?.()
    for (const { session, callOff } of this.#opened.values()) {
      callOff?.()
      await session.then(
        (open) => open.end(),
        () => undefined,
      )
    }
    await Promise.all(this.#closing)
    if (!this.#deps.threads) await this.#threads.close()
  }

  #open(key: string, tenantId: TenantId, fileId: FileId): Opened {
    const opened: Opened = {
      tenantId,
      fileId,
      users: 0,
      callOff: undefined,
      ready: undefined,
      session: this.#openSession(key, tenantId, fileId),
    }
    this.#opened.set(key, opened)
    opened.session.then(
      (session) => {
        opened.ready = session
      },
      () => this.#forget(key, opened),
    )
    this.#tick()
    return opened
  }

  async #openSession(key: string, tenantId: TenantId, fileId: FileId): Promise<DocumentSession> {
    const document = new OpenDocument(
      { threads: this.#threads, logger: this.#deps.logger },
      this.log(tenantId, fileId),
    )
    const onFailure = (error: unknown) => {
      if (error instanceof CannotOpen) this.#rest(key)
      const opened = this.#opened.get(key)
      if (opened) this.#forget(key, opened)
    }
    try {
      await document.open()
    } catch (error) {
      if (error instanceof CannotOpen) this.#rest(key)
      throw error
    }
    const session = new DocumentSession(
      { ...this.#deps, node: this.#node },
      { tenantId, fileId },
      { document, onFailure },
    )
    // Something may have been written before this process listened.
    session.lookAgain()
    session.awareness.ask()
    return session
  }

  #giveBack(key: string, opened: Opened): void {
    opened.users -= 1
    if (opened.users > 0 || this.#opened.get(key) !== opened) return
    const { clock } = this.#deps
    opened.callOff = clock.wakeAt(clock.now() + idleMs, () => {
      const closing = this.#unload(key, opened)
        .catch((error: unknown) =>
          this.#deps.logger.error({ err: error }, 'a document was not closed properly'),
        )
        .finally(() => this.#closing.delete(closing))
      this.#closing.add(closing)
    })
  }

  async #unload(key: string, opened: Opened): Promise<void> {
    const session = await opened.session
    await session.compact()
    // Somebody may have come meanwhile.
    if (opened.users > 0 || this.#opened.get(key) !== opened) return
    this.#forget(key, opened)
    await session.end()
  }

  #forget(key: string, opened: Opened): void {
    if (this.#opened.get(key) === opened) this.#opened.delete(key)
    if (this.#opened.size > 0) return
    this.#callOff?.()
    this.#callOff = undefined
  }

  #rest(key: string): void {
    const [oldest] = this.#resting.keys()
    if (this.#resting.size >= maxResting && oldest !== undefined) this.#resting.delete(oldest)
    this.#resting.set(key, this.#deps.clock.now() + restMs)
  }

  #tick(): void {
    if (this.#callOff) return
    const { clock, logger } = this.#deps
    this.#callOff = clock.wakeAt(clock.now() + lookEveryMs, () => {
      this.#callOff = undefined
      if (this.#opened.size > 0) this.#tick()
      this.#look().catch((error: unknown) =>
        logger.error({ err: error }, 'open documents could not be looked at again'),
      )
    })
  }

  async #look(): Promise<void> {
    const { clock, db } = this.#deps
    const isRepeating = clock.now() - this.#repeatedAtMs >= repeatEveryMs
    if (isRepeating) this.#repeatedAtMs = clock.now()
    for (const { ready } of this.#opened.values()) {
      if (isRepeating) ready?.awareness.repeat()
      ready?.awareness.dropSilent()
    }
    // A SQLite file has one process.
    if (db.dialect === 'sqlite') return
    const opened = [...this.#opened.values()]
    const reader = db.reader(serverTenant)
    for (let from = 0; from < opened.length; from += askedAtOnce)
      for (const { tenantId, fileId, lastSeq } of await listLastSeqs(
        reader,
        opened.slice(from, from + askedAtOnce),
      )) {
        const ready = this.#opened.get(`${tenantId} ${fileId}`)?.ready
        if (ready && ready.seq < lastSeq) ready.lookAgain()
      }
  }
}
