import { subscribe } from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@kith/client'
import type { IdTag } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'
import { CuttableLink } from './cuttable-link.ts'
import { ForeignServer } from './foreign-server.ts'
import { TestClock } from './test-clock.ts'
import { TestServer, type TestServerOptions } from './test-server.ts'

type MemberOptions = Pick<TestServerOptions, 'env' | 'clock' | 'webBuild'>

// To any server of this process.
let requests = 0
subscribe('http.server.request.start', () => {
  requests += 1
})

/** More than any exchange needs. */
const maxRounds = 20

interface Member {
  readonly name: string
  readonly env: Readonly<Record<string, string>>
  readonly clock: TestClock
  readonly dataDir: string
  readonly link: CuttableLink
  readonly webBuild: string | undefined
  server: TestServer
  isDown: boolean
}

export interface Person {
  readonly idTag: IdTag
  readonly tenantId: TenantId
  /** Where they live. */
  readonly at: number
  readonly client: Client
}

/** Several servers in one process that find each other, and share one clock unless they are given others. */
export class TestNetwork implements AsyncDisposable {
  readonly clock: TestClock
  readonly #members: Member[] = []
  readonly #foreign: ForeignServer[] = []
  readonly #identityHosts = new Map<IdTag, string>()
  #casts = 0

  constructor(clock = new TestClock()) {
    this.clock = clock
  }

  /** Servers with the base identities `one.localhost`, `two.localhost`, … */
  static async start(count: number, options: Pick<TestServerOptions, 'env'> = {}): Promise<TestNetwork> {
    const network = new TestNetwork()
    for (const name of ['one', 'two', 'three', 'four', 'five'].slice(0, count))
      await network.add(name, options)
    return network
  }

  /** One more; with a clock of its own it does not keep time with the others. */
  async add(
    name: string,
    { env = {}, clock = this.clock, webBuild }: MemberOptions = {},
  ): Promise<TestServer> {
    const dataDir = await mkdtemp(join(tmpdir(), 'kith-network-'))
    const place = { name, env, clock, dataDir, link: await CuttableLink.open(), webBuild }
    const server = await this.#start(place)
    this.#members.push({ ...place, server, isDown: false })
    return server
  }

  /** A server that is not Kith, with identities whose keys the test holds. */
  async addForeign(...idTags: string[]): Promise<ForeignServer> {
    const foreign = await ForeignServer.start(idTags, this.clock)
    for (const idTag of idTags) this.#identityHosts.set(idTag as IdTag, foreign.url)
    this.#foreign.push(foreign)
    return foreign
  }

  server(at: number): TestServer {
    return this.#member(at).server
  }

  /** From now on nobody answers there. */
  async takeDown(at: number): Promise<void> {
    const member = this.#member(at)
    member.isDown = true
    await member.server.stop()
  }

  /** The same server again: its data, its address. */
  async bringBack(at: number): Promise<TestServer> {
    const member = this.#member(at)
    member.server = await this.#start(member)
    member.isDown = false
    return member.server
  }

  /** New people with these names, one on each server, signed in at home. */
  async cast<Name extends string>(...names: Name[]): Promise<Record<Name, Person>> {
    this.#casts += 1
    const people = names.map(
      async (name, at) => [name, await this.person(at, `${name}${this.#casts}`)] as const,
    )
    return Object.fromEntries(await Promise.all(people)) as Record<Name, Person>
  }

  /** A new person on a server, signed in. */
  async person(at: number, name: string): Promise<Person> {
    const server = this.server(at)
    const { idTag, tenantId } = await server.createTenant(`${name}.localhost`)
    return { idTag, tenantId, at, client: await server.as(idTag) }
  }

  /** Lets all servers find a tenant that was made by the program itself. */
  announce(at: number, idTag: IdTag): void {
    this.#identityHosts.set(idTag, this.server(at).urlOf(idTag))
  }

  /** Lets all servers look for an identity at an address. */
  announceAt(idTag: string, url: string): void {
    this.#identityHosts.set(idTag as IdTag, url)
  }

  /** Nobody can learn where a tenant lives, until it is announced again. */
  async hide(idTag: IdTag): Promise<void> {
    const place = await this.addForeign()
    place.fault = 503
    this.#identityHosts.set(idTag, place.url)
  }

  /** Resolves when no server has a job that is due: what one delivers may give another something to do. Fails when they never
   * come to an end. */
  async settle(): Promise<void> {
    // Each round lets a message go one hop further: a request, its delivery, what that fetches, and what is made of it.
    // Nothing is new to anybody after a round in which nobody was asked for anything.
    for (let round = 0; round < maxRounds; round += 1) {
      const before = requests
      for (const { server, isDown } of this.#members) if (!isDown) await server.settle()
      if (requests === before) return
    }
    throw new Error(`the servers ask each other for more after ${maxRounds} rounds`)
  }

  /** Lets time pass in steps, with everything that becomes due in between. */
  async pass(ms: number, stepMs = 60_000): Promise<void> {
    const untilMs = this.clock.now() + ms
    while (this.clock.now() < untilMs) {
      this.clock.advance(Math.min(stepMs, untilMs - this.clock.now()))
      await this.settle()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.filter(({ isDown }) => !isDown).map(({ server }) => server.stop()))
    await Promise.all(this.#foreign.map((foreign) => foreign[Symbol.asyncDispose]()))
    await Promise.all(this.#members.map(({ link }) => link[Symbol.asyncDispose]()))
    await Promise.all(this.#members.map(({ dataDir }) => rm(dataDir, { recursive: true, force: true })))
  }

  #start({ name, ...place }: Omit<Member, 'server' | 'isDown'>): Promise<TestServer> {
    const { env, dataDir, link, clock, webBuild } = place
    const identityHosts = this.#identityHosts
    const baseIdTag = `${name}.localhost`
    return TestServer.start({ env, dataDir, link, clock, webBuild, identityHosts, baseIdTag })
  }

  #member(at: number): Member {
    const member = this.#members[at]
    if (!member) throw new RangeError(`there are ${this.#members.length} servers`)
    return member
  }
}
