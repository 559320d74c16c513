import { type IdTag, parseActionId } from '@kith/protocol'
import { isSilencedHere } from '#features/relations/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { findStoredAction } from '../action-store.ts'
import { putOnPage } from '../feed/page-store.ts'
import type { TypeHooks } from './type-hooks.ts'

/** Shows another's public action to the issuer's followers. The action's issuer receives the repost as well, and counts
 * it. */
export const repost: TypeHooks = {
  type: 'REPOST',
  async prepare({ reader, body, getShown }) {
    const original = await getShown(body.subject ?? '')
    if (original.visibility !== 'P' || original.status !== 'A') throw new Failure('E-AUTH-FORBIDDEN')
    await assertHeard(reader, original.issuerTag)
    return {}
  },
  async admit({ tx, tenant, action }) {
    const original = await findSubject(tx, action.subject)
    if (original && !action.isMismatched && original.visibility !== 'P') throw new Failure('E-AUTH-FORBIDDEN')
    if (original) await assertHeard(tx, original.issuerTag)
    return { isMarked: original?.issuerTag === tenant.idTag }
  },
  async onCreate({ tx, action }) {
    const actionId = parseActionId(action.subject ?? '')
    if (actionId) await putOnPage(tx, actionId)
  },
  async findOthers(reader, _, { subject }) {
    const original = await findSubject(reader, subject)
    return { named: original ? [original.issuerTag] : [] }
  },
}

/** Fails with `E-AUTH-FORBIDDEN` for an issuer whom this server silences: nobody here passes on what it has said. */
export async function assertHeard(reader: Reader, issuerTag: IdTag): Promise<void> {
  if (!(await isSilencedHere(reader, issuerTag))) return
  const message = `This server passes on nothing of ${issuerTag}.`
  throw new Failure('E-AUTH-FORBIDDEN', { message })
}

export async function findSubject(reader: Reader, subject: string | undefined) {
  const actionId = parseActionId(subject ?? '')
  return actionId && (await findStoredAction(reader, actionId))
}
