import { randomUUID } from 'node:crypto'
import type { ClientOptions } from 'ws'
import { SocketClient } from './socket-client.ts'
import type { TestServer } from './test-server.ts'

interface Told {
  readonly id: string
  readonly cmd: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect to be there
  readonly data: any
  readonly seq?: number
}

/** A device on the bus of a tenant. */
export class BusDevice implements AsyncDisposable {
  readonly client: SocketClient
  readonly #server: TestServer

  private constructor(server: TestServer, client: SocketClient) {
    this.#server = server
    this.client = client
  }

  /** Connects, and waits until the server knows it. */
  static async connect(
    server: TestServer,
    idTag: string,
    token: string,
    options: ClientOptions = {},
  ): Promise<BusDevice> {
    const device = await BusDevice.open(server, idTag, `?token=${token}`, options)
    await device.ask('ping')
    return device
  }

  /** Connects; what the server makes of it is seen later. */
  static async open(
    server: TestServer,
    idTag: string,
    query: string,
    options: ClientOptions = {},
  ): Promise<BusDevice> {
    const { port } = server.running
    return new BusDevice(server, await SocketClient.connect(port, idTag, `/ws/bus${query}`, options))
  }

  /** Sends a command; resolves with what the answer says. */
  async ask(
    cmd: string,
    data: object = {},
  ): Promise<{ status: string; message?: string; code?: string; seq?: number }> {
    const id = randomUUID()
    this.client.send({ id, cmd, data })
    for (let count = this.client.received.length; ; count += 1) {
      const answer = this.client.json.find((message) => message.id === id)
      if (answer) return answer.data
      await this.client.until(count + 1)
    }
  }

  /** What it was told, after everything that happened was told. */
  async told(...cmds: string[]): Promise<Told[]> {
    await this.#server.settle()
    await this.#server.running.features.bus.settled()
    // Behind everything that was sent before.
    await this.ask('ping')
    const told: Told[] = this.client.json.filter(({ cmd }) => cmd !== 'ack')
    return cmds.length === 0 ? told : told.filter(({ cmd }) => cmds.includes(cmd))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.client[Symbol.asyncDispose]()
  }
}
