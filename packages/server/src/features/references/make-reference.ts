import type { Writer } from '#infra/db/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { newRefId, type Reference } from './reference.ts'
import { insertReference } from './reference-store.ts'

export interface MakeReferenceDeps {
  readonly vault: Vault
  readonly clock: Clock
}

/** Makes a reference on the tenant of `tx`, whoever asks for it: rights are the caller's to check. One use when `count`
 * is absent. */
export async function makeReference(
  { vault, clock }: MakeReferenceDeps,
  tx: Writer,
  input: Omit<Reference, 'refId' | 'createdAt' | 'count'> & { count?: number | null | undefined },
): Promise<Reference> {
  const { count = 1, ...rest } = input
  const reference: Reference = { ...rest, count, refId: newRefId(), createdAt: nowSecs(clock) }
  await insertReference(vault, tx, reference)
  return reference
}
