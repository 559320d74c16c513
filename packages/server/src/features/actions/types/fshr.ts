import { type FileId, parseTimestamp } from '@kith/protocol'
import { invalid } from '#lib/failure.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import { findSuperseded } from '../action-store.ts'
import { eraseAction } from '../removal/erase-store.ts'
import type { HookScene, TypeHooks } from './type-hooks.ts'

const isEnd = ({ subType }: Pick<StoredAction, 'subType'>) => subType === endingSubType

/** File shares: access at the owner's server, an entry in the audience's list of files. */
export const fshr: TypeHooks = {
  type: 'FSHR',
  check({ content }) {
    if (content?.expiresAt !== undefined && parseTimestamp(content.expiresAt) === undefined)
      throw invalid('/content/expiresAt', 'must be ISO 8601 with a zone or Unix seconds')
  },
  async prepare({ ports, reader, tenant, caller, body }) {
    if (body.audienceTag === tenant.idTag) throw invalid('/audienceTag', 'is yourself')
    if (body.subType === endingSubType) return {}
    const permission = body.content?.permission === 'WRITE' ? 'WRITE' : 'READ'
    const { expiresAt: asked } = body.content ?? {}
    const file = await ports.fileShares.describe(reader, {
      tenant,
      caller,
      audienceTag: body.audienceTag,
      fileId: body.subject as FileId,
      permission,
      expiresAt: asked === undefined ? undefined : parseTimestamp(asked),
    })
    return { content: { ...body.content, permission, ...file } }
  },
  async admit({ action }) {
    return { status: isEnd(action) ? 'A' : 'C' }
  },
  onCreate: ({ ports, tx, tenant, action }) =>
    isEnd(action)
      ? ports.fileShares.withdraw(tx, tenant, action)
      : ports.fileShares.grant(tx, tenant, action),
  async onReceive(scene) {
    const { ports, tx, action } = scene
    if (!isEnd(action)) return ports.fileShares.renew(tx, action)
    await ports.fileShares.drop(tx, action)
    await takeRefusal(scene)
  },
  async onEnd({ ports, tx, tenant, action }) {
    if (isEnd(action)) return
    if (action.issuerTag === tenant.idTag) await ports.fileShares.withdraw(tx, tenant, action)
    else await ports.fileShares.drop(tx, action)
  },
  onAccept: ({ ports, tx, action }) => ports.fileShares.accept(tx, action),
  onReject: ({ ports, tx, action }) => ports.fileShares.drop(tx, action),
  answer: ({ issuerTag, actionId, subject }, verdict) =>
    verdict === 'accept'
      ? undefined
      : { type: 'FSHR', subType: endingSubType, audienceTag: issuerTag, subject, x: { offer: actionId } },
}

/** The audience has refused a file. An offer made after the refused one stays. */
async function takeRefusal({ ports, tx, tenant, action }: HookScene): Promise<void> {
  const { type, subject, issuerTag: audienceTag } = action
  const offer = await findSuperseded(tx, { type, issuerTag: tenant.idTag, audienceTag, subject })
  const isLive = offer !== undefined && !isEnd(offer)
  const named = action.x?.offer
  if (isLive && named !== undefined && named !== offer.actionId) return
  await ports.fileShares.decline(tx, tenant, action)
  if (isLive) await eraseAction(tx, offer.actionId)
}
