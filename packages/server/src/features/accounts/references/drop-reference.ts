import type { RefId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { type RevokeDeps, revokeSession } from '../sessions/start-session.ts'
import { referenceSid, removeReference } from './reference-store.ts'

/** Removes a reference of the tenant of `tx` with the tokens given for it. Rights are the caller's to check. False when
 * there was none. */
export async function dropReference(deps: RevokeDeps, tx: Writer, refId: RefId): Promise<boolean> {
  await revokeSession(deps, tx, { sid: referenceSid(refId) })
  return removeReference(tx, refId)
}
