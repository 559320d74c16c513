import { deletionOf } from '#infra/db/index.ts'

/** No relation is left, and no decision. The same text as in the index. */
export const hasEnded = `following = 0 and follower = 0 and connection = 'disconnected' and blocked = 0 and muted = 0
  and role is null and standing is null`

const relations = { table: 'relations', key: ['tenant_id', 'id_tag'], time: 'updated_at' }

// NOTE: both over all tenants.

/** For identities that never received what the tenant published. */
export const deleteEndedRequests = deletionOf({ ...relations, where: `reached = 0 and ${hasEnded}` })

/** For former followers and connections, to whom deletions are sent. */
export const deleteFormerAudience = deletionOf({ ...relations, where: `reached = 1 and ${hasEnded}` })
