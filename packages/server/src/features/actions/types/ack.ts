import { type ActionId, parseActionId } from '@kith/protocol'
import { Failure, invalid } from '#lib/failure.ts'
import { findStoredAction, setExtra } from '../action-store.ts'
import type { HookScene, TypeHooks } from './type-hooks.ts'

/** Acknowledgments of messages, noted on the original at its issuer. */
export const ack: TypeHooks = {
  type: 'ACK',
  async prepare({ tenant, body, getShown }) {
    const original = await getShown(body.subject ?? '')
    if (original.type !== 'MSG') throw invalid('/subject', 'is not a message')
    if (original.issuerTag === tenant.idTag) throw invalid('/subject', 'is your own message')
    return { audienceTag: original.issuerTag }
  },
  async admit(scene) {
    await getOriginal(scene)
    return { audienceTag: scene.tenant.idTag }
  },
  async onReceive(scene) {
    const original = await getOriginal(scene)
    const ackedAt = scene.action.createdAt
    await setExtra(scene.tx, original.actionId, { ...original.x, ackedAt })
  },
}

/** The acknowledged message: one of the tenant's own, addressed to the acknowledger. */
async function getOriginal({ tx, tenant, action }: HookScene) {
  const actionId = parseActionId(action.subject ?? '')
  const original = actionId && (await findStoredAction(tx, actionId as ActionId))
  if (original?.type !== 'MSG' || original.issuerTag !== tenant.idTag) throw new Failure('E-ACTION-NOTFOUND')
  const { audienceTag, audience } = original
  if (audienceTag !== action.issuerTag && !audience.includes(action.issuerTag))
    throw new Failure('E-AUTH-FORBIDDEN')
  return original
}
