import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@kith/client'
import { type IdTag, login } from '@kith/protocol'
import { type RunningServer, startServer } from '#app/server.ts'
import { createAccount, setPassword } from '#features/accounts/index.ts'
import { createTenant, type HostedTenant } from '#features/tenants/index.ts'
import { readConfig } from '#infra/config/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { type Logger, silentLogger } from '#infra/telemetry/index.ts'
import { localFetch } from './local-fetch.ts'
import { TestClock } from './test-clock.ts'

export interface TestServerOptions {
  readonly baseIdTag?: string
  readonly env?: Readonly<Record<string, string>>
  /** Server URLs by identity, shared by the servers of a network and filled while they run. */
  readonly identityHosts?: Map<IdTag, string>
  readonly clock?: TestClock
  readonly logger?: Logger
  /** Kept by the caller when given, so that a second server can start on it. */
  readonly dataDir?: string
}

export const testPassword = 'correct horse battery'

/** The whole program in this process: port 0, a temporary directory, a clock that the test moves. */
export class TestServer implements AsyncDisposable {
  readonly clock: TestClock
  readonly baseIdTag: IdTag
  readonly #running: RunningServer
  readonly #identityHosts: Map<IdTag, string>
  readonly #ownDir: string | undefined
  readonly #fetch: typeof fetch

  private constructor(
    running: RunningServer,
    options: Required<Pick<TestServerOptions, 'clock' | 'identityHosts'>>,
    ownDir: string | undefined,
  ) {
    this.#running = running
    this.clock = options.clock
    this.baseIdTag = running.services.config.baseIdTag
    this.#identityHosts = options.identityHosts
    this.#ownDir = ownDir
    this.#fetch = localFetch()
  }

  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const {
      baseIdTag = 'home.localhost',
      clock = new TestClock(),
      identityHosts = new Map(),
      logger = silentLogger,
    } = options
    const ownDir = options.dataDir === undefined ? await mkdtemp(join(tmpdir(), 'kith-test-')) : undefined
    const read = readConfig({
      BASE_ID_TAG: baseIdTag,
      BASE_PASSWORD: testPassword,
      LISTEN: '127.0.0.1:0',
      DATA_DIR: options.dataDir ?? ownDir,
      ...options.env,
    })
    const config = { ...read, federation: { ...read.federation, identityHosts } }
    const running = await startServer(config, { clock, logger })
    const server = new TestServer(running, { clock, identityHosts }, ownDir)
    server.#announce(config.baseIdTag)
    return server
  }

  get running(): RunningServer {
    return this.#running
  }

  get db() {
    return this.#running.services.db
  }

  /** The origin under which a tenant is reached. */
  urlOf(idTag: string): string {
    return this.#running.addresses.serverUrl(idTag as IdTag)
  }

  /** A tenant of this server; persons can sign in with `testPassword`. */
  async createTenant(
    idTag: string,
    options: { type?: 'person' | 'community'; name?: string; email?: string } = {},
  ): Promise<HostedTenant> {
    const { identity } = this.#running.features
    const { type = 'person', name = idTag, email } = options
    const hash = await identity.passwords.hash(testPassword)
    const tenant = await this.db.transact(serverTenant, async (tx) => {
      const made = await createTenant(identity.createTenant, tx, { idTag: idTag as IdTag, type, name })
      if (type === 'community') return made
      const own = tx.as(made.tenantId)
      const { vault, clock } = this.#running.services
      await createAccount({ vault, clock }, own, email === undefined ? {} : { email })
      await setPassword({ clock }, own, hash)
      return made
    })
    this.#announce(tenant.idTag)
    return tenant
  }

  /** The token of a fresh session of a tenant's owner. */
  async signIn(idTag: string, password = testPassword): Promise<string> {
    const { data } = await this.client(idTag).call(login, { body: { idTag, password } })
    return data.token
  }

  /** A client signed in as a tenant's owner, on its own host. */
  async as(idTag: string): Promise<Client> {
    return this.client(idTag, await this.signIn(idTag))
  }

  /** A client on a tenant's host with this bearer, or none. */
  client(idTag: string, token?: string): Client {
    const options = token === undefined ? {} : { token }
    return createClient({ baseUrl: this.urlOf(idTag), fetch: this.#fetch, ...options })
  }

  /** A request to this server on a tenant's host, for what the client does not do. */
  request(idTag: string, path: string, init?: RequestInit): Promise<Response> {
    return this.#fetch(`${this.urlOf(idTag)}${path}`, init)
  }

  /** Resolves when every job that is due has run. */
  settle(): Promise<void> {
    return this.#running.services.jobs.settle()
  }

  async stop(): Promise<void> {
    await this.#running.stop()
    if (this.#ownDir !== undefined) await rm(this.#ownDir, { recursive: true, force: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #announce(idTag: IdTag): void {
    this.#identityHosts.set(idTag, this.urlOf(idTag))
  }
}
