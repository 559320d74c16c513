import type { RefId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { type RevokeDeps, revokeSession } from '../sessions/start-session.ts'
import { referenceSid, removeReference } from './reference-store.ts'

/** Removes a reference of the tenant of `tx`, whoever asks; the tokens given for it end with it. False when there was
 * none. */
export async function dropReference(deps: RevokeDeps, tx: Writer, refId: RefId): Promise<boolean> {
  await revokeSession(deps, tx, { sid: referenceSid(refId) })
  return removeReference(tx, refId)
}
