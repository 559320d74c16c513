import type { IdTag } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'
import type { Identities } from '../identities/open-identities.ts'
import type { DeliverDeps } from './deliver-action.ts'

/** Finds the inboxes of recipients on behalf of the sending tenant. An inbox that its host has not confirmed counts as
 * unreachable. */
export function inboxFinders(
  identities: Pick<Identities, 'resolve' | 'renew'>,
): Pick<DeliverDeps, 'findInbox' | 'findInboxAnew'> {
  return {
    async findInbox(recipient: IdTag, tenantId: TenantId) {
      const resolved = await identities.resolve(recipient, askedBy(tenantId))
      if (resolved.kind !== 'found') return resolved
      const { inboxUrl, isInboxUnsure } = resolved.identity
      return isInboxUnsure ? { kind: 'unreachable' as const } : { kind: 'found' as const, inboxUrl }
    },
    async findInboxAnew(recipient: IdTag, tenantId: TenantId) {
      const resolved = await identities.renew(recipient, askedBy(tenantId))
      if (resolved.kind !== 'found' || resolved.identity.isInboxUnsure) return undefined
      return resolved.identity.inboxUrl
    },
  }
}

function askedBy(tenantId: TenantId) {
  return { asker: { cause: 'delivery', key: String(tenantId) } } as const
}
