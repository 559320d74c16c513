import type { IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { StoredAction } from '../action.ts'
import type { ReadDeps, StoreDeps } from '../action-ports.ts'
import { findStoredAction } from '../action-store.ts'
import { type IssuedPlace, listIssued, nextTenantWithActions } from '../compose/issued-store.ts'
import { countAction } from '../counts/count-actions.ts'
import { withdrawSignedJob } from '../job-kinds.ts'
import { hooksOf } from '../types/index.ts'
import { dropCopiesLater } from './drop-copies.ts'
import { eraseAction } from './erase-store.ts'

/** A key that is not trusted for what it signed at this time (Unix seconds) or later. */
interface RevokedKey {
  readonly issuerTag: IdTag
  readonly kid: string
  readonly since: number
}

interface WithdrawDeps extends ReadDeps, StoreDeps {
  readonly findTenantById: (tenantId: TenantId) => Promise<Tenant | undefined>
}

// Others may write between two transactions.
const perTransaction = 100

/** Queues the withdrawal of everything that a revoked key has signed, at every tenant of this server but the issuer
 * itself. */
export async function withdrawSignedLater(
  { jobs }: { readonly jobs: Pick<Jobs, 'enqueue'> },
  tx: Writer,
  { issuerTag, kid, since }: RevokedKey,
): Promise<void> {
  const dedupKey = `${issuerTag} ${kid} ${since}`
  await jobs.enqueue(tx.as(serverTenant), withdrawSignedJob, { issuerTag, kid, since }, { dedupKey })
}

/** Does the work of `withdrawSignedJob`. The issuer's own rows stay: tokens of other servers in a tenant's name are
 * never stored, so it made them itself. */
export async function withdrawSigned(
  deps: WithdrawDeps,
  key: RevokedKey,
  signal: AbortSignal,
): Promise<void> {
  const reader = deps.db.reader(serverTenant)
  let tenantId = await nextTenantWithActions(reader, serverTenant)
  for (; tenantId !== undefined; tenantId = await nextTenantWithActions(reader, tenantId)) {
    const tenant = await deps.findTenantById(tenantId)
    if (tenant && tenant.idTag !== key.issuerTag) await withdrawAt(deps, { tenant, key, signal })
  }
}

interface Withdrawal {
  readonly tenant: Tenant
  readonly key: RevokedKey
  readonly signal: AbortSignal
}

async function withdrawAt(deps: ReadDeps & StoreDeps, { tenant, key, signal }: Withdrawal): Promise<void> {
  const reader = deps.db.reader(tenant.tenantId)
  for (const status of ['live', 'pending'] as const) {
    let after: IssuedPlace | undefined
    do {
      signal.throwIfAborted()
      const page = await listIssued(reader, { ...key, status, after, limit: perTransaction })
      const signed = page.filter(({ action }) => kidOf(action) === key.kid)
      if (signed.length > 0)
        await deps.db.transact(tenant.tenantId, async (tx) => {
          for (const { action } of signed) await withdraw(deps, tx, tenant, action)
        })
      after = page.length === perTransaction ? page.at(-1)?.place : undefined
    } while (after)
  }
}

async function withdraw(ports: StoreDeps, tx: Writer, tenant: Tenant, found: StoredAction): Promise<void> {
  const action = await findStoredAction(tx, found.actionId)
  if (!action || action.status === 'D') return
  await eraseAction(tx, action.actionId)
  await dropCopiesLater(ports, tx, action)
  if (action.status === 'P') return
  await countAction(ports, tx, { tenant, action, by: -1 })
  await hooksOf(action.type).onEnd?.({ ports, tx, tenant, action, at: nowSecs(ports.clock) })
  await ports.emit(tx, { kind: 'action.deleted', tenant, action: { ...action, status: 'D' } })
}

function kidOf({ token }: StoredAction): unknown {
  const [header = ''] = token?.split('.', 1) ?? []
  try {
    const read: unknown = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'))
    return (read as { kid?: unknown } | null)?.kid
  } catch {
    return undefined
  }
}
