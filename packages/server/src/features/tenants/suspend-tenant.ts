import type { Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { Tenants } from './open-tenants.ts'
import { updateSuspension } from './tenant-store.ts'

interface Deps {
  readonly tenants: Pick<Tenants, 'forget'>
  readonly clock: Clock
  /** Ends every session of the tenant of `tx`, so that a resumed tenant starts without the old ones. */
  revokeSessions(tx: Writer): Promise<void>
}

/** From now on the tenant of `tx` answers nobody and its tokens are refused. */
export async function suspendTenant(deps: Deps, tx: Writer): Promise<void> {
  await updateSuspension(tx, nowSecs(deps.clock))
  await deps.revokeSessions(tx)
  tx.afterCommit(() => deps.tenants.forget())
}

/** Ends a suspension. */
export async function resumeTenant(deps: Pick<Deps, 'tenants'>, tx: Writer): Promise<void> {
  await updateSuspension(tx, null)
  tx.afterCommit(() => deps.tenants.forget())
}
