import type { ActionId, IdTag, Visibility } from '@kith/protocol'
import {
  type ActionEvent,
  type ActionPorts,
  actionEndpoints,
  findConcerned,
  findStoredAction,
  getOwnAction,
  receiveAction,
  sweepActions,
  sweepActionsJob,
} from '#features/actions/index.ts'
import { assertAttachable, queueFetches } from '#features/files/index.ts'
import { findFreshInboxes } from '#features/identities/index.ts'
import {
  inboxEndpoints,
  openTokenVerifier,
  type ReceiveDeps,
  receiveLocally,
  storeAtTenants,
  storeLaterJob,
  verifyLaterJob,
  verifyWaitingToken,
} from '#features/inbox/index.ts'
import {
  deliverAction,
  deliverJob,
  deliverLocally,
  deliverLocallyJob,
  findInboxAndQueue,
  findInboxJob,
  outboxEndpoints,
  queueDeliveries,
} from '#features/outbox/index.ts'
import { requestProfile } from '#features/profiles/index.ts'
import { listHosted } from '#features/tenants/index.ts'
import { type Reader, serverTenant, type Writer } from '#infra/db/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import { JobVerdict, listJobs } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { Addresses } from './addresses.ts'
import { getTenant, type IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'

const minuteMs = 60_000

/** Actions and their ways in and out: what one causes in the other is told here and nowhere else. */
export function wireActions(
  services: Services,
  identity: IdentityFeatures,
  addresses: Addresses,
): Endpoint[] {
  const ports = actionPorts(services, identity)
  const receiveDeps = wireInbox(services, identity, ports)
  wireOutbox(services, identity, receiveDeps)
  const { db, jobs, clock } = services
  const { tenants } = identity
  const sweepDeps = { db, clock, onStored: ports.onStored, findTenantById: tenants.findById }
  jobs.handle(sweepActionsJob, () => sweepActions(sweepDeps))
  jobs.every(sweepActionsJob, minuteMs)
  return [
    ...actionEndpoints(ports),
    ...inboxEndpoints(receiveDeps),
    ...outboxEndpoints({
      db,
      listJobs,
      ownServer: () => new URL(addresses.serverUrl(services.config.baseIdTag)).host,
      assertIssuer: async (request) => void (await getOwnAction(ports, request)),
    }),
  ]
}

function actionPorts(services: Services, { tenants, identities }: IdentityFeatures): ActionPorts {
  const { db, clock, jobs, signingKeys } = services
  const queueDeps = {
    jobs,
    findLocal: listHosted,
    findInboxes: (tx: Writer, idTags: readonly IdTag[]) =>
      findFreshInboxes(tx.as(serverTenant), idTags, nowSecs(clock)),
  }
  return {
    db,
    clock,
    keys: signingKeys,
    deliver: (tx, outgoing) => queueDeliveries(queueDeps, tx, outgoing),
    onStored: (tx, event) => react(services, tx, event),
    findIdentity: async (idTag) => (await identities.resolve(idTag)).kind,
    findDefaultVisibility: async (): Promise<Visibility | undefined> => undefined,
    async assertAttachable(reader, attachments, caller) {
      const tenant = await getTenant(tenants, reader.tenantId)
      await assertAttachable(reader, { tenant, caller, attachments })
    },
  }
}

/** What follows from an action that was stored, in its transaction. */
async function react(services: Services, tx: Writer, { kind, action }: ActionEvent): Promise<void> {
  if (kind !== 'received') return
  const { issuerTag, attachments } = action
  if (attachments.length > 0) await queueFetches(services, tx, { issuerTag, attachments })
  await requestProfile(services, tx, issuerTag)
}

function wireInbox(services: Services, identity: IdentityFeatures, ports: ActionPorts): ReceiveDeps {
  const { db, clock, jobs, signatures } = services
  const { tenants, identities } = identity
  const verifier = openTokenVerifier({
    async findKeys(issuerTag, { refresh }) {
      const resolved = await identities.resolve(issuerTag, { refresh })
      return resolved.kind === 'found' ? { kind: 'found', keys: resolved.identity.keys } : resolved
    },
    verifySignature: (signingInput, signature, key) => signatures.verify(signingInput, signature, key),
  })
  const deps: ReceiveDeps = {
    db,
    clock,
    jobs,
    verifier,
    findConcerned: (reader, payload) => findConcerned({ tenants }, reader, payload),
    findTenantById: tenants.findById,
    receiveAction: (tx, arrival) => receiveAction(ports, tx, arrival),
  }
  jobs.handle(verifyLaterJob, async ({ token }) => {
    if ((await verifyWaitingToken(deps, token)) === 'unreachable')
      throw new JobVerdict('the issuer’s key cannot be had', { kind: 'retry' })
  })
  jobs.handle(storeLaterJob, (payload) => storeAtTenants(deps, payload))
  return deps
}

function wireOutbox(
  services: Services,
  { tenants, identities }: IdentityFeatures,
  receiveDeps: ReceiveDeps,
): void {
  const { db, clock, jobs, egress } = services
  const deps = {
    db,
    jobs,
    clock,
    egress,
    async findToken(reader: Reader, actionId: ActionId) {
      const action = await findStoredAction(reader, actionId)
      return action?.token === undefined ? undefined : { token: action.token, issuerTag: action.issuerTag }
    },
    async findInbox(recipient: IdTag) {
      const resolved = await identities.resolve(recipient)
      return resolved.kind === 'found'
        ? { kind: 'found' as const, inboxUrl: resolved.identity.inboxUrl }
        : resolved
    },
    async receiveLocally(token: string, recipients: readonly IdTag[]) {
      const found = await Promise.all(recipients.map((idTag) => tenants.find(idTag)))
      await receiveLocally(
        receiveDeps,
        token,
        found.filter((tenant) => tenant !== undefined),
      )
    },
  }
  jobs.handle(deliverJob, (payload, context) => deliverAction(deps, payload, context))
  jobs.handle(findInboxJob, (payload, context) => findInboxAndQueue(deps, payload, context))
  jobs.handle(deliverLocallyJob, (payload, context) => deliverLocally(deps, payload, context))
}
