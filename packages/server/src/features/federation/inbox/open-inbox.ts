import { findConcerned } from '#features/actions/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import { assertRate, type Endpoint, type RateLimits } from '#infra/http/index.ts'
import type { JobQueue } from '#infra/jobs/index.ts'
import type { Signatures } from '#infra/keys/index.ts'
import { findServer } from '../identities/ask-identities.ts'
import type { Identities } from '../identities/open-identities.ts'
import type { HistoryDeps } from './fetch-history.ts'
import { handleInboxJobs } from './handle-inbox-jobs.ts'
import { type HistoryRequesterDeps, historyRequester } from './history-requester.ts'
import { inboxEndpoints } from './inbox-endpoints.ts'
import type { LocalDeliveryDeps } from './receive-from-here.ts'
import type { VerifyMovedDeps } from './verify-moved.ts'
import { openTokenVerifier, type VerifyDeps } from './verify-token.ts'

export interface InboxParts
  extends Pick<HistoryDeps, 'db' | 'clock' | 'isBlockedHere' | 'receiveAction'>,
    Pick<VerifyMovedDeps, 'confirmAction'>,
    Pick<HistoryRequesterDeps, 'egress' | 'proxyToken' | 'listCountTokens'> {
  readonly jobs: JobQueue
  readonly rateLimits: RateLimits
  readonly signatures: Pick<Signatures, 'verify'>
  readonly tenants: Pick<Tenants, 'find' | 'findById'>
  readonly identities: Identities
}

/** Receives actions from other servers, immediately and by jobs. */
export function openInbox(parts: InboxParts): {
  readonly endpoints: Endpoint[]
  /** Receives what is sent on this server. */
  readonly inbox: LocalDeliveryDeps
} {
  const { db, clock, jobs, tenants, isBlockedHere, receiveAction, confirmAction } = parts
  const deps: HistoryDeps & LocalDeliveryDeps & VerifyMovedDeps = {
    db,
    clock,
    jobs,
    tenants,
    isBlockedHere,
    receiveAction,
    confirmAction,
    verifier: openTokenVerifier(verifyDeps(parts)),
    findConcerned: (reader, ...payloads) => findConcerned({ tenants }, reader, ...payloads),
    findTenantById: (tenantId) => tenants.findById(tenantId),
    requestHistory: historyRequester({
      ...parts,
      findHosted: (idTag) => tenants.find(idTag),
      findServer: (idTag) => findServer(parts.identities, idTag),
    }),
  }
  handleInboxJobs(jobs, deps)
  return { endpoints: inboxEndpoints(deps), inbox: deps }
}

function verifyDeps({ clock, rateLimits, signatures, identities }: InboxParts): VerifyDeps {
  return {
    async findKeys(issuerTag, { refresh, sender }) {
      const asker = { cause: 'inbox', key: sender } as const
      const resolved = await identities.resolve(issuerTag, { refresh, asker })
      return resolved.kind === 'found' ? { kind: 'found', keys: resolved.identity.keys } : resolved
    },
    admitIssuer: (issuerTag) => assertRate({ rateLimits, clock }, 'inbox-issuer', issuerTag),
    verifySignature: (signingInput, signature, key) => signatures.verify(signingInput, signature, key),
  }
}
