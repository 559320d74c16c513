import { appNamePattern, isAppVersion, parseFileId } from '@kith/protocol'
import type { ActionChange } from '#features/actions/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { updateAppJob } from '../apps-jobs.ts'
import { findInstalled, setWithdrawn } from '../install/installed-app-store.ts'
import { invisibleTexts } from '../packages/parse-manifest.ts'
import type { AppOffer } from './app-offer.ts'
import { deleteOffer, deleteOldOffers, insertOffer } from './offer-store.ts'
import { offerWords } from './offer-words.ts'

// A list of apps compares all versions of each.
const keptVersions = 50
const nameForm = new RegExp(appNamePattern)

/** Lists the app that an APKG action offers, whether the tenant has made the action or received it, and queues its
 * installation where `autoUpdate` is set. */
export async function noteOffer(
  { jobs }: { readonly jobs: Pick<Jobs, 'enqueue'> },
  tx: Writer,
  change: Pick<ActionChange, 'tenant' | 'action'>,
): Promise<void> {
  const offer = await listOffer(tx, change)
  if (!offer || !(await findInstalled(tx, offer))?.autoUpdate) return
  const { publisherTag, name } = offer
  const app = `${tx.tenantId} ${publisherTag} ${name}`
  await jobs.enqueue(tx, updateAppJob, { publisherTag, name }, { dedupKey: app, orderingKey: app })
}

/** Lists the app that an APKG action offers. Nothing is installed for that: the action may be an old one, which its
 * tenant has brought along. */
export async function listOffer(
  tx: Writer,
  { tenant, action }: Pick<ActionChange, 'tenant' | 'action'>,
): Promise<AppOffer | undefined> {
  const offer = offerOf(action)
  if (!offer) return undefined
  await insertOffer(tx, { ...offer, words: offerWords(offer) })
  // Of its own the tenant keeps all: who may not read the newest ones is shown an older one.
  if (offer.publisherTag !== tenant.idTag) await deleteOldOffers(tx, offer, keptVersions)
  return offer
}

/** Forgets the offer of an action that was deleted or has expired; who has the app installed keeps it. */
export async function dropOffer(
  { clock }: { readonly clock: Clock },
  tx: Writer,
  { action }: Pick<ActionChange, 'action'>,
): Promise<void> {
  if (action.type !== 'APKG') return
  await deleteOffer(tx, action.actionId)
  await setWithdrawn(tx, action.actionId, nowSecs(clock))
}

/** Another server may have signed what no package can say of itself. */
function offerOf({
  type,
  actionId,
  issuerTag,
  content,
  attachments,
  createdAt,
}: ActionChange['action']): AppOffer | undefined {
  const fileId = parseFileId(attachments[0] ?? '')
  if (type !== 'APKG' || !content || !fileId) return undefined
  const said = content as unknown as Partial<AppOffer> & Pick<AppOffer, 'name' | 'version'>
  const { name, version, description, tags = [], capabilities = [], titles, descriptions, fileTypes } = said
  if (!nameForm.test(name) || !isAppVersion(version)) return undefined
  if (invisibleTexts({ name, description, titles, descriptions }).length > 0) return undefined
  return {
    ...{ publisherTag: issuerTag, actionId, name, version, fileId, createdAt },
    ...{ capabilities, description, tags },
    ...(titles && { titles }),
    ...(descriptions && { descriptions }),
    ...(fileTypes && { fileTypes }),
  }
}
