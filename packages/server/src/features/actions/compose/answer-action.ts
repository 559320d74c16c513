import type { ActionId } from '@kith/protocol'
import { actsAsTenant, findViewer, tenantViewer } from '#features/relations/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'
import type { CountDeps, CreateDeps, MakeDeps, ReadDeps, StoreDeps } from '../action-ports.ts'
import { clearMark, findStoredAction, setStatus } from '../action-store.ts'
import type { ActionRequest } from '../feed/get-action.ts'
import { getSeenAction } from '../removal/delete-action.ts'
import { eraseAction } from '../removal/erase-store.ts'
import { hooksOf } from '../types/index.ts'
import type { Issuing } from '../types/type-hooks.ts'
import { withIssueTime } from './issue-time.ts'
import { parseAction } from './parse-action.ts'
import { prepareBody } from './prepare-action.ts'
import { draftAction, signAction } from './sign-action.ts'
import { storeAction } from './store-action.ts'

type Verdict = 'accept' | 'reject'

/** Accepts or refuses a request to the tenant. `E-AUTH-FORBIDDEN` for callers who do not act for the tenant, `E-STATE`
 * for actions that await no answer. */
export async function answerAction(
  ports: CreateDeps,
  request: ActionRequest & { readonly caller: Identified },
  verdict: Verdict,
): Promise<StoredAction> {
  const { tenant, caller } = request
  const action = await getSeenAction(ports, request)
  if (!actsAsTenant(caller, tenant)) throw new Failure('E-AUTH-FORBIDDEN')
  const viewer = await findViewer(ports.db.reader(tenant.tenantId), tenant, caller, 'one')
  return decide(ports, { issuing: { tenant, caller, viewer }, action, verdict })
}

/** Accepts in the tenant's name without asking it: the work of `acceptLaterJob`. */
export async function acceptAutomatically(
  ports: CreateDeps,
  tenant: Tenant,
  actionId: ActionId,
): Promise<void> {
  const action = await findStoredAction(ports.db.reader(tenant.tenantId), actionId)
  if (action?.status !== 'C') return
  const issuing = { tenant, caller: undefined, viewer: tenantViewer(tenant) }
  await decide(ports, { issuing, action, verdict: 'accept' })
}

async function decide(
  ports: CreateDeps,
  how: { readonly issuing: Issuing; readonly action: StoredAction; readonly verdict: Verdict },
): Promise<StoredAction> {
  const { issuing, action, verdict } = how
  const { tenant } = issuing
  assertAwaits(tenant, action)
  // It may not be its issuer's.
  if (verdict === 'accept' && action.isUnverified) throw new Failure('E-STATE')
  if (verdict === 'accept') await hooksOf(action.type).assertMayAccept?.(ports, action)
  return withIssueTime(async () => {
    const answer = await makeAnswer(ports, how)
    return ports.db.transact(tenant.tenantId, async (tx) => {
      const current = await findStoredAction(tx, action.actionId)
      if (!current) throw new Failure('E-ACTION-NOTFOUND')
      assertAwaits(tenant, current)
      const decided = await settle(ports, tx, { tenant, action: current, verdict })
      if (answer) await storeAction(ports, tx, { tenant, action: answer })
      return decided
    })
  })
}

/** Only requests to the tenant await its answer. A community's copy of an invitation does not, because its status is
 * A. */
function assertAwaits(tenant: Tenant, { status, issuerTag }: StoredAction): void {
  if (status !== 'C' || issuerTag === tenant.idTag) throw new Failure('E-STATE')
}

async function makeAnswer(
  ports: MakeDeps,
  {
    issuing,
    action,
    verdict,
  }: { readonly issuing: Issuing; readonly action: StoredAction; readonly verdict: Verdict },
): Promise<StoredAction | undefined> {
  const input = hooksOf(action.type).answer?.(action, verdict)
  if (!input) return undefined
  const reader = ports.db.reader(issuing.tenant.tenantId)
  const body = await prepareBody(ports, reader, { issuing, body: parseAction(input) })
  return signAction(ports, reader, { tenant: issuing.tenant, draft: draftAction(ports, issuing, body) })
}

async function settle(
  ports: StoreDeps,
  tx: Writer,
  how: { readonly tenant: Tenant; readonly action: StoredAction; readonly verdict: Verdict },
): Promise<StoredAction> {
  const { tenant, verdict } = how
  const action: StoredAction = { ...how.action, status: verdict === 'accept' ? 'A' : 'D' }
  await (verdict === 'accept' ? setStatus(tx, action.actionId, 'A') : eraseAction(tx, action.actionId))
  const scene = { ports, tx, tenant, action, at: nowSecs(ports.clock) }
  const hooks = hooksOf(action.type)
  await (verdict === 'accept' ? hooks.onAccept?.(scene) : hooks.onReject?.(scene))
  await ports.emit(tx, { kind: verdict === 'accept' ? 'action.changed' : 'action.deleted', tenant, action })
  return action
}

/** Removes the mark of a notification; does nothing without a mark, or for a caller who does not act for the tenant. */
export async function dismissAction(ports: ReadDeps & CountDeps, request: ActionRequest): Promise<void> {
  const { tenant, caller } = request
  const action = await getSeenAction(ports, request)
  if (!action.isMarked || !actsAsTenant(caller, tenant)) return
  await ports.db.transact(tenant.tenantId, async (tx) => {
    await clearMark(tx, action.actionId)
    await ports.emit(tx, { kind: 'action.changed', tenant, action: { ...action, isMarked: false } })
  })
}
