import {
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { CommunityRole, FileId, IdTag } from '@kith/protocol'
import { forgetting } from '#app/forgetting.ts'
import { wireSignIn } from '#app/sign-in-features.ts'
import {
  type AccountEvent,
  Authenticator,
  accountsMigrations,
  browserSessionsMigrations,
  createAccount,
  createPasswordHasher,
  LastUse,
  type PasswordHasher,
  setPassword,
  type TokenLifetimes,
  visitsMigrations,
} from '#features/accounts/index.ts'
import { isAppInstalled } from '#features/apps/index.ts'
import { auditMigrations } from '#features/audit/index.ts'
import { type RelationEvent, relationsMigrations, setRelation } from '#features/relations/index.ts'
import {
  createTenant,
  type NewTenant,
  openTenants,
  type TenantEvent,
  tenantsMigrations,
} from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, type Migration, serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { createMemoryRateLimits, defaultRateLimits, type RateLimitName } from '#infra/http/index.ts'
import { jobsMigrations, openJobs } from '#infra/jobs/index.ts'
import {
  keysMigrations,
  openSignatures,
  openSigningKeys,
  openTokenSecrets,
  openVault,
} from '#infra/keys/index.ts'
import type { Mail } from '#infra/mail/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { OpenTestDatabase } from './each-dialect.ts'
import { TestClock } from './test-clock.ts'
import { labBytes } from './test-seed.ts'

const migrations: readonly Migration[] = [
  ...keysMigrations,
  ...jobsMigrations,
  ...tenantsMigrations,
  ...relationsMigrations,
  ...auditMigrations,
  ...accountsMigrations,
  ...browserSessionsMigrations,
  ...visitsMigrations,
]

export const defaultLifetimes: TokenLifetimes = {
  loginSecs: 24 * 3600,
  sessionSecs: 30 * 24 * 3600,
  accessSecs: 3600,
  referenceSecs: 24 * 3600,
  proxySecs: 300,
}

/** What the other features tell sign-in, as plain values that a test may change. */
export class SignInWorld {
  readonly clock = new TestClock()
  readonly masterKey = createSecretKey(randomBytes(32))
  lifetimes = defaultLifetimes
  readonly names = new Map<TenantId, string>()
  /** What an identity may do with a file. */
  readonly fileAccess = new Map<`${IdTag} ${FileId}`, 'read' | 'write'>()
  /** Keys of identities of other servers. */
  readonly remoteKeys = new Map<IdTag, { kid: string; key: KeyObject; expiresAt?: number }>()
  /** Whose domain the server blocks. */
  readonly domainBlocked = new Set<IdTag>()
  readonly mails: Mail[] = []
  /** What sign-in has logged as a warning. */
  readonly warnings: object[] = []
  mailFailure: Error | undefined
  needsVerifiedEmail = false
  /** How often a password was hashed: most of the time that a sign-in takes. */
  hashings = 0

  /** An identity elsewhere; the answer signs for it. */
  addRemote(idTag: IdTag, kid = '20260101abcd'): KeyObject {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
    this.remoteKeys.set(idTag, { kid, key: publicKey })
    return privateKey
  }
}

/** Everything sign-in needs, in a fresh database. */
export async function openSignInLab(
  open: OpenTestDatabase,
  limits: Partial<Record<RateLimitName, number>> = {},
) {
  const world = new SignInWorld()
  return signInLab(await open({ migrations, clock: world.clock }), world, limits)
}

export type SignInLab = ReturnType<typeof signInLab>

/** One process of a server; a second one shares database and world. */
export function signInLab(
  db: Database,
  world: SignInWorld,
  limits: Partial<Record<RateLimitName, number>> = {},
) {
  const { clock } = world
  const vault = openVault(world)
  const signatures = openSignatures()
  const keys = openSigningKeys({ db, vault, signatures, clock })
  const secrets = openTokenSecrets({ db, vault, clock })
  const jobs = openJobs({ db, clock, logger: silentLogger, nodeId: labBytes(4).toString('hex') })
  const tenants = openTenants({ db, clock })
  const lastUse = new LastUse(db, clock)
  const passwords = countingHasher(world)
  const unlimited = Object.keys(defaultRateLimits).map((name) => [name, 1_000_000] as const)
  const rateLimits = createMemoryRateLimits(clock, {
    ...(Object.fromEntries(unlimited) as Record<RateLimitName, number>),
    ...limits,
  })
  const deps = {
    ...{ db, clock, vault, signatures, keys, secrets, jobs, tenants, lastUse, passwords },
    logger: { warn: (details: object, msg: string) => void world.warnings.push({ ...details, msg }) },
    rateLimits,
    isAppInstalled,
    ...portsOf(world, { keys, tenants }),
  }
  const authenticator = new Authenticator({ ...deps, shareForgotten: () => undefined })
  const emit = emitterOf(authenticator)
  const withSessions = { ...deps, authenticator, emit }
  return {
    ...{ db, clock, world, keys, secrets, jobs, tenants, lastUse, authenticator, emit },
    deps: withSessions,
    endpoints: wireSignIn(withSessions),
    makeTenant: (idTag: string, options: TenantOptions = {}) => makeTenant(deps, idTag, options),
    /** The role of somebody at a tenant, from now on. */
    async giveRole({ tenantId }: Tenant, idTag: IdTag, role: CommunityRole): Promise<void> {
      await db.transact(tenantId, (tx) => setRelation({ emit }, tx, idTag, { role, at: nowSecs(clock) }))
    },
  }
}

type LabEvent = AccountEvent | RelationEvent | TenantEvent

function emitterOf(authenticator: Authenticator): Emit<LabEvent> {
  const { forgetRole, forgetCredentials } = forgetting(authenticator)
  return async (tx, event) => {
    if (event.kind === 'credentials.forgotten') forgetCredentials(tx, event)
    if (event.kind === 'relation.changed' || event.kind === 'admin.changed') forgetRole(tx, event)
  }
}

function countingHasher(world: SignInWorld): PasswordHasher {
  const hasher = createPasswordHasher({ memoryKiB: 64, passes: 1 })
  return {
    hash(password) {
      world.hashings += 1
      return hasher.hash(password)
    },
    check(password, hash) {
      world.hashings += 1
      return hasher.check(password, hash)
    },
  }
}

function portsOf(
  world: SignInWorld,
  { keys, tenants }: { keys: ReturnType<typeof openSigningKeys>; tenants: ReturnType<typeof openTenants> },
) {
  const accessOf = async (_: Tenant, idTag: IdTag, fileId: FileId) =>
    world.fileAccess.get(`${idTag} ${fileId}`)
  const findFileAccess = (tenant: Tenant, { idTag }: { idTag: IdTag }, fileId: FileId) =>
    accessOf(tenant, idTag, fileId)
  return {
    isDomainBlocked: async (idTag: IdTag) => world.domainBlocked.has(idTag),
    async findIdentityKey(idTag: IdTag, kid: string) {
      const remote = world.remoteKeys.get(idTag)
      if (remote) return remote.kid === kid ? remote : 'key-unavailable'
      const tenant = await tenants.find(idTag)
      if (!tenant) return 'unknown-issuer'
      const found = (await keys.list(tenant.tenantId)).find((key) => key.kid === kid)
      return found ? { ...found, key: createPublicKey(found.publicKey) } : 'key-unavailable'
    },
    findLastKnownKey: async (idTag: IdTag, kid: string) => {
      const remote = world.remoteKeys.get(idTag)
      if (!remote) return 'unknown-issuer'
      return remote.kid === kid ? remote : 'key-unavailable'
    },
    egress: {
      request: async () => {
        throw new Error('nothing is sent from here')
      },
    },
    findServerUrl: async (idTag: IdTag) =>
      world.remoteKeys.has(idTag) || (await tenants.find(idTag)) !== undefined
        ? `https://${idTag}`
        : undefined,
    isProxied: async () => false,
    createOwnProfile: async (tx: Writer, { name }: Pick<NewTenant, 'name'>) =>
      void world.names.set(tx.tenantId, name),
    findOwnProfile: async ({ tenantId }: Tenant) => ({ name: world.names.get(tenantId) ?? '?' }),
    findLifetimes: async () => world.lifetimes,
    listLoginSettings: async (): Promise<[string, string][]> => [['theme', 'dark']],
    requiresVerifiedEmail: async () => world.needsVerifiedEmail,
    findFileAccess,
    findGrantableAccess: findFileAccess,
    findMakersFileAccess: accessOf,
    findLanguage: async () => undefined,
    serverUrlOf: ({ idTag }: Tenant) => `https://${idTag}`,
    mailer: {
      async send(mail: Mail) {
        if (world.mailFailure) throw world.mailFailure
        world.mails.push(mail)
      },
    },
  }
}

interface TenantOptions {
  readonly type?: 'person' | 'community'
  readonly password?: string
  readonly email?: string
  readonly isBase?: boolean
  readonly appDomain?: string
}

async function makeTenant(
  deps: Parameters<typeof createTenant>[0] &
    Parameters<typeof createAccount>[0] & {
      readonly db: Database
      readonly passwords: ReturnType<typeof createPasswordHasher>
    },
  idTag: string,
  { type = 'person', password, email, ...rest }: TenantOptions,
) {
  const hash = password === undefined ? undefined : await deps.passwords.hash(password)
  return deps.db.transact(serverTenant, async (tx) => {
    const made = await createTenant(deps, tx, {
      idTag: idTag as IdTag,
      type,
      name: `Name of ${idTag}`,
      ...rest,
    })
    const own = tx.as(made.tenantId)
    if (type === 'person') await createAccount(deps, own, email === undefined ? {} : { email })
    if (hash !== undefined) await setPassword(deps, own, hash)
    return made
  })
}
