import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@kith/client'
import { type ActionId, type IdTag, login } from '@kith/protocol'
import { migrations } from '#app/migrations.ts'
import { type RunningServer, startServer } from '#app/server.ts'
import {
  createAccount,
  endSignIns,
  issueToken,
  rolesOf,
  setPassword,
  startSession,
} from '#features/accounts/index.ts'
import { findStoredAction } from '#features/actions/index.ts'
import { changeRelation, type Relation } from '#features/relations/index.ts'
import { createTenant, type HostedTenant, resumeTenant, suspendTenant } from '#features/tenants/index.ts'
import { readConfig } from '#infra/config/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { type Logger, silentLogger } from '#infra/telemetry/index.ts'
import type { CuttableLink } from './cuttable-link.ts'
import { localFetch } from './local-fetch.ts'
import { placeMigratedFile } from './migrated-file.ts'
import { TestClock } from './test-clock.ts'

export interface TestServerOptions {
  readonly baseIdTag?: string
  readonly env?: Readonly<Record<string, string>>
  /** Server URLs by identity, shared by the servers of a network and filled while they run. */
  readonly identityHosts?: Map<IdTag, string>
  readonly clock?: TestClock
  readonly logger?: Logger
  /** Keeps room on the disk for the day when it is full. */
  readonly hasBallast?: boolean
  /** Kept by the caller when given, so that a second server can start on it. */
  readonly dataDir?: string
  /** The way to it, which stays when it stops: another server may take its place. Otherwise it is reached at its own port. */
  readonly link?: CuttableLink
  /** The folder with a build of the web app. */
  readonly webBuild?: string | undefined
}

interface InboxAnswer {
  readonly data?: { readonly actionId: string; readonly status: string; readonly verified: boolean }
  readonly error?: {
    readonly code: string
    readonly details?: { readonly reason?: string; readonly issues?: { path: string }[] }
  }
}

export const testPassword = 'correct horse battery'
// A hash of the usual cost is slow by design.
const passwordCost = { memoryKiB: 8, passes: 1 }
const sessionSecs = 7 * 86_400
let passwordHash: Promise<string> | undefined

/** The whole program in this process: port 0, a temporary directory, a clock that the test moves. */
export class TestServer implements AsyncDisposable {
  readonly clock: TestClock
  readonly baseIdTag: IdTag
  readonly #running: RunningServer
  readonly #identityHosts: Map<IdTag, string>
  readonly #ownDir: string | undefined
  readonly #link: CuttableLink | undefined
  readonly #fetch: typeof fetch

  private constructor(
    running: RunningServer,
    options: Required<Pick<TestServerOptions, 'clock' | 'identityHosts'>>,
    ownDir: string | undefined,
    link: CuttableLink | undefined,
  ) {
    this.#running = running
    this.clock = options.clock
    this.baseIdTag = running.services.config.baseIdTag
    this.#identityHosts = options.identityHosts
    this.#ownDir = ownDir
    this.#link = link
    link?.leadTo(running.port)
    this.#fetch = localFetch(new URL(running.url).hostname)
  }

  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const {
      baseIdTag = 'home.localhost',
      clock = new TestClock(),
      identityHosts = new Map(),
      logger = silentLogger,
      hasBallast = false,
    } = options
    const ownDir = options.dataDir === undefined ? await mkdtemp(join(tmpdir(), 'kith-test-')) : undefined
    const read = readConfig({
      BASE_ID_TAG: baseIdTag,
      BASE_PASSWORD: testPassword,
      LISTEN: '127.0.0.1:0',
      ...(options.link && { PUBLIC_URL: `http://{idTag}:${options.link.port}` }),
      DATA_DIR: options.dataDir ?? ownDir,
      ...options.env,
    })
    const config = { ...read, federation: { ...read.federation, identityHosts } }
    await placeMigratedFile(config, migrations)
    const running = await startServer(config, {
      clock,
      logger,
      passwordCost,
      hasBallast,
      webBuild: options.webBuild,
    })
    const server = new TestServer(running, { clock, identityHosts }, ownDir, options.link)
    server.#announce(config.baseIdTag)
    return server
  }

  /** Another process of a server on PostgreSQL: it shares database, blobs and master key, and has a DATA_DIR of its own. */
  static async startBeside(
    first: TestServer,
    env: Readonly<Record<string, string>> = {},
  ): Promise<TestServer> {
    const { dataDir, database } = first.running.services.config
    const shared = {
      DATABASE_URL: database.url.reveal(),
      BLOB_STORE: `file:${join(dataDir, 'blobs')}`,
      MASTER_KEY_FILE: join(dataDir, 'master.key'),
    }
    const { clock, baseIdTag } = first
    return await TestServer.start({
      clock,
      baseIdTag,
      identityHosts: first.#identityHosts,
      env: { ...shared, ...env },
    })
  }

  get running(): RunningServer {
    return this.#running
  }

  /** Where it is reached: at its link, if it has one. */
  get port(): number {
    return this.#link?.port ?? this.#running.port
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
    options: { type?: 'person' | 'community'; name?: string; email?: string; appDomain?: string } = {},
  ): Promise<HostedTenant> {
    const { identity } = this.#running.features
    const { type = 'person', name = idTag, email } = options
    const appDomain = options.appDomain as IdTag | undefined
    passwordHash ??= identity.passwords.hash(testPassword)
    const hash = await passwordHash
    const tenant = await this.db.transact(serverTenant, async (tx) => {
      const asked = { idTag: idTag as IdTag, type, name, ...(appDomain && { appDomain }) }
      const made = await createTenant(identity.createTenant, tx, asked)
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

  /** A client of a tenant's owner on its own host, with a session that nobody had to sign in for. */
  async as(idTag: string): Promise<Client> {
    return this.client(idTag, await this.tokenOfSession(idTag))
  }

  /** The token of a session that nobody had to sign in for: signing in is limited by rate. */
  async tokenOfSession(idTag: string): Promise<string> {
    const { clock, tokenSecrets: secrets } = this.#running.services
    const tenant = await this.#tenant(idTag)
    const callerTag = tenant.idTag
    const opened = {
      callerTag,
      method: 'password',
      device: { ip: '192.0.2.1' },
      expiresAt: undefined,
    } as const
    const session = await this.db.transact(tenant.tenantId, (tx) => startSession({ clock }, tx, opened))
    const roles = rolesOf(tenant, { role: 'leader', isOwner: true, isAdmin: tenant.isBase })
    const { token } = await issueToken({ clock, secrets }, tenant, {
      use: 'login',
      sid: session?.sid ?? '',
      callerTag,
      roles,
      lifeSecs: sessionSecs,
      notAfter: [],
    })
    return token
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

  /** Posts a token to the server's inbox, as another server would; an announcement with what it announces. */
  async deliver(token: string, path: '/api/inbox' | '/api/inbox/sync' = '/api/inbox', announced?: string) {
    const headers = { 'content-type': announced === undefined ? 'application/jwt' : 'application/json' }
    const body = announced === undefined ? token : JSON.stringify({ token, announced })
    const answer = await this.request(this.baseIdTag, path, { method: 'POST', headers, body })
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as InboxAnswer }
  }

  /** The signed text of an action that a tenant holds. */
  async tokenOf(idTag: string, actionId: string): Promise<string> {
    const reader = this.db.reader((await this.#tenant(idTag)).tenantId)
    const action = await findStoredAction(reader, actionId as ActionId)
    if (action?.token === undefined) throw new Error(`${actionId} has no token`)
    return action.token
  }

  /** Makes a tenant block an identity. */
  async block(idTag: string, other: string): Promise<void> {
    await this.relate(idTag, other, { isBlocked: true })
  }

  /** What holds from now on between a tenant and an identity, without an action that says so. */
  async relate(idTag: string, other: string, change: Partial<Relation>): Promise<void> {
    const at = Math.floor(this.clock.now() / 1000)
    const { tenantId } = await this.#tenant(idTag)
    await this.db.transact(
      tenantId,
      async (tx) => void (await changeRelation(tx, other as IdTag, { ...change, at })),
    )
  }

  async suspend(idTag: string): Promise<void> {
    const { clock } = this
    const { tenants, emit } = this.#running.features.identity
    const end = (tx: Writer) => endSignIns({ clock, emit }, tx)
    const { tenantId } = await this.#tenant(idTag)
    await this.db.transact(tenantId, (tx) => suspendTenant({ tenants, clock, emit, revokeSessions: end }, tx))
  }

  async resume(idTag: string): Promise<void> {
    const { clock } = this
    const { tenants, emit } = this.#running.features.identity
    const { tenantId } = await this.#tenant(idTag)
    await this.db.transact(tenantId, (tx) => resumeTenant({ tenants, clock, emit }, tx))
  }

  /** How many rows these tables have, over all tenants. */
  async countRows(...tables: string[]): Promise<Record<string, number>> {
    const reader = this.db.reader(serverTenant)
    const counts = tables.map(async (table) => {
      const count = reader.tables<Record<string, object>>().selectFrom(table)
      const row = await count.select((eb) => eb.fn.countAll().as('count')).executeTakeFirstOrThrow()
      return [table, Number(row.count)] as const
    })
    return Object.fromEntries(await Promise.all(counts))
  }

  /** Resolves when every job that is due has run. */
  settle(): Promise<void> {
    return this.#running.services.jobs.settle()
  }

  async stop(): Promise<void> {
    this.#link?.leadTo(undefined)
    await this.#running.stop()
    if (this.#ownDir !== undefined) await rm(this.#ownDir, { recursive: true, force: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #tenant(idTag: string): Promise<HostedTenant> {
    const tenant = await this.#running.features.identity.tenants.find(idTag as IdTag)
    if (!tenant) throw new Error(`${idTag} does not live here`)
    return tenant
  }

  #announce(idTag: IdTag): void {
    this.#identityHosts.set(idTag, this.urlOf(idTag))
  }
}
