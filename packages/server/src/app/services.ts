import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { PasswordCost } from '#features/accounts/index.ts'
import { openSpools, type Spools } from '#infra/archive/index.ts'
import { type BlobStore, openDiskBlobs, openS3Blobs } from '#infra/blobs/index.ts'
import { type NodeBus, openLocalBus, openRedisBus } from '#infra/bus/index.ts'
import type { Config } from '#infra/config/index.ts'
import { type Database, OtherVersion, openDatabase } from '#infra/db/index.ts'
import { DiskReserve, FreshPaths } from '#infra/disk/index.ts'
import { createDnsResolver, type DnsResolver } from '#infra/dns/index.ts'
import { createEgress, type Egress, LoopGuard, type UrlCheck } from '#infra/egress/index.ts'
import { type Images, openImages } from '#infra/images/index.ts'
import { type JobQueue, openJobs } from '#infra/jobs/index.ts'
import {
  openSignatures,
  openSigningKeys,
  openTokenSecrets,
  type Signatures,
  type SigningKeys,
  type TokenSecrets,
  type Vault,
} from '#infra/keys/index.ts'
import { type Mailer, openMailer } from '#infra/mail/index.ts'
import { openPartialFiles, type PartialFiles } from '#infra/partials/index.ts'
import { type Logger, type Metrics, openMetrics } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { assertNoOldData } from './assert-no-old-data.ts'
import { finishRestore } from './finish-restore.ts'
import { migrations } from './migrations.ts'
import { openServerVault } from './server-vault.ts'
import { adviceOnOtherVersion, copyBeforeUpgrade } from './upgrade-copies.ts'
import { commit, version } from './version.ts'

/** The services of `infra`, opened. Features get parts of it, never the whole. */
export interface Services {
  readonly config: Config
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly db: Database
  readonly vault: Vault
  readonly passwordCost: PasswordCost | undefined
  readonly signatures: Signatures
  readonly signingKeys: SigningKeys
  readonly tokenSecrets: TokenSecrets
  readonly jobs: JobQueue
  readonly diskReserve: DiskReserve
  readonly blobs: BlobStore
  readonly partials: PartialFiles
  /** Where rows of exports wait for their readers. */
  readonly spools: Spools
  readonly images: Images
  /** Where half-made pictures lie. */
  readonly tempDir: string
  readonly freshPaths: FreshPaths
  readonly dns: DnsResolver
  readonly egress: Egress & UrlCheck
  /** Detects requests that this process sent and that come back to it (loops). */
  readonly loopGuard: LoopGuard
  readonly mailer: Mailer
  /** Messages between the processes of the server. */
  readonly nodeBus: NodeBus
  /** Closes everything, in the opposite order. */
  close(): Promise<void>
}

/** What a server is given beside its configuration. */
export interface Surroundings {
  readonly clock: Clock
  readonly logger: Logger
  /** Of a password hash; a test's may be less than the usual one. */
  readonly passwordCost?: PasswordCost
  /** Keeps room on the disk of a SQLite file for the day when it is full; it does unless told otherwise. */
  readonly hasBallast?: boolean
  /** Copies a SQLite database before it is migrated; it does unless told otherwise. */
  readonly hasCopy?: boolean
  /** Its name in the database, of a process that runs jobs. */
  readonly nodeId?: string
  /** Of the process whose place it takes. */
  readonly formerNodeId?: string | undefined
}

/** Opens what the configuration names, in the order in which one needs the other. */
export async function openServices(
  config: Config,
  { clock, logger, passwordCost, hasBallast = true, hasCopy = true, ...node }: Surroundings,
): Promise<Services> {
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
  await finishRestore(config.dataDir)
  const metrics = openMetrics({ version, commit })
  const { db, vault } = await openStore(config, { clock, logger, metrics, hasBallast, hasCopy })
  const signatures = openSignatures()
  const signingKeys = openSigningKeys({ db, vault, signatures, clock })
  const tokenSecrets = openTokenSecrets({ db, vault, clock })
  const jobs = openJobs({ db, clock, logger, metrics, nodeId: randomUUID(), ...node })
  const files = await openFileStores(config, { clock, logger })
  const { dns, egress, loopGuard } = openOutside(config)
  const mailer = openMailer({ ...config.mail, clock })
  const nodeBus = await openNodeBus(config, { clock, logger, vault })
  return {
    config,
    clock,
    logger,
    metrics,
    db,
    vault,
    passwordCost,
    signatures,
    signingKeys,
    tokenSecrets,
    jobs,
    ...files,
    freshPaths: new FreshPaths(clock),
    dns,
    egress,
    loopGuard,
    mailer,
    nodeBus,
    async close() {
      await jobs.stop()
      await nodeBus[Symbol.asyncDispose]()
      await files.images.close()
      await egress.close()
      await db.close()
    },
  }
}

async function openNodeBus(
  { redisUrl }: Config,
  { clock, logger, vault }: { clock: Clock; logger: Logger; vault: Vault },
): Promise<NodeBus> {
  return redisUrl
    ? await openRedisBus({ redisUrl: redisUrl.reveal(), clock, logger, vault })
    : openLocalBus({ clock })
}

interface Observers {
  readonly clock: Clock
  readonly logger: Logger
}

type StoreOptions = Required<Pick<Surroundings, 'hasBallast' | 'hasCopy'>>

/** The database, and the vault that decrypts the secrets in it. */
async function openStore(
  config: Config,
  { hasBallast, hasCopy, ...observers }: Observers & StoreOptions & { readonly metrics: Metrics },
): Promise<Pick<Services, 'db' | 'vault'>> {
  const url = config.database.url.reveal()
  const beforeMigrations = (before: Database, applied: readonly string[]) =>
    prepareMigrations(config, before, { applied, hasCopy, ...observers })
  const db = await openDatabase({ url, migrations, beforeMigrations, hasBallast, ...observers }).catch(
    async (error) => {
      if (!(error instanceof OtherVersion)) throw error
      throw new Failure('E-STATE', { message: `${error.message}. ${await adviceOnOtherVersion(config)}.` })
    },
  )
  const vault = await openServerVault(config, { db, clock: observers.clock }).catch(async (error) => {
    await db.close()
    throw error
  })
  return { db, vault }
}

async function prepareMigrations(
  config: Config,
  db: Database,
  {
    applied,
    hasCopy,
    ...observers
  }: Observers & {
    readonly applied: readonly string[]
    readonly hasCopy: boolean
  },
): Promise<void> {
  const lastMigration = applied.at(-1)
  if (lastMigration === undefined) await assertNoOldData(config)
  else if (hasCopy) await copyBeforeUpgrade(config, db, { lastMigration, ...observers })
}

/** What keeps files, whole and in pieces, and makes pictures of them. */
async function openFileStores(
  config: Config,
  { clock, logger }: Observers,
): Promise<Pick<Services, 'diskReserve' | 'blobs' | 'partials' | 'spools' | 'tempDir' | 'images'>> {
  const diskReserve = new DiskReserve(config.database.kind === 'sqlite' ? config.database.path : undefined)
  const keepFreeBytes = diskReserve.bytes
  const blobs = await openBlobs(config, { clock, logger, keepFreeBytes })
  // Not in `tmp`, where the processes that decode pictures may write.
  const partials = await openPartialFiles({
    dir: join(config.dataDir, 'uploads'),
    clock,
    logger,
    keepFreeBytes,
  })
  const spools = await openSpools({ dir: join(config.dataDir, 'exports'), clock, logger, keepFreeBytes })
  const tempDir = join(config.dataDir, 'tmp')
  const images = await openImages({ tempDir, logger })
  return { diskReserve, blobs, partials, spools, tempDir, images }
}

/** The ways to other servers: names and requests. */
export function openOutside({ federation }: Config): Pick<Services, 'dns' | 'egress' | 'loopGuard'> {
  const { dnsServers, allowPrivateNetwork } = federation
  const dns = createDnsResolver({
    servers: dnsServers ?? [],
    systemNames: allowPrivateNetwork !== false && !dnsServers,
  })
  const loopGuard = new LoopGuard()
  const egress = createEgress({
    privateNetworks: allowPrivateNetwork,
    resolver: dns,
    userAgent: `Kith/${version}`,
    loopGuard,
  })
  return { dns, egress, loopGuard }
}

/** Opens the store of bytes that the configuration names. */
export async function openBlobs(
  config: Config,
  {
    clock,
    logger,
    keepFreeBytes,
  }: { clock: Clock; logger: Logger; keepFreeBytes?: (() => Promise<number>) | undefined },
): Promise<BlobStore> {
  const { blobStore: location, s3Credentials: credentials } = config
  if (location.kind === 'file')
    return await openDiskBlobs({ dir: location.path, clock, logger, keepFreeBytes })
  if (!credentials) throw new TypeError('the configuration of S3 comes with its keys')
  const stagingDir = join(config.dataDir, 'staging')
  return await openS3Blobs({ location, credentials, stagingDir, clock, logger, keepFreeBytes })
}
