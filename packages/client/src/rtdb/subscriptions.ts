import type { RtdbChange, RtdbDocument, RtdbGroup } from '@kith/protocol'
import type { GroupRequest, Watcher, WatchRequest } from './collection.ts'
import { ConnectionLost, type DatabaseSocket } from './database-socket.ts'
import { LiveSet } from './live-set.ts'

/** A subscription of the caller, over all connections. */
interface Subscription {
  readonly request: Parameters<typeof DatabaseSocket.prototype.ask<'subscribe'>>[1]
  /** Takes events from the beginning. */
  restart(): void
  take(event: RtdbChange): void
  fail(error: Error): void
}

/** Everything that the caller watches; asked for again after each interruption. */
export class Subscriptions {
  readonly #socket: () => DatabaseSocket
  // Bound: what the caller watches.
  readonly #all = new Map<Subscription, string | undefined>()
  readonly #byId = new Map<string, Subscription>()

  constructor(socket: () => DatabaseSocket) {
    this.#socket = socket
  }

  watch({ sort = [], limit, ...request }: WatchRequest, { onChange, onError }: Watcher): () => void {
    let set = new LiveSet<RtdbDocument>({ sort, limit })
    let isReady = false
    return this.#add({
      request,
      restart() {
        set = new LiveSet<RtdbDocument>({ sort, limit })
        isReady = false
      },
      take(event) {
        const change = set.take(event)
        if (change === 'ready') isReady = true
        if (change === undefined || !isReady) return
        onChange(set.list() as readonly never[], change === 'ready' ? [] : [change as never])
      },
      fail: (error) => onError?.(error),
    })
  }

  watchGroups(
    request: GroupRequest,
    listener: (rows: readonly RtdbGroup[]) => void,
    onError?: (error: Error) => void,
  ): () => void {
    let rows = new Map<string, RtdbGroup>()
    return this.#add({
      request,
      restart() {
        rows = new Map()
      },
      take(event) {
        if (event.action !== 'ready' && event.action !== 'update') return
        for (const row of event.data as readonly RtdbGroup[]) {
          if (row.count === 0) rows.delete(row.group)
          else rows.set(row.group, row)
        }
        listener([...rows.values()].sort(byCount))
      },
      fail: (error) => onError?.(error),
    })
  }

  /** A connection is there. */
  async open(): Promise<void> {
    this.#byId.clear()
    await Promise.all([...this.#all.keys()].map((subscription) => this.#subscribe(subscription)))
  }

  push(subscriptionId: string, event: RtdbChange): void {
    this.#byId.get(subscriptionId)?.take(event)
  }

  end(error: Error): void {
    for (const subscription of this.#all.keys()) subscription.fail(error)
    this.#all.clear()
    this.#byId.clear()
  }

  #add(subscription: Subscription): () => void {
    this.#all.set(subscription, undefined)
    void this.#subscribe(subscription)
    return () => this.#remove(subscription)
  }

  async #subscribe(subscription: Subscription): Promise<void> {
    subscription.restart()
    try {
      await this.#socket().ask('subscribe', subscription.request, ({ subscriptionId }) => {
        this.#byId.set(subscriptionId, subscription)
        if (this.#all.has(subscription)) this.#all.set(subscription, subscriptionId)
        else this.#unsubscribe(subscriptionId)
      })
    } catch (error) {
      // On the next connection it is asked for again.
      if (error instanceof ConnectionLost || !this.#all.delete(subscription)) return
      subscription.fail(error as Error)
    }
  }

  #remove(subscription: Subscription): void {
    const subscriptionId = this.#all.get(subscription)
    this.#all.delete(subscription)
    if (subscriptionId !== undefined) this.#unsubscribe(subscriptionId)
  }

  #unsubscribe(subscriptionId: string): void {
    if (!this.#byId.delete(subscriptionId)) return
    this.#socket()
      .ask('unsubscribe', { subscriptionId })
      .catch(() => undefined)
  }
}

function byCount(one: RtdbGroup, other: RtdbGroup): number {
  return other.count - one.count || (one.group < other.group ? -1 : 1)
}
