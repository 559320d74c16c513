import type { IdTag } from '@kith/protocol'
import { exhaustReferences } from '#features/accounts/index.ts'
import { audit } from '#features/audit/index.ts'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { type Jobs, recurring, sweep } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { forEachApart } from '#lib/for-each-apart.ts'
import type { ManagedNameEvent } from './events.ts'
import { seen } from './find-managed.ts'
import { graceSecs, type ManagedIdentity, recheckSecs } from './managed-identity.ts'
import { deleteIdentity, findIdentity, listEnded, updateIdentity } from './managed-identity-store.ts'
import { removeIdentity } from './release-identity.ts'
import { pruneReleased } from './released-identity-store.ts'

interface SweepIdentitiesDeps {
  readonly db: Database
  readonly clock: Clock
  readonly emit: Emit<ManagedNameEvent>
  readonly jobs: Pick<Jobs, 'enqueue'>
  /** Asks the server that the DNS names for an identity. */
  resolve(idTag: IdTag): Promise<{ readonly kind: 'found' | 'unknown' | 'unreachable' }>
}

const atOnce = 100

/** Releases names that were never activated, and those without a sign of use for a year and 30 days. */
export function addManagedIdentitySweep(jobs: Pick<Jobs, 'handle'>, deps: SweepIdentitiesDeps): void {
  recurring(jobs, { name: 'idp.sweep', everyMs: 60 * 60_000, run: () => sweepIdentities(deps) })
}

export async function sweepIdentities(deps: SweepIdentitiesDeps): Promise<void> {
  const { db, clock } = deps
  const now = nowSecs(clock)
  await forEachApart(
    await listEnded(db.reader(serverTenant), now, atOnce),
    async ({ tenantId, idTag, status }) => {
      // The owner of a name need not contact its provider: the server of the name is asked.
      const isAlive = status !== 'pending' && (await deps.resolve(idTag)).kind === 'found'
      await db.transact(tenantId, async (tx) => {
        const identity = await findIdentity(tx, idTag)
        const hasEnded = identity?.status === status && identity.expiresAt <= now
        if (hasEnded) await judge(deps, tx, { identity, isAlive })
      })
    },
  )
  await sweep(db, [(tx, limit) => pruneReleased(tx, { upTo: now, limit })])
}

async function judge(
  deps: Pick<SweepIdentitiesDeps, 'clock' | 'jobs' | 'emit'>,
  tx: Writer,
  { identity, isAlive }: { readonly identity: ManagedIdentity; readonly isAlive: boolean },
): Promise<void> {
  const now = nowSecs(deps.clock)
  // From when it was missed: while this server was away the owner could not be seen.
  const { idTag, status, graceEndsAt = now + graceSecs } = identity
  if (isAlive) return updateIdentity(tx, seen(identity, now))
  if (status !== 'pending' && now < graceEndsAt) {
    const expiresAt = Math.min(now + recheckSecs, graceEndsAt)
    return updateIdentity(tx, { ...identity, graceEndsAt, expiresAt })
  }
  if (status === 'pending') {
    // It was never in use, so it is available at once.
    await exhaustReferences(tx, ['idp-activate'], idTag)
    await deleteIdentity(tx, idTag)
  } else await removeIdentity(deps, tx, identity)
  await audit(deps, tx, { event: 'identity.expired', details: { idTag, status } })
}
