import {
  type RtdbAnswers,
  type RtdbErrorCode,
  type RtdbPush,
  type RtdbRequestData,
  type RtdbRequestType,
  rtdbSocket,
} from '@kith/protocol'
import {
  type ConnectionOptions,
  type ConnectionState,
  ReconnectingSocket,
  type SocketProtocol,
} from '../realtime/reconnecting-socket.ts'

/** Which answer a type of request has. */
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

/** A request that the server refused. */
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

/** A request that was sent, and whose answer did not come: the connection broke. */
export class ConnectionLost extends Error {
  constructor(reason: string) {
    super(`the connection to the database broke: ${reason}`)
    this.name = 'ConnectionLost'
  }
}

interface SocketEvents {
  /** Resolves when what was there before is asked for again. */
  opened(): Promise<void>
  pushed(push: RtdbPush): void
  stateChanged(state: ConnectionState): void
}

export interface DatabaseAddress extends ConnectionOptions {
  /** `r1~…`. */
  readonly fileId: string
  /** `read` asks for less than one's right, `write` for the right to write or nothing. */
  readonly access?: 'read' | 'write'
  /** Whether to be told who else is there, and to be shown to them. */
  readonly hasPresence?: boolean
}

interface Asked {
  readonly resolve: (answer: never) => void
  readonly reject: (error: Error) => void
}

type Answer = { readonly id?: string | number } & (
  | ({ readonly type: 'error' } & RtdbAnswers['error'])
  | { readonly type: AnswerNames[RtdbRequestType] }
)

/** Requests and answers on a connection that is made anew after each interruption. */
export class DatabaseSocket implements SocketProtocol {
  readonly #address: DatabaseAddress
  readonly #events: SocketEvents
  readonly #socket: ReconnectingSocket
  // Bound: what the caller asks while a connection is open.
  readonly #asked = new Map<number, Asked>()
  #lastId = 0

  constructor(address: DatabaseAddress, events: SocketEvents) {
    this.#address = address
    this.#events = events
    this.#socket = new ReconnectingSocket(address, this)
  }

  /** Rejects with `RtdbError` when it is refused, `ConnectionLost` when no answer comes. `atOnce` is called before any later
   * message is looked at. */
  ask<Name extends RtdbRequestType>(
    type: Name,
    data: RtdbRequestData<Name>,
    atOnce?: (answer: AnswerTo<Name>) => void,
  ): Promise<AnswerTo<Name>> {
    this.#lastId += 1
    const id = this.#lastId
    if (!this.#socket.send(JSON.stringify({ id, type, ...data })))
      return Promise.reject(new ConnectionLost('not connected'))
    return new Promise((resolve, reject) => {
      const answer = (given: AnswerTo<Name>) => {
        atOnce?.(given)
        resolve(given)
      }
      this.#asked.set(id, { resolve: answer, reject })
    })
  }

  close(): void {
    this.#socket.close()
  }

  target(): string {
    const { fileId, access, hasPresence } = this.#address
    const query = new URLSearchParams({
      ...(access === undefined ? {} : { access }),
      ...(hasPresence ? { presence: '1' } : {}),
    })
    return `${rtdbSocket.path.replace('{fileId}', encodeURIComponent(fileId))}?${query}`
  }

  async opened(): Promise<void> {
    // The first answer says that the client is let in.
    await this.ask('ping', {})
    await this.#events.opened()
  }

  received(text: string | Uint8Array): void {
    const message = JSON.parse(String(text)) as Answer | RtdbPush
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

  lost(reason: string): void {
    const asked = [...this.#asked.values()]
    this.#asked.clear()
    for (const { reject } of asked) reject(new ConnectionLost(reason))
  }

  ping(): void {
    this.ask('ping', {}).catch(() => undefined)
  }

  stateChanged(state: ConnectionState): void {
    this.#events.stateChanged(state)
  }
}
