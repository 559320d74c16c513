import Type from 'typebox'
import { audit } from '#features/audit/index.ts'
import { exhaustReferences } from '#features/references/index.ts'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import { jobKind } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { ManagedIdentity } from './managed-identity.ts'
import { deleteIdentity, findIdentity, listEnded } from './managed-identity-store.ts'
import { removeIdentity } from './release-identity.ts'
import { pruneReleased } from './released-identity-store.ts'

interface Deps {
  readonly db: Database
  readonly clock: Clock
}

/** Lets go of names that nobody activated, and of those without a sign of their owner for a year. */
export const sweepIdentitiesJob = jobKind({
  name: 'idp.sweep',
  payload: Type.Object({}),
  retry: { maxAttempts: 3, firstDelayMs: 10_000, longestDelayMs: 60_000 },
  concurrency: 1,
  leaseMs: 120_000,
  keepDoneMs: 0,
})

const atOnce = 500

/** Does the work of `sweepIdentitiesJob`. */
export async function sweepIdentities({ db, clock }: Deps): Promise<void> {
  const now = nowSecs(clock)
  for (const { tenantId, idTag } of await listEnded(db.reader(serverTenant), now, atOnce))
    await db.transact(tenantId, async (tx) => {
      const identity = await findIdentity(tx, idTag)
      const hasEnded = identity && identity.status !== 'suspended' && identity.expiresAt <= now
      if (hasEnded) await end({ clock }, tx, identity)
    })
  await db.transact(serverTenant, (tx) => pruneReleased(tx, now))
}

async function end(deps: Pick<Deps, 'clock'>, tx: Writer, identity: ManagedIdentity): Promise<void> {
  const { idTag, status } = identity
  if (status === 'pending') {
    // Nobody has had it: the next one may.
    await exhaustReferences(tx, ['idp-activate'], idTag)
    await deleteIdentity(tx, idTag)
  } else await removeIdentity(deps, tx, identity)
  await audit(deps, tx, { event: 'identity.expired', details: { idTag, status } })
}
