import type { Writer } from '#infra/db/index.ts'
import { changeSession, type RevokeDeps } from '../sessions/start-session.ts'
import type { Reference } from './reference.ts'
import { sidOf, updateReference } from './reference-store.ts'

/** Changes what a reference of the tenant of `tx` grants and how long; its id stays. Rights are the caller's to check.
 * False when there is none. */
export async function changeReference(
  deps: Pick<RevokeDeps, 'emit'>,
  tx: Writer,
  refHash: string,
  change: Pick<Reference, 'accessLevel' | 'createdBy'> & { readonly expiresAt: number | undefined },
): Promise<boolean> {
  if (!(await updateReference(tx, refHash, change))) return false
  await changeSession(deps, tx, { sid: sidOf(refHash), expiresAt: change.expiresAt ?? null })
  return true
}
