import { createShare, type FileId, getProxyToken } from '@kith/protocol'
import { expect } from 'vitest'
import { CuttableLink } from './cuttable-link.ts'
import type { Dice } from './dice.ts'
import { makeDocument, StockClient } from './document-client.ts'
import type { TestServer } from './test-server.ts'

const home = 'home.localhost'
const visitorTag = 'visitor.localhost'

/** A stock client of the document, and the TCP proxy between it and the server. */
interface Seat {
  readonly name: string
  readonly link: CuttableLink
  readonly open: () => StockClient
  client: StockClient | undefined
  isConnected: boolean
  /** Its client was told of everybody who is there: one that connects again takes notice of others when they say something new. */
  isUpToDate: boolean
}

/** Some clients of one document. With `areTabs` the two of Alice hear each other without the server, too. */
export class Meeting implements AsyncDisposable {
  readonly seats: readonly Seat[]
  readonly #server: TestServer
  readonly #areTabs: boolean
  // Clients of pages that died, which the server takes for alive.
  readonly #ghosts = new Set<number>()
  #moves = 0

  private constructor(server: TestServer, seats: readonly Seat[], areTabs: boolean) {
    this.#server = server
    this.seats = seats
    this.#areTabs = areTabs
  }

  static async open(server: TestServer, areTabs: boolean): Promise<Meeting> {
    await server.createTenant(visitorTag)
    const { fileId, token } = await makeDocument(server, home, { visibility: 'P' })
    const sitDown = async (name: string, options: Parameters<typeof StockClient.open>[2]): Promise<Seat> => {
      const link = await CuttableLink.open()
      link.leadTo(server.port)
      const address = { port: server.port, host: home }
      const open = () =>
        StockClient.open(address, fileId, { ...options, linePort: link.port, maxBackoffTime: 20 })
      return { name, link, open, client: undefined, isConnected: true, isUpToDate: false }
    }
    const bobs = await visitorToken(server, fileId, token)
    const seats = [
      await sitDown('alice 1', { token, version: '3.1', isTab: areTabs }),
      await sitDown('alice 2', { token, version: '2.1', isTab: areTabs }),
      await sitDown('bob', { token: bobs, version: '3.0' }),
      await sitDown('guest', { version: '2.1' }),
    ]
    return new Meeting(server, seats, areTabs)
  }

  /** Does something at a seat; false where that is not possible. */
  async #act(act: string, seat: Seat): Promise<boolean> {
    const { client, link, isConnected } = seat
    switch (act) {
      case 'reopen':
        return !client && isConnected && (await this.#reopen(seat))
      case 'close':
        return client !== undefined && (await this.#close(seat))
      case 'cut':
        if (!client || !isConnected) return false
        link.set('refused')
        seat.isConnected = false
        return true
      case 'restore':
        if (isConnected) return false
        link.set('open')
        seat.isConnected = true
        seat.isUpToDate = false
        await client?.synced()
        return true
      case 'strand':
        return client !== undefined && isConnected && (await this.#strand(seat, client))
      case 'crash':
        // A tab would be told by the other, unlike in a browser.
        return client !== undefined && isConnected && !this.#isTab(seat) && (await this.#crash(seat, client))
      default:
        // The server notices that the lines are broken.
        for (const each of this.seats) each.link.endStranded()
        this.#ghosts.clear()
        return true
    }
  }

  /** What a seat may do next. */
  #choose(dice: Dice): readonly [act: string, seat: Seat] {
    const seat = dice.pick(this.seats)
    const usual = ['cut', 'strand', 'strand', 'crash', 'close', 'notice']
    const back = !seat.isConnected ? 'restore' : !seat.client ? 'reopen' : undefined
    return [back && dice.isIn(0.7) ? back : dice.pick(usual), seat]
  }

  /** Goes through these steps, and then so many others; everybody looks after each. */
  async go(steps: readonly string[], others: number, dice: Dice): Promise<void> {
    for (let at = 0; at < steps.length + others; at += 1) {
      const [, act = '', name = ''] = /^(\w+) (.*)$/.exec(steps[at] ?? '') ?? []
      const [next, seat] = act
        ? ([act, this.seats.find((one) => one.name === name)] as const)
        : this.#choose(dice)
      if (seat && (await this.#act(next, seat))) await this.#look(`${at}: ${next} ${seat.name}`)
    }
  }

  /** Everybody who is connected sees those who are there; then all move, and see that. */
  async #look(step: string): Promise<void> {
    const connected = this.#connected
    const told = connected.filter((seat) => seat.isUpToDate)
    // Tabs take over from each other when they say something new.
    if (!this.#areTabs) await this.#see(`${step}, before anybody moves`, told)
    this.#moves += 1
    for (const { client } of this.seats) client?.provider.awareness.setLocalStateField('cursor', this.#moves)
    await this.#see(step, connected)
    for (const seat of connected) seat.isUpToDate = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { client, link } of this.seats) {
      await client?.[Symbol.asyncDispose]()
      await link[Symbol.asyncDispose]()
    }
  }

  get #connected(): Seat[] {
    return this.seats.filter(({ client, isConnected }) => client && isConnected)
  }

  /** A tab whose line is broken is shown by way of another one that hears it. */
  get #present(): Seat[] {
    const hasLine = (seat: Seat) =>
      seat.isConnected || (this.#isTab(seat) && this.#connected.some((other) => this.#isTab(other)))
    return this.seats.filter((seat) => seat.client && hasLine(seat))
  }

  #isTab({ name }: Seat): boolean {
    return this.#areTabs && name.startsWith('alice')
  }

  async #reopen(seat: Seat): Promise<true> {
    seat.client = seat.open()
    // Stock clients take no notice of a client that has never said anything.
    seat.client.provider.awareness.setLocalStateField('cursor', this.#moves)
    await seat.client.synced()
    seat.isUpToDate = true
    return true
  }

  async #close(seat: Seat): Promise<true> {
    await seat.client?.[Symbol.asyncDispose]()
    seat.client = undefined
    return true
  }

  /** The client connects again, and the server has both lines. */
  async #strand(seat: Seat, client: StockClient): Promise<true> {
    await breakOff(seat, client)
    await client.synced()
    seat.isUpToDate = false
    // Without an identity it is not let in while the server takes the old line for alive.
    if (seat.name === 'guest') seat.link.endStranded()
    return true
  }

  async #crash(seat: Seat, client: StockClient): Promise<true> {
    this.#ghosts.add(client.doc.clientID)
    client.provider.shouldConnect = false
    await breakOff(seat, client)
    return await this.#close(seat)
  }

  async #see(step: string, watching: readonly Seat[]): Promise<void> {
    const shown = this.#present.map(({ client }) => cursorOf(client, client?.doc.clientID)).sort()
    await expect
      .poll(() => {
        // States above the rate are told in the next second.
        this.#server.clock.advance(200)
        return watching.map((seat) => ({ step, name: seat.name, sees: this.#shownTo(seat) }))
      })
      .toEqual(watching.map(({ name }) => ({ step, name, sees: shown })))
  }

  #shownTo({ client }: Seat): string[] {
    const ids = [...(client?.provider.awareness.getStates().keys() ?? [])]
    return ids
      .filter((id) => !this.#ghosts.has(id))
      .map((id) => cursorOf(client, id))
      .sort()
  }
}

function cursorOf(client: StockClient | undefined, id = 0): string {
  return `${id} ${client?.provider.awareness.getStates().get(id)?.cursor}`
}

/** Breaks the line for the client alone. */
async function breakOff({ link }: Seat, { provider }: StockClient): Promise<void> {
  const isDown = new Promise((resolve) => provider.once('connection-close', resolve))
  link.strand()
  await isDown
}

/** A token with which the visitor, who may write, comes to the host of the document. */
async function visitorToken(server: TestServer, fileId: FileId, token: string): Promise<string> {
  const body = { subjectType: 'U', subjectId: visitorTag, permission: 'W' } as const
  await server.client(home, token).call(createShare, { params: { fileId }, body })
  const { data } = await (await server.as(visitorTag)).call(getProxyToken, { query: { target: home } })
  return data.token
}
