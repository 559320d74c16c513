import { type ActionId, isAppVersion, parseFileId } from '@kith/protocol'
import { type ActionChange, searchTextOf } from '#features/actions/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { offerUpdatesJob } from '../apps-jobs.ts'
import type { AppOffer } from './app-offer.ts'
import { deleteOffer, deleteOldOffers, insertOffer } from './offer-store.ts'

// Each version of an app is read by every list of apps that has it.
const keptVersions = 50

/** Lists the app that a published APKG action offers, and queues its installation where `autoUpdate` is set. */
export async function noteOffer(
  { jobs }: { readonly jobs: Pick<Jobs, 'enqueue'> },
  tx: Writer,
  change: ActionChange,
): Promise<void> {
  const offer = await listOffer(tx, change)
  if (!offer) return
  const { actionId } = offer
  await jobs.enqueue(tx, offerUpdatesJob, { actionId, after: 0 }, { subject: actionId })
}

/** Lists the app that a published APKG action offers. Nothing is installed for that: the action may be an old one,
 * which its tenant has brought along. */
export async function listOffer(
  tx: Writer,
  change: Pick<ActionChange, 'tenant' | 'action'>,
): Promise<AppOffer | undefined> {
  const offer = offerOf(tx, change)
  if (!offer) return undefined
  await insertOffer(tx, { ...offer, words: wordsOf(offer) })
  await deleteOldOffers(tx, offer.name, keptVersions)
  return offer
}

/** Withdraws the offer of an action that was deleted or has expired. */
export async function dropOffer(tx: Writer, { action }: ActionChange): Promise<void> {
  if (action.type === 'APKG') await deleteOffer(tx, action.actionId as ActionId)
}

function offerOf(
  tx: Writer,
  { tenant, action }: Pick<ActionChange, 'tenant' | 'action'>,
): AppOffer | undefined {
  const { type, actionId, content, attachments, createdAt } = action
  const fileId = parseFileId(attachments[0] ?? '')
  if (type !== 'APKG' || action.issuerTag !== tenant.idTag || !content || !fileId) return undefined
  const { name, version, description, tags, capabilities } = content as unknown as Omit<AppOffer, 'tags'> & {
    readonly tags?: readonly string[]
  }
  if (!isAppVersion(version)) return undefined
  return {
    publisherId: tx.tenantId,
    publisherTag: tenant.idTag,
    actionId,
    name,
    version,
    fileId,
    capabilities,
    description,
    tags: tags ?? [],
    createdAt,
  }
}

function wordsOf({ name, description = '', tags }: AppOffer): string {
  return ` ${searchTextOf({ name, description, text: tags.join(' ') })}`
}
