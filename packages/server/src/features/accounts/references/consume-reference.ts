import type { ReferenceType, RefId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { Reference } from './reference.ts'
import { findReference, takeOneUse } from './reference-store.ts'

/** Uses a reference of one of these types once. `E-NOTFOUND` when there is none such, `E-GONE` when it is used up or has
 * expired. */
export async function consumeReference(
  { clock }: { readonly clock: Clock },
  tx: Writer,
  { refId, types }: { refId: RefId; types: readonly ReferenceType[] },
): Promise<Reference> {
  const reference = await findReference(tx, refId)
  if (!reference || !types.includes(reference.type)) throw new Failure('E-NOTFOUND')
  if (!(await takeOneUse(tx, refId, nowSecs(clock)))) throw new Failure('E-GONE')
  return reference
}
