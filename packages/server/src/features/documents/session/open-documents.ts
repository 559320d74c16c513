import type { FileId, IdTag } from '@kith/protocol'
import type { NodeBus } from '#infra/bus/index.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'
import { newNodeName } from '../awareness/awareness-exchange.ts'
import type { AtFile } from '../documents-tables.ts'
import { DocumentLog, type LogDeps } from '../log/document-log.ts'
import { listLastSeqs } from '../log/document-log-store.ts'
import { DocumentThreads } from '../threads/document-threads.ts'
import { DocumentSession } from './document-session.ts'
import { CannotOpen } from './loaded-document.ts'
import { OpenDocument } from './open-document.ts'

export interface DocumentsDeps extends LogDeps {
  readonly bus: NodeBus
  readonly logger: Logger
  /** Those of another, which closes them; its own otherwise. */
  readonly threads?: DocumentThreads
  readonly fullAtMs?: number
}

// docs/protocol/realtime.md, `/ws/crdt`.
const idleMs = 2000
// Finds writes of other processes whose hint was lost, or where hints do not reach this process.
const lookEveryMs = 3000
const repeatEveryMs = 25_000
// How long a document that ended a thread stays closed: all others in that thread have to be opened again.
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
  readonly #look: PeriodicWork
  readonly #upkeep: PeriodicWork
  #repeatedAtMs = 0

  constructor(deps: DocumentsDeps) {
    this.#deps = deps
    this.#threads = deps.threads ?? new DocumentThreads(deps)
    const { clock, logger } = deps
    const onError = (error: unknown) =>
      logger.error({ err: error }, 'open documents could not be looked at again')
    this.#look = new PeriodicWork({ clock, onError, everyMs: lookEveryMs, work: () => this.#readNumbers() })
    // Independent of `#look`, which fails while the database is away: other processes remove silent participants.
    this.#upkeep = new PeriodicWork({
      clock,
      onError,
      everyMs: lookEveryMs,
      work: () => this.#keepAwareness(),
    })
  }

  get size(): number {
    return this.#opened.size
  }

  /** The session of a document, opened where it is not; the caller has to call `giveBack`. */
  async take(
    tenantId: TenantId,
    fileId: FileId,
  ): Promise<{ session: DocumentSession; giveBack: () => void }> {
    const key = `${tenantId} ${fileId}`
    if ((this.#resting.get(key) ?? 0) > this.#deps.clock.now()) throw new CannotOpen('it rests')
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

  /** Runs `work` on a document, opened where it is not. */
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

  /** Replaces a document that cannot be opened by a former state; its clients reconnect. Answers the number of the new
   * state. */
  async replace({ tenantId, fileId }: AtFile, state: Uint8Array, by: IdTag | undefined): Promise<number> {
    const key = `${tenantId} ${fileId}`
    const seq = await this.#log(tenantId, fileId).replace(state, by)
    this.#resting.delete(key)
    this.#opened.get(key)?.ready?.drop()
    return seq
  }

  #log(tenantId: TenantId, fileId: FileId): DocumentLog {
    return new DocumentLog(this.#deps, tenantId, fileId)
  }

  /** Resolves when all updates received so far are stored and passed on, or have failed. */
  async settled(): Promise<void> {
    for (const { session } of this.#opened.values()) {
      const open = await session.catch(() => undefined)
      await open?.settled()
    }
    while (this.#closing.size > 0) await Promise.all(this.#closing)
  }

  /** Stores all updates received so far, and closes every document without compacting it. */
  async close(): Promise<void> {
    this.#stopLooking()
    await this.#look.settled()
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
    this.#look.start()
    this.#upkeep.start()
    return opened
  }

  async #openSession(key: string, tenantId: TenantId, fileId: FileId): Promise<DocumentSession> {
    const document = new OpenDocument(
      { ...this.#deps, threads: this.#threads },
      this.#log(tenantId, fileId),
      tenantId,
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
    // Another process may have written before this session subscribed.
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
    // The document may have been opened again meanwhile.
    if (opened.users > 0 || this.#opened.get(key) !== opened) return
    this.#forget(key, opened)
    await session.end()
  }

  #forget(key: string, opened: Opened): void {
    if (this.#opened.get(key) === opened) this.#opened.delete(key)
    if (this.#opened.size === 0) this.#stopLooking()
  }

  #stopLooking(): void {
    this.#look.stop()
    this.#upkeep.stop()
  }

  #rest(key: string): void {
    const [oldest] = this.#resting.keys()
    if (this.#resting.size >= maxResting && oldest !== undefined) this.#resting.delete(oldest)
    this.#resting.set(key, this.#deps.clock.now() + restMs)
  }

  #keepAwareness(): void {
    const { clock } = this.#deps
    const isRepeating = clock.now() - this.#repeatedAtMs >= repeatEveryMs
    if (isRepeating) this.#repeatedAtMs = clock.now()
    for (const { ready } of this.#opened.values()) {
      if (isRepeating) ready?.awareness.repeat()
      ready?.awareness.dropSilent()
    }
  }

  /** Reads the last numbers of all open documents. */
  async #readNumbers(): Promise<void> {
    const { db } = this.#deps
    // A SQLite file belongs to one process.
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
