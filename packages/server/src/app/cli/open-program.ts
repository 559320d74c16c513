import type { IdTag } from '@kith/protocol'
import type { TellingBus } from '#features/bus/index.ts'
import { openDomainBlocks } from '#features/federation/index.ts'
import type { ProviderZones } from '#features/idp/index.ts'
import { assertWhole, findBaseTenant, type HostedTenant, type Tenants } from '#features/tenants/index.ts'
import { type Config, readConfig } from '#infra/config/index.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { Events } from '#infra/events/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { systemClock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type Addresses, openAddresses } from '../addresses.ts'
import { assertNotForeignRoot } from '../data-owner.ts'
import { type IdentityFeatures, openIdentityFeatures } from '../identity-features.ts'
import { findRunningPort } from '../lock-data-dir.ts'
import { type AppEvent, reactionsOf } from '../reactions.ts'
import { openServices, type Services } from '../services.ts'
import { adviceOnOtherVersion } from '../upgrade-copies.ts'
import { openProviderZones } from '../zone-features.ts'
import type { CommandInput } from './command.ts'
import { describeOtherBase } from './other-base.ts'
import { openPresentDatabase } from './present-database.ts'

/** What commands work with: the services of the server without its HTTP and its jobs, beside a running server or not. */
export interface Program {
  readonly services: Services
  readonly addresses: Addresses
  readonly identity: IdentityFeatures
  /** What the DNS says of the names that tenants give. */
  readonly zones: ProviderZones
}

export function readCommandConfig({ env }: Pick<CommandInput, 'env'>): Config {
  return readConfig(env, { envFile: '.env', isTerminal: process.stderr.isTTY === true })
}

// The clients of a server are told by its own processes; a command has none.
const unheard: TellingBus = {
  tell: async () => undefined,
  tellAll: async () => undefined,
  hasListeners: async () => false,
  pass: () => undefined,
}

interface ProgramOptions {
  /** There need be no server yet: the work begins one. */
  readonly mayBegin?: boolean
  /** The database may have the form of an older version: it is brought up to date. */
  readonly mayMigrate?: boolean
  /** A SQLite database is copied before that, unless it is told not to. */
  readonly hasCopy?: boolean
}

/** Opens the services that the configuration names, does the work and closes them. `E-STATE` where there is no server
 * yet, or one of another version: a command that reads must neither create a server nor migrate one that runs. */
export async function withProgram<Result>(
  input: Pick<CommandInput, 'env'>,
  work: (program: Program) => Promise<Result>,
  options: ProgramOptions = {},
): Promise<Result> {
  const config = readCommandConfig(input)
  assertNotForeignRoot(config)
  await assertReady(config, options)
  const { hasCopy = true } = options
  const services = await openServices(config, { clock: systemClock, logger: silentLogger, hasCopy })
  try {
    const addresses = openAddresses(config)
    const runningPort = await findRunningPort(config)
    if (runningPort !== undefined) addresses.setPort(runningPort)
    const events = new Events<AppEvent>()
    const domainBlocks = openDomainBlocks(services)
    const identity = openIdentityFeatures(services, { addresses, domainBlocks, emit: events.emit })
    const zones = openProviderZones(services, identity, addresses)
    events.subscribe(reactionsOf(services, { identity, bus: unheard, zones }))
    try {
      return await work({ services, addresses, identity, zones })
    } finally {
      await identity.lastUse[Symbol.asyncDispose]()
    }
  } finally {
    await services.close()
  }
}

async function assertReady(config: Config, { mayBegin, mayMigrate }: ProgramOptions): Promise<void> {
  const present = await openPresentDatabase(config)
  await present?.db.close()
  if (!present && !mayBegin)
    throw new Failure('E-STATE', {
      message: `There is no server in ${config.dataDir} yet: the first start makes it (kith serve). If yours is elsewhere, run kith in its working directory, or set DATA_DIR.`,
    })
  if (present?.foreign !== undefined)
    throw new Failure('E-STATE', {
      message: `Another version of the program has changed the database (${present.foreign}). ${await adviceOnOtherVersion(config)}.`,
    })
  if (present && !present.isCurrent && !mayMigrate)
    throw new Failure('E-STATE', {
      message:
        'The database is that of an older version of the program. Stop the server, then bring it up to date: kith migrate',
    })
}

/** The tenant with this name. `E-PROFILE-NOTFOUND` when there is none, `E-STATE` while it is being removed or imported:
 * then a change would be lost. */
export async function getHosted(program: Program, idTag: IdTag): Promise<HostedTenant> {
  const tenant = await getListed(program, idTag)
  assertWhole(tenant)
  return tenant
}

/** The same, also while it is being removed or imported: for commands that change nothing or continue that work. */
export async function getListed({ identity, services }: Program, idTag: IdTag): Promise<HostedTenant> {
  const tenant = await identity.tenants.find(idTag)
  if (tenant) return tenant
  const base = await findBaseTenant(services.db.reader(serverTenant))
  const other = base && describeOtherBase(services.config, base.idTag)
  const first = base ? '' : ' The first start makes it: kith serve.'
  const hint = idTag !== services.config.baseIdTag ? '' : other ? ` ${other}` : first
  throw new Failure('E-PROFILE-NOTFOUND', { message: `There is no tenant ${idTag} on this server.${hint}` })
}

const pageSize = 500

/** Every tenant of this server, suspended ones too, in order of creation. */
export async function* eachTenant(tenants: Pick<Tenants, 'list'>): AsyncGenerator<HostedTenant> {
  let after: TenantId = serverTenant
  while (true) {
    const page = await tenants.list({ after, limit: pageSize })
    yield* page
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last.tenantId
  }
}
