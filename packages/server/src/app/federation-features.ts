import type { ActionId, IdTag } from '@kith/protocol'
import { mintProxyToken } from '#features/accounts/index.ts'
import {
  type ActionPorts,
  actionEndpoints,
  type FileShares,
  findConcerned,
  findSendable,
  findStoredAction,
  findToldCounts,
  getSentId,
  handleActionJobs,
  listCountTokens,
  putTombstone,
  receiveAction,
} from '#features/actions/index.ts'
import {
  type Asker,
  type DomainBlocks,
  findFreshInboxes,
  findStoredIdentity,
  type HistoryDeps,
  type HistoryRequesterDeps,
  handleInboxJobs,
  handleOutboxJobs,
  historyRequester,
  inboxEndpoints,
  openTokenVerifier,
  outboxEndpoints,
  queueDeliveredHistory,
  queueForSending,
  receiveLocally,
  type SendDeps,
  sweepIdentitiesJob,
  sweepIdentitiesPeriodMs,
} from '#features/federation/index.ts'
import { assertAttachable, queueFetches } from '#features/files/index.ts'
import { findStoredProfile } from '#features/profiles/index.ts'
import {
  findEffectiveRelation,
  findRelation,
  isLastLeader,
  listCircle,
  roleOf,
} from '#features/relations/index.ts'
import { findTenantByIdTag, listHosted } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Reader, serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import { registrableDomain } from '#infra/dns/index.ts'
import { assertRate, type Endpoint, type RateLimits } from '#infra/http/index.ts'
import { countJobs, listGroups, listJobs } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { Addresses } from './addresses.ts'
import { getTenant, type IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'

/** What the ways in and out need beside the services. */
export interface FederationParts {
  readonly ports: ActionPorts
  readonly addresses: Addresses
  readonly domainBlocks: DomainBlocks
  readonly rateLimits: RateLimits
}

/** Actions and their ways in and out: what one causes in the other is told here and nowhere else. */
export function wireActions(
  services: Services,
  identity: IdentityFeatures,
  parts: FederationParts,
): Endpoint[] {
  const { addresses, ports } = parts
  const receiveDeps = wireInbox(services, identity, parts)
  wireOutbox(services, identity, { ...parts, receiveDeps })
  const { db, jobs, clock } = services
  const { tenants, identities } = identity
  jobs.handle(sweepIdentitiesJob, async () => void (await identities.sweep()))
  jobs.every(sweepIdentitiesJob, sweepIdentitiesPeriodMs)
  handleActionJobs({ ...ports, jobs, findTenantById: tenants.findById })
  return [
    ...actionEndpoints(ports),
    ...inboxEndpoints(receiveDeps),
    ...outboxEndpoints({
      db,
      clock,
      listGroups,
      listJobs,
      listCountTokens: (tenant, actionIds) => listCountTokens(ports, tenant, actionIds),
      countJobs,
      ownServer: () => new URL(addresses.serverUrl(services.config.baseIdTag)).host,
      getSentId: (request) => getSentId(ports, request),
    }),
  ]
}

/** What it takes to queue deliveries. */
function sendDeps({ jobs, clock }: Services): SendDeps {
  return {
    jobs,
    findLocal: listHosted,
    listCircle,
    findInboxes: (tx: Writer, idTags: readonly IdTag[], known: 'fresh' | 'ever') =>
      findFreshInboxes(tx.as(serverTenant), idTags, known === 'fresh' ? nowSecs(clock) : 0),
  }
}

/** What the actions need of everything else. */
export function actionPorts(
  services: Services,
  { tenants, identities, settings, emit }: IdentityFeatures,
  fileShares: FileShares,
): ActionPorts {
  const { db, clock, jobs, signingKeys } = services
  const sending = sendDeps(services)
  return {
    db,
    clock,
    jobs,
    keys: signingKeys,
    fileShares,
    isOpenToStrangers: (reader, setting) => settings.findWith(reader, setting),
    async findHosted(idTag) {
      const found = await tenants.find(idTag)
      return found?.suspendedAt === undefined ? found : undefined
    },
    deliver: (tx, { audience, ...outgoing }) => queueForSending(sending, tx, { ...outgoing, ...audience }),
    fetchAttachments: (tx, received) => queueFetches(services, tx, received),
    emit,
    isSilenced: ({ idTag }) => isServerBlocked(services, idTag),
    async findKnownType(tx, idTag) {
      const profile = await findStoredProfile(tx, idTag)
      return profile?.type ?? (await findStoredIdentity(tx.as(serverTenant), idTag))?.identity.type
    },
    async findRoleHere(tx, communityTag, idTag) {
      const community = await findTenantByIdTag(tx, communityTag)
      if (community?.type !== 'community') return undefined
      const relation = await findEffectiveRelation(tx.as(community.tenantId), idTag)
      return relation ? roleOf(relation) : 'public'
    },
    async leadsAlone(leaderTag, communityTag) {
      const community = await tenants.find(communityTag)
      return community?.type === 'community' && (await isLastLeader(db.reader(community.tenantId), leaderTag))
    },
    findIdentity: async (idTag, asker) => (await identities.resolve(idTag, { asker: ownerAsks(asker) })).kind,
    async askType(idTag, asker) {
      const local = await tenants.find(idTag)
      if (local) return local.type
      const resolved = await identities.resolve(idTag, { asker: ownerAsks(asker) })
      return resolved.kind === 'found' ? resolved.identity.type : undefined
    },
    findDefaultVisibility: (reader) => settings.findWith(reader, 'profile.default_visibility'),
    async assertAttachable(reader, attachments, caller) {
      const tenant = await getTenant(tenants, reader.tenantId)
      await assertAttachable(reader, { tenant, caller, attachments, now: nowSecs(clock) })
    },
  }
}

function ownerAsks(key: IdTag): Asker {
  return { cause: 'owner', key }
}

interface InboxParts extends FederationParts {
  readonly ports: ActionPorts
}

function wireInbox(
  services: Services,
  identity: IdentityFeatures,
  { ports, domainBlocks, rateLimits }: InboxParts,
): HistoryDeps {
  const { db, clock, jobs, signatures } = services
  const { tenants, identities } = identity
  const verifier = openTokenVerifier({
    async findKeys(issuerTag, { refresh, sender }) {
      const resolved = await identities.resolve(issuerTag, {
        refresh,
        asker: { cause: 'inbox', key: sender },
      })
      return resolved.kind === 'found' ? { kind: 'found', keys: resolved.identity.keys } : resolved
    },
    admitIssuer: (issuerTag) => assertRate({ rateLimits, clock }, 'inbox-issuer', issuerTag),
    verifySignature: (signingInput, signature, key) => signatures.verify(signingInput, signature, key),
  })
  const deps: HistoryDeps = {
    db,
    clock,
    jobs,
    verifier,
    isBlockedHere: isBlockedBy(services, domainBlocks),
    findConcerned: (reader, ...payloads) => findConcerned({ tenants }, reader, ...payloads),
    findTenantById: tenants.findById,
    receiveAction: (tx, arrival) => receiveAction(ports, tx, arrival),
    async rememberWithdrawal(withdrawal) {
      const domain = await registrableDomain(withdrawal.issuerTag)
      const now = nowSecs(clock)
      return await db.transact(serverTenant, (tx) => putTombstone(tx, withdrawal, { domain, now }))
    },
    requestHistory: historyRequester(historyDeps(services, identity, ports)),
  }
  handleInboxJobs(jobs, deps)
  return deps
}

/** Whom an administrator has blocked, suspended or banned for the whole server, and whoever is in a blocked domain. */
function isBlockedBy(services: Services, domainBlocks: DomainBlocks) {
  return async (idTag: IdTag) => {
    if (await domainBlocks.isBlocked(idTag)) return true
    return isServerBlocked(services, idTag)
  }
}

async function isServerBlocked({ db }: Services, idTag: IdTag): Promise<boolean> {
  return (await findRelation(db.reader(serverTenant), idTag))?.isBlocked === true
}

function historyDeps(
  { db, clock, egress, signingKeys }: Services,
  { tenants, identities, findLifetimes }: IdentityFeatures,
  ports: ActionPorts,
): HistoryRequesterDeps {
  return {
    db,
    clock,
    egress,
    findHosted: (idTag) => tenants.find(idTag),
    listCountTokens: (of, actionIds) => listCountTokens(ports, of, actionIds),
    async findServer(idTag: IdTag) {
      const resolved = await identities.resolve(idTag)
      return resolved.kind === 'found'
        ? { kind: 'found' as const, serverUrl: resolved.identity.serverUrl }
        : resolved
    },
    async proxyToken(tenant: Tenant, target: IdTag) {
      const issuedAt = nowSecs(clock)
      const { proxySecs } = await findLifetimes(tenant.tenantId)
      const token = { target, issuedAt, expiresAt: issuedAt + proxySecs }
      return await mintProxyToken(signingKeys, tenant, token)
    },
  }
}

interface OutboxParts extends FederationParts {
  readonly receiveDeps: HistoryDeps
}

function wireOutbox(
  services: Services,
  { tenants, identities }: IdentityFeatures,
  { receiveDeps, domainBlocks }: OutboxParts,
): void {
  const { db, clock, jobs, egress, metrics } = services
  const isBlockedHere = isBlockedBy(services, domainBlocks)
  handleOutboxJobs(jobs, {
    ...sendDeps(services),
    db,
    clock,
    egress,
    metrics,
    isBlockedHere,
    findToken: (reader: Reader, actionId: ActionId) => findSendable(reader, actionId, nowSecs(clock)),
    isSuspended: async (tenantId) => (await tenants.findById(tenantId))?.suspendedAt !== undefined,
    async findInbox(recipient: IdTag, tenantId: TenantId) {
      const asker = { cause: 'delivery', key: String(tenantId) } as const
      const resolved = await identities.resolve(recipient, { asker })
      if (resolved.kind !== 'found') return resolved
      const { inboxUrl, isInboxUnsure } = resolved.identity
      return isInboxUnsure ? { kind: 'unreachable' as const } : { kind: 'found' as const, inboxUrl }
    },
    async findInboxAnew(recipient: IdTag, tenantId: TenantId) {
      const asker = { cause: 'delivery', key: String(tenantId) } as const
      const resolved = await identities.renew(recipient, { asker })
      if (resolved.kind !== 'found' || resolved.identity.isInboxUnsure) return undefined
      return resolved.identity.inboxUrl
    },
    async findCountsToken(reader: Reader, countsOf: ActionId) {
      const action = await findStoredAction(reader, countsOf)
      return action?.status === 'A' ? await findToldCounts(reader, countsOf) : undefined
    },
    async receiveLocally(delivery, recipients: readonly IdTag[]) {
      const found = await Promise.all(recipients.map((idTag) => tenants.find(idTag)))
      const hosted = found.filter((tenant) => tenant !== undefined)
      const blocked = await Promise.all(hosted.map(({ idTag }) => isBlockedHere(idTag)))
      const receivers = hosted.filter(({ suspendedAt }, at) => suspendedAt !== undefined || !blocked[at])
      await receiveLocally(receiveDeps, delivery, receivers)
    },
    onDelivered: (tenantId, actionId) => queueDeliveredHistory({ db, jobs }, tenantId, actionId),
  })
}
