import {
  type RtdbAnswers,
  type RtdbErrorCode,
  type RtdbPush,
  type RtdbRequestData,
  type RtdbRequestType,
  rtdbSocket,
} from '@kith/protocol'
import { fileSocketPath } from '../realtime/base-url.ts'
import { ConnectionLost } from '../realtime/connection-lost.ts'
import {
  type ConnectionOptions,
  type ConnectionState,
  ReconnectingSocket,
  type SocketProtocol,
} from '../realtime/reconnecting-socket.ts'

/** The `type` of the answer to each type of request. */
interface AnswerNames {
  ping: 'pong'
  get: 'getResult'
  query: 'queryResult'
  subscribe: 'subscribeResult'
  unsubscribe: 'unsubscribeResult'
  transaction: 'transactionResult'
  createIndex: 'createIndexResult'
  lock: 'lockResult'
  unlock: 'unlockResult'
  presence: 'presenceResult'
  auth: 'authResult'
}
export type AnswerTo<Name extends RtdbRequestType> = RtdbAnswers[AnswerNames[Name]]

// Their answers have up to 16 MiB.
const largeAnswers: ReadonlySet<RtdbRequestType> = new Set(['get', 'query'])

/** The server refused a request. */
export class RtdbError extends Error {
  /** As in HTTP: 400, 403, 404, 409, 413, 423 locked by another, 429, 500. */
  readonly code: RtdbErrorCode
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor({ code, message, details }: RtdbAnswers['error']) {
    super(message)
    this.name = 'RtdbError'
    this.code = code
    this.details = details
  }
}

interface SocketEvents {
  /** The server has accepted the connection. Resolves when subscriptions and locks are restored. */
  opened(): Promise<void>
  /** A message came that answers no request. */
  pushed(push: RtdbPush): void
  stateChanged(state: ConnectionState): void
}

export interface DatabaseAddress extends ConnectionOptions {
  /** The id of a file of type `RTDB`: `r1~…`. */
  readonly fileId: string
  /** `read`: open read-only even with the right to write. `write`: end with 4403 without the right to write. */
  readonly access?: 'read' | 'write'
  /** Whether to receive the presence of other clients, and to send one's own; false when absent. */
  readonly hasPresence?: boolean
}

interface Asked {
  readonly type: RtdbRequestType
  readonly resolve: (answer: never) => void
  readonly reject: (error: Error) => void
}

type Answer = { readonly id?: string | number } & (
  | ({ readonly type: 'error' } & RtdbAnswers['error'])
  | ({ readonly type: 'subscribeResult' } & RtdbAnswers['subscribeResult'])
  | { readonly type: Exclude<AnswerNames[RtdbRequestType], 'subscribeResult'> }
)

/** Sends requests over a reconnecting socket, and matches the answers to them by id. */
export class DatabaseSocket implements SocketProtocol {
  readonly #address: DatabaseAddress
  readonly #events: SocketEvents
  readonly #socket: ReconnectingSocket
  // Requests without an answer yet, by id. Bound: the calls of `ask` during one connection.
  readonly #asked = new Map<number, Asked>()
  // Subscriptions of which the initial documents have not come. Bound: the subscriptions of the application.
  readonly #uninitialised = new Set<string>()
  #lastId = 0

  constructor(address: DatabaseAddress, events: SocketEvents) {
    this.#address = address
    this.#events = events
    this.#socket = new ReconnectingSocket(address, this)
  }

  /** Rejects with `RtdbError` when the server refuses the request, and with `ConnectionLost` when there is no connection or it closes
   * before the answer. `atOnce` gets the answer synchronously, before the next message is processed. */
  async ask<Name extends RtdbRequestType>(
    type: Name,
    data: RtdbRequestData<Name>,
    atOnce?: (answer: AnswerTo<Name>) => void,
  ): Promise<AnswerTo<Name>> {
    this.#lastId += 1
    const id = this.#lastId
    if (!this.#socket.send(JSON.stringify({ id, type, ...data })))
      throw new ConnectionLost('the database is not connected')
    return await new Promise<AnswerTo<Name>>((resolve, reject) => {
      const answer = (given: AnswerTo<Name>) => {
        atOnce?.(given)
        resolve(given)
      }
      this.#asked.set(id, { type, resolve: answer, reject })
    })
  }

  get state(): ConnectionState {
    return this.#socket.state
  }

  reconnect(): void {
    this.#socket.reconnect()
  }

  close(): void {
    this.#socket.close()
  }

  target(): string {
    const { access, hasPresence } = this.#address
    const query = new URLSearchParams({
      ...(access === undefined ? {} : { access }),
      ...(hasPresence ? { presence: '1' } : {}),
    })
    return `${fileSocketPath(rtdbSocket.path, this.#address)}?${query}`
  }

  async opened(): Promise<void> {
    // The server upgrades before it checks the token: only an answer shows that it accepted the connection.
    await this.ask('ping', {})
    await this.#events.opened()
  }

  received(text: string | Uint8Array): void {
    const message = JSON.parse(String(text)) as Answer | RtdbPush
    this.#noteInitialState(message)
    if (message.type === 'change' || message.type === 'presenceChange') {
      this.#events.pushed(message)
      return
    }
    const id = Number(message.id)
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    if (message.type === 'error') {
      asked?.reject(new RtdbError(message))
      return
    }
    const { id: _id, type: _type, ...answer } = message
    asked?.resolve(answer as never)
  }

  lost(error: ConnectionLost): void {
    const asked = [...this.#asked.values()]
    this.#asked.clear()
    this.#uninitialised.clear()
    for (const { reject } of asked) reject(error)
  }

  ping(): void {
    this.ask('ping', {}).catch(() => undefined)
  }

  awaitsLargeAnswer(): boolean {
    if (this.#uninitialised.size > 0) return true
    return [...this.#asked.values()].some(({ type }) => largeAnswers.has(type))
  }

  stateChanged(state: ConnectionState): void {
    this.#events.stateChanged(state)
  }

  /** The initial documents of a subscription come after its answer, in a message of their own. */
  #noteInitialState(message: Answer | RtdbPush): void {
    if (message.type === 'subscribeResult') this.#uninitialised.add(message.subscriptionId)
    else if (message.type === 'change' && message.event.action === 'ready')
      this.#uninitialised.delete(message.subscriptionId)
  }
}
