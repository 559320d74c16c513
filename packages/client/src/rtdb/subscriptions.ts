import type { RtdbChange, RtdbDocument, RtdbGroup } from '@kith/protocol'
import { ConnectionLost } from '../realtime/connection-lost.ts'
import { notify, warn } from '../realtime/notify.ts'
import type { GroupRequest, Watcher, WatchRequest } from './collection.ts'
import type { DatabaseSocket } from './database-socket.ts'
import { LiveSet } from './live-set.ts'

/** A subscription of the application. It outlives connections. */
interface Subscription {
  readonly request: Parameters<typeof DatabaseSocket.prototype.ask<'subscribe'>>[1]
  /** Forgets the documents: a new `ready` follows. */
  restart(): void
  /** Processes an event of the server. */
  take(event: RtdbChange): void
  /** The subscription has ended. */
  readonly onError: ((error: Error) => void) | undefined
}

/** All subscriptions of the application. Subscribes again after each reconnection. */
export class Subscriptions {
  readonly #socket: () => DatabaseSocket
  // With their ids on the present connection. Bound: the subscriptions of the application.
  readonly #all = new Map<Subscription, string | undefined>()
  readonly #byId = new Map<string, Subscription>()
  #endedBy: ConnectionLost | undefined

  constructor(socket: () => DatabaseSocket) {
    this.#socket = socket
  }

  /** Subscribes to the documents of a query. Returns a function that ends the subscription. */
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
        notify(onChange, set.list() as readonly never[], change === 'ready' ? [] : [change as never])
      },
      onError,
    })
  }

  /** Subscribes to the groups of an aggregate. Returns a function that ends the subscription. */
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
        notify(listener, [...rows.values()].sort(byCount))
      },
      onError,
    })
  }

  /** Subscribes again, on a new connection. */
  async open(): Promise<void> {
    this.#byId.clear()
    await Promise.all([...this.#all.keys()].map((subscription) => this.#subscribe(subscription)))
  }

  /** An event of the server. Events of ended subscriptions are dropped. */
  push(subscriptionId: string, event: RtdbChange): void {
    this.#byId.get(subscriptionId)?.take(event)
  }

  /** Ends all subscriptions; with an error unless the application has closed the connection itself. */
  end(error: ConnectionLost): void {
    this.#endedBy = error
    if (error.code !== 1000) for (const { onError } of this.#all.keys()) notify(onError, error)
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
      if (this.#endedBy) throw this.#endedBy
      await this.#socket().ask('subscribe', subscription.request, ({ subscriptionId }) => {
        this.#byId.set(subscriptionId, subscription)
        if (this.#all.has(subscription)) this.#all.set(subscription, subscriptionId)
        else this.#unsubscribe(subscriptionId)
      })
    } catch (error) {
      // `open` subscribes again on the next connection.
      const isWaiting = error instanceof ConnectionLost && !this.#endedBy
      if (isWaiting || !this.#all.delete(subscription)) return
      if (subscription.onError) notify(subscription.onError, error as Error)
      else warn(error as Error)
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
