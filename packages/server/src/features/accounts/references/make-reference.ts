import type { Writer } from '#infra/db/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { invalid } from '#lib/failure.ts'
import { newRefId, type Reference, recoveryLifeSecs } from './reference.ts'
import { insertReference } from './reference-store.ts'

export interface MakeReferenceDeps {
  readonly vault: Vault
  readonly clock: Clock
}

/** Makes a reference on the tenant of `tx`. Rights are the caller's to check. One use when `count`
 * is absent. `E-VALIDATION` for one that recovers an account and has more uses or a longer life than allowed. */
export async function makeReference(
  { vault, clock }: MakeReferenceDeps,
  tx: Writer,
  input: Omit<Reference, 'refId' | 'createdAt' | 'count'> & { count?: number | null | undefined },
): Promise<Reference> {
  const { count = 1, ...rest } = input
  const createdAt = nowSecs(clock)
  const end = endOf(input, createdAt)
  const reference: Reference = { ...rest, ...end, count, refId: newRefId(), createdAt }
  await insertReference(vault, tx, reference)
  return reference
}

function endOf(
  {
    type,
    count = 1,
    expiresAt,
  }: Pick<Reference, 'type' | 'expiresAt'> & { count?: number | null | undefined },
  now: number,
): Pick<Reference, 'expiresAt'> {
  const lifeSecs = recoveryLifeSecs[type]
  if (lifeSecs === undefined) return {}
  if (count !== 1) throw invalid('/count', `is 1 for the type ${type}`)
  const latest = now + lifeSecs
  if (expiresAt !== undefined && expiresAt > latest)
    throw invalid('/expiresAt', `is at most ${lifeSecs / 3600} hours away for the type ${type}`)
  return { expiresAt: expiresAt ?? latest }
}
