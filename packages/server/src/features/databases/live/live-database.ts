import type { DatabaseKey, LoggedChanges } from '../engine/database.ts'
import { listChanges } from '../engine/index.ts'
import { type LockNews, Locks } from '../locks/locks.ts'
import { Presence, type PresenceNews } from '../presence/presence.ts'
import { Subscriptions } from '../subscriptions/subscriptions.ts'
import type { Connection } from './connection.ts'
import type { LiveDeps } from './live-deps.ts'
import { viewMaker } from './read-views.ts'

/** What the processes tell each other about a database. */
type News =
  | { readonly kind: 'seq'; readonly seq: number }
  | { readonly kind: 'locks'; readonly news: LockNews }
  | { readonly kind: 'presence'; readonly news: PresenceNews }

// Transactions of this process that subscriptions were not told yet. Above the bound they are read from the log, like those of
// other processes.
const maxOwn = 1000

/** A database that clients of this process have open: tells them its changes in the order of their numbers. */
export class LiveDatabase {
  readonly key: DatabaseKey
  readonly subscriptions: Subscriptions
  readonly locks: Locks
  readonly presence: Presence
  // Bounded by the sockets.
  readonly connections = new Set<Connection>()
  readonly #deps: LiveDeps
  readonly #own = new Map<number, LoggedChanges>()
  readonly #unsubscribe: () => void
  #told: number | undefined
  #known = 0
  #running: Promise<void> | undefined
  #tellingLocks: Promise<void> = Promise.resolve()
  #looked = 0
  #lockEvents = 0

  constructor(deps: LiveDeps, key: DatabaseKey) {
    this.#deps = deps
    this.key = key
    this.subscriptions = new Subscriptions(viewMaker(deps, key))
    this.locks = new Locks({
      ...deps,
      key,
      publish: (news) => this.#publish({ kind: 'locks', news }),
      tell: (news) => this.#tellLock(news),
    })
    this.presence = new Presence({
      clock: deps.clock,
      publish: (news) => this.#publish({ kind: 'presence', news }),
    })
    this.#unsubscribe = deps.bus.subscribe(channelOf(this.key), {
      onMessage: (message) => this.#onNews(JSON.parse(message) as News),
      onGap: () => deps.onGap(),
    })
  }

  /** How many events of locks there were so far: `locks` is what they made of them. */
  get lockEvents(): number {
    return this.#lockEvents
  }

  /** How many views were evaluated for all changes so far. */
  get looked(): number {
    return this.#looked
  }

  /** Sets the number after which changes are told. */
  start(seq: number): void {
    this.#told ??= seq
    this.advance(seq)
  }

  /** Called after the commit of a transaction of this process. */
  applied({ seq, changes }: LoggedChanges): void {
    if (changes.length === 0) return
    if (this.#own.size < maxOwn) this.#own.set(seq, { seq, changes })
    this.#deps.bus.publish(channelOf(this.key), hintOf({ seq }))
  }

  /** Tells the changes up to this number. */
  advance(seq: number): void {
    this.#known = Math.max(this.#known, seq)
    this.#running ??= this.#run()
  }

  async settled(): Promise<void> {
    await this.locks.settled()
    while (this.#running) await this.#running
    await this.#tellingLocks
  }

  async close(): Promise<void> {
    this.#unsubscribe()
    this.presence.close()
    await this.locks.close()
    while (this.#running) await this.#running
    await this.#tellingLocks
  }

  #publish(news: News): void {
    this.#deps.bus.publish(channelOf(this.key), JSON.stringify(news))
  }

  #onNews(news: News): void {
    if (news.kind === 'seq') this.advance(news.seq)
    else if (news.kind === 'locks') this.locks.apply(news.news)
    else this.presence.apply(news.news)
  }

  #run(): Promise<void> {
    return this.#tellAll()
      .catch((error: unknown) => {
        this.#deps.logger.error({ err: error }, 'changes could not be told to the clients of a database')
        this.#endAll('failed')
      })
      .finally(() => {
        this.#running = undefined
        // The number may have grown after the last check of the loop.
        if (this.#isBehind) this.advance(this.#known)
      })
  }

  get #isBehind(): boolean {
    return this.#told !== undefined && this.#told < this.#known
  }

  async #tellAll(): Promise<void> {
    while (this.#isBehind) {
      const told = this.#told ?? 0
      const next = this.#own.get(told + 1)
      if (next) await this.#tell(next)
      else if (this.subscriptions.isEmpty) this.#skipTo(this.#known)
      else await this.#tellFromLog(told)
    }
  }

  async #tellFromLog(told: number): Promise<void> {
    const upTo = this.#known
    const { changes, isComplete } = await listChanges(this.#deps.engine, this.key, told)
    if (!isComplete) {
      // Changes that are no longer in the log cannot be told: all clients have to subscribe again.
      this.#deps.logger.warn({ fileId: this.key.fileId }, 'changes of a database are no longer in its log')
      this.#endAll('overloaded')
      this.#skipTo(upTo)
      return
    }
    for (const logged of changes) await this.#tell(logged)
    // Numbers without changes are not in the log.
    if (changes.length === 0) this.#skipTo(upTo)
  }

  async #tell(logged: LoggedChanges): Promise<void> {
    this.#looked += await this.subscriptions.tell(logged)
    this.#skipTo(logged.seq)
  }

  #skipTo(seq: number): void {
    this.#told = seq
    for (const own of this.#own.keys()) if (own <= seq) this.#own.delete(own)
  }

  #endAll(why: 'failed' | 'overloaded'): void {
    for (const { visit } of this.connections) visit.socket.close(why)
    this.#told = Math.max(this.#told ?? 0, this.#known)
    this.#own.clear()
  }

  /** In order: telling one may take several turns of the event loop. */
  #tellLock(news: LockNews): void {
    this.#lockEvents += 1
    if (this.subscriptions.isEmpty) return
    const told = { number: this.#lockEvents, event: lockEvent(news) }
    this.#tellingLocks = this.#tellingLocks
      .then(() => this.subscriptions.tellLock(news.lock.path, told))
      .catch((error: unknown) => {
        this.#deps.logger.error({ err: error }, 'a lock could not be told to the clients of a database')
        this.#endAll('failed')
      })
  }
}

/** The channel of a database between processes. */
export function channelOf({ tenantId, fileId }: DatabaseKey): string {
  return `rtdb:${tenantId}:${fileId}`
}

/** The message that tells other processes the last number of a database. */
export function hintOf({ seq }: Pick<LoggedChanges, 'seq'>): string {
  return JSON.stringify({ kind: 'seq', seq } satisfies News)
}

/** The text of a lock event. */
export function lockEvent({ kind, lock }: Pick<LockNews, 'kind' | 'lock'>): string {
  const { path, holder, mode, connId } = lock
  const data = kind === 'lock' ? { userId: holder, mode, connId } : { userId: holder, connId }
  return JSON.stringify({ action: kind, path, data })
}
