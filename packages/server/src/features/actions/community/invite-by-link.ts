import type { IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { findSuperseded } from '../action-store.ts'
import { acceptLaterJob } from '../job-kinds.ts'
import { addLinkInvitation } from './link-invitation-store.ts'

interface LinkInvitation {
  readonly community: Tenant
  readonly guestTag: IdTag
  readonly at: number
  readonly expiresAt: number
}

/** Lets the community of `tx` accept this guest's request for a connection, and one that waits already. False when the guest is
 * let in by a link already. */
export async function inviteByLink(
  { jobs }: { readonly jobs: Pick<Jobs, 'enqueue'> },
  tx: Writer,
  { community, guestTag, at, expiresAt }: LinkInvitation,
): Promise<boolean> {
  const isNew = await addLinkInvitation(tx, { guestTag, at, expiresAt })
  const audienceTag = community.idTag
  const wish = { type: 'CONN', issuerTag: guestTag, audienceTag, subject: undefined } as const
  const request = await findSuperseded(tx, wish)
  if (request?.status === 'C') await jobs.enqueue(tx, acceptLaterJob, { actionId: request.actionId })
  return isNew
}
