import type { IdTag } from '@kith/protocol'
import { endSessions } from '#features/accounts/index.ts'
import { type ActionPorts, makeAction, storeMade } from '#features/actions/index.ts'
import {
  type AdminEndpointDeps,
  addDayCount,
  adminEndpoints,
  type ChangeIdentityDeps,
  getCounts,
  handlePurges,
  tenantEndpoints,
  workEndpoints,
} from '#features/admin/index.ts'
import { handleServerStatusEnds } from '#features/relations/index.ts'
import { ownerOf } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { freeBytesOf } from '#infra/disk/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import type { ServerCounts } from '#infra/telemetry/index.ts'
import { pauseFor } from '#lib/clock.ts'
import { RecentReads } from '#lib/recent-reads.ts'
import type { Addresses } from './addresses.ts'
import type { IdentityFeatures } from './identity-features.ts'
import { purgeTenant, removeContents } from './purge/purge-tenant.ts'
import { openRegistration } from './registration-features.ts'
import { serverChecksOf } from './server-checks.ts'
import type { Services } from './services.ts'
import { openSettingsMailer } from './settings-mailer.ts'
import { version } from './version.ts'

/** What it takes to decide about an identity for the whole server. */
export function deciding(
  { db, clock, jobs }: Pick<Services, 'db' | 'clock' | 'jobs'>,
  { tenants, emit }: Pick<IdentityFeatures, 'tenants' | 'emit'>,
): ChangeIdentityDeps & Pick<AdminEndpointDeps, 'revokeSessions'> {
  const revokeSessions = (tx: Writer, callerTag?: IdTag) => endSessions({ clock, emit }, tx, callerTag)
  return { db, clock, jobs, tenants, emit, revokeSessions }
}

type AdminParts = Pick<
  AdminEndpointDeps,
  'db' | 'clock' | 'jobs' | 'egress' | 'tenants' | 'identities' | 'emit'
> & {
  readonly ports: ActionPorts
  readonly addresses: Addresses
}

/** What administrators see and decide. */
export function wireAdministration(
  services: Services,
  identity: IdentityFeatures,
  { ports, addresses, ...deps }: AdminParts,
): Endpoint[] {
  const { db, clock, jobs, vault, config } = services
  const adminDeps: AdminEndpointDeps = {
    ...deps,
    vault,
    async prepareEnd(community, audienceTag) {
      const input = { type: 'CONN', subType: 'DEL', audienceTag }
      const made = await makeAction(ports, { tenant: community, caller: ownerOf(community), input })
      return async (tx) => void (await storeMade(ports, tx, made))
    },
    ...deciding(services, identity),
  }
  handleServerStatusEnds(jobs, { db, clock, emit: identity.emit })
  handlePurges(jobs, {
    tenants: identity.tenants,
    purge: (tenant, by) =>
      purgeTenant({ ...services, ...identity, pause: (ms) => pauseFor(clock, ms), by }, tenant),
    sweep: (tenant) => removeContents({ ...services, ...identity }, tenant),
  })
  followCounts(services)
  addDayCount({ db, clock, jobs, tenants: identity.tenants })
  const mailer = openSettingsMailer(services, identity.settings)
  return [
    ...adminEndpoints(adminDeps),
    ...tenantEndpoints({ ...adminDeps, mailer, settings: identity.settings }),
    ...workEndpoints({
      ...{ db, clock, jobs, version, tenants: identity.tenants },
      startedAtMs: clock.now(),
      dataDir: config.dataDir,
      findRegistration: openRegistration(services, identity),
      ...serverChecksOf(services, { settings: identity.settings, addresses }),
    }),
  ]
}

// Counting unfinished jobs reads the index of all of them: scrapes within this time share one count.
const countsFreshMs = 30_000

function followCounts({ db, clock, metrics, config }: Services): void {
  const recent = new RecentReads<'counts', ServerCounts>({ clock, maxEntries: 1, freshMs: countsFreshMs })
  const load = async () => ({
    ...(await getCounts({ db, clock })),
    freeBytes: await freeBytesOf(config.dataDir),
    databaseBytes: await db.sizeBytes(),
  })
  metrics.followCounts(() => recent.read('counts', load))
}
