import type { IdTag } from '@kith/protocol'
import type { NodeBus } from '#infra/bus/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'
import type { Connection } from './connection.ts'

// docs/protocol/realtime.md, `presence`.
const idleForMs = 5 * 60_000
const refreshEveryMs = 30_000
// The marks of a process that died have expired by then; two refreshes may be late.
const markMs = 75_000

interface PresenceDeps {
  readonly bus: NodeBus
  readonly clock: Clock
  readonly logger: { error(fields: object, message: string): void }
}

/** Which accounts have an active client, on this process and on the others. */
export class Presence {
  readonly #bus: NodeBus
  readonly #clock: Clock
  // Bound: the sockets that may be open.
  readonly #accounts = new Map<string, Map<Connection, number | undefined>>()
  readonly #refresh: PeriodicWork

  constructor({ bus, clock, logger }: PresenceDeps) {
    this.#bus = bus
    this.#clock = clock
    this.#refresh = new PeriodicWork({
      clock,
      everyMs: refreshEveryMs,
      work: () => this.#markAll(),
      onError: (error) => logger.error({ err: error }, 'presence could not be refreshed'),
    })
  }

  /** The client is there, or is idle from now on. */
  note(connection: Connection, state: 'active' | 'idle'): void {
    const key = keyOf(connection.visit.tenant.tenantId, connection.idTag)
    const connections = this.#accounts.get(key) ?? new Map<Connection, number | undefined>()
    this.#accounts.set(key, connections)
    const idleSinceMs = state === 'active' ? undefined : (connections.get(connection) ?? this.#clock.now())
    connections.set(connection, idleSinceMs)
    this.#mark(key)
    this.#refresh.start()
  }

  leave(connection: Connection): void {
    const key = keyOf(connection.visit.tenant.tenantId, connection.idTag)
    const connections = this.#accounts.get(key)
    if (!connections?.delete(connection)) return
    if (connections.size === 0) this.#accounts.delete(key)
    this.#mark(key)
    if (this.#accounts.size === 0) this.close()
  }

  /** Has the account a client on any process that is not idle for more than five minutes? */
  async isConnected(tenantId: TenantId, idTag: IdTag): Promise<boolean> {
    const key = keyOf(tenantId, idTag)
    return this.#presentUntilMs(key) > this.#clock.now() || (await this.#bus.isMarked(key))
  }

  close(): void {
    this.#refresh.stop()
  }

  /** Until when the account counts as present if its clients report nothing more. */
  #presentUntilMs(key: string): number {
    const nowMs = this.#clock.now()
    const ends = [...(this.#accounts.get(key)?.values() ?? [])].map((idleSinceMs) =>
      idleSinceMs === undefined ? Number.POSITIVE_INFINITY : idleSinceMs + idleForMs,
    )
    return Math.min(Math.max(0, ...ends), nowMs + markMs)
  }

  #mark(key: string): void {
    const untilMs = this.#presentUntilMs(key)
    if (untilMs > this.#clock.now()) this.#bus.mark(key, untilMs)
    else this.#bus.unmark(key)
  }

  #markAll(): void {
    for (const key of this.#accounts.keys()) this.#mark(key)
  }
}

function keyOf(tenantId: TenantId, idTag: IdTag): string {
  return `present:${tenantId}:${idTag}`
}
