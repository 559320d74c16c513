import { randomUUID } from 'node:crypto'
import type { RtdbRequestType } from '@kith/protocol'
import { SocketClient } from './socket-client.ts'
import type { TestServer } from './test-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect to be there
type Message = any

/** Which database, on whose host. */
export interface DatabasePlace {
  readonly idTag: string
  readonly fileId: string
}

/** A client of a database, with everything that it was sent. */
export class DatabaseDevice implements AsyncDisposable {
  readonly client: SocketClient

  constructor(client: SocketClient) {
    this.client = client
  }

  /** Connects; what the server makes of it is seen later. */
  static async open(
    server: TestServer,
    { idTag, fileId }: DatabasePlace,
    query = '',
  ): Promise<DatabaseDevice> {
    const path = `/ws/rtdb/${encodeURIComponent(fileId)}?${query}`
    return new DatabaseDevice(await SocketClient.connect(server.running.port, idTag, path))
  }

  /** Connects, and waits until the server knows it. */
  static async connect(
    server: TestServer,
    place: DatabasePlace,
    token?: string,
    query = '',
  ): Promise<DatabaseDevice> {
    const device = await DatabaseDevice.open(server, place, token ? `token=${token}&${query}` : query)
    await device.ask('ping')
    return device
  }

  /** Sends a request; resolves with the answer. */
  async ask(type: RtdbRequestType, members: object = {}): Promise<Message> {
    const id = randomUUID()
    this.client.send({ id, type, ...members })
    return await this.find((message) => message.id === id)
  }

  /** One operation in a transaction of its own. */
  async write(type: string, path: string, data?: object): Promise<Message> {
    return await this.ask('transaction', { operations: [{ type, path, ...(data && { data }) }] })
  }

  /** Subscribes; resolves with what it is shown first. */
  async subscribe(path: string, members: object = {}): Promise<{ id: string; ready: Message }> {
    const { subscriptionId, ...answer } = await this.ask('subscribe', { path, ...members })
    if (subscriptionId === undefined)
      throw new Error(`the subscription was answered ${JSON.stringify(answer)}`)
    const ready = await this.find(
      (it) => it.subscriptionId === subscriptionId && it.event?.action === 'ready',
    )
    return { id: subscriptionId, ready: ready.event.data }
  }

  /** The first message like this, however long it takes. */
  async find(isMeant: (message: Message) => boolean): Promise<Message> {
    for (let seen = 0; ; seen += 1) {
      await this.client.until(seen + 1)
      const message = JSON.parse(String(this.client.received[seen]))
      if (isMeant(message)) return message
    }
  }

  /** The events of a subscription so far, after `ready`. */
  events(subscriptionId: string): Message[] {
    const events = this.client.json
      .filter((message) => message.type === 'change' && message.subscriptionId === subscriptionId)
      .map(({ event }) => event)
    return events.slice(events.findIndex(({ action }) => action === 'ready') + 1)
  }

  /** The same when everything that has happened is told. */
  async told(server: TestServer, subscriptionId: string): Promise<Message[]> {
    await server.running.features.realtime.settled()
    // Behind everything that was sent before.
    await this.ask('ping')
    return this.events(subscriptionId)
  }

  get presence(): Message[] {
    return this.client.json.filter(({ type }) => type === 'presenceChange').map(({ event }) => event)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.client[Symbol.asyncDispose]()
  }
}
