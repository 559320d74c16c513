import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@kith/client'
import { login, putSetting } from '@kith/protocol'
import { ClockedProcess } from '#harness/clocked-process.ts'
import { CuttableLink } from '#harness/cuttable-link.ts'
import { testPassword } from '#harness/test-server.ts'

/** Each row is a server, its first name the base tenant. */
const names = [
  ['ada', 'abe'],
  ['bea', 'bob'],
  ['cyd', 'cal'],
] as const
const minuteMs = 60_000

export interface ChaosTenant {
  readonly idTag: string
  readonly at: number
  token: string
}

interface Site {
  readonly link: CuttableLink
  readonly dataDir: string
  process: ClockedProcess | undefined
}

/** Three servers in processes of their own with two people each, links that can be cut, and one clock for all. */
export class ChaosWorld implements AsyncDisposable {
  readonly people: readonly ChaosTenant[]
  readonly #sites: Site[] = []
  readonly #folder: string
  #nowMs = Date.UTC(2026, 0, 1)

  private constructor(folder: string) {
    this.#folder = folder
    this.people = names.flatMap((row, at) =>
      row.map((name) => ({ idTag: `${name}.localhost`, at, token: '' })),
    )
  }

  static async open(): Promise<ChaosWorld> {
    const folder = await mkdtemp(join(tmpdir(), 'kith-chaos-'))
    const world = new ChaosWorld(folder)
    for (const [base] of names)
      world.#sites.push({
        link: await CuttableLink.open(),
        dataDir: join(folder, base),
        process: undefined,
      })
    await Promise.all(names.map((_, at) => world.start(at)))
    await Promise.all(names.map(([, second], at) => world.#createTenant(at, `${second}.localhost`)))
    await world.signIn()
    await world.#welcomeStrangers()
    return world
  }

  get downs(): number[] {
    return this.#sites.flatMap(({ process }, at) => (process ? [] : [at]))
  }

  get size(): number {
    return this.#sites.length
  }

  link(at: number): CuttableLink {
    return this.#site(at).link
  }

  /** At home; undefined while the server is down. */
  clientOf({ idTag, at, token }: ChaosTenant): Client | undefined {
    return this.#site(at).process?.client(idTag, token)
  }

  guestOf({ idTag, at }: ChaosTenant): Client | undefined {
    return this.#site(at).process?.client(idTag)
  }

  async start(at: number): Promise<void> {
    const site = this.#site(at)
    const hosts = this.people.map(
      (person) => [person.idTag, `http://${person.idTag}:${this.link(person.at).port}`] as const,
    )
    site.process = await ClockedProcess.start({
      baseIdTag: `${names[at]?.[0]}.localhost`,
      dataDir: site.dataDir,
      linkPort: site.link.port,
      identityHosts: Object.fromEntries(hosts),
      nowMs: this.#nowMs,
    })
    site.link.leadTo(site.process.port)
  }

  async kill(at: number): Promise<void> {
    const site = this.#site(at)
    const { process } = site
    site.process = undefined
    site.link.leadTo(undefined)
    await process?.kill()
  }

  async heal(): Promise<void> {
    for (const { link } of this.#sites) link.set('open')
    await Promise.all(this.downs.map((at) => this.start(at)))
  }

  async advance(ms: number): Promise<void> {
    this.#nowMs += ms
    await this.#all((process) => process.obey({ kind: 'advance', ms }))
  }

  /** Lets what is due be done; what one server delivers may give another something to do. */
  async settle(): Promise<void> {
    for (let round = 0; round < 4; round += 1) await this.#all((process) => process.obey({ kind: 'settle' }))
  }

  /** Lets time pass in steps, longer ones than the pauses of what has often failed. */
  async pass(minutes: number): Promise<void> {
    await this.settle()
    await this.advance(minutes * minuteMs)
    await this.settle()
  }

  async signIn(): Promise<void> {
    const entries = this.people.map(async (person) => {
      const body = { idTag: person.idTag, password: testPassword }
      const answer = await this.guestOf(person)?.call(login, { body })
      person.token = answer?.data.token ?? ''
    })
    await Promise.all(entries)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#sites.map(({ process }) => process?.kill()))
    await Promise.all(this.#sites.map(({ link }) => link[Symbol.asyncDispose]()))
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** Opens everybody's wall (`privacy.open_wall`): by default a post that a stranger addresses to somebody is refused with 403. */
  async #welcomeStrangers(): Promise<void> {
    const setting = { params: { name: 'privacy.open_wall' }, body: { value: true } }
    await Promise.all(this.people.map((person) => this.clientOf(person)?.call(putSetting, setting)))
  }

  async #createTenant(at: number, idTag: string): Promise<void> {
    await this.#site(at).process?.obey({ kind: 'createTenant', idTag })
  }

  async #all(work: (process: ClockedProcess) => Promise<void>): Promise<void> {
    await Promise.all(this.#sites.map(({ process }) => process && work(process)))
  }

  #site(at: number): Site {
    const site = this.#sites[at]
    if (!site) throw new RangeError(`there is no server ${at}`)
    return site
  }
}
