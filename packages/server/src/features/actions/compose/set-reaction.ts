import type { ActionStat, ReactionKind } from '@kith/protocol'
import { auditActor } from '#features/audit/index.ts'
import type { Identified } from '#infra/caller/index.ts'
import { Failure } from '#lib/failure.ts'
import type { CountDeps, CreateDeps, DeleteDeps, ReadDeps } from '../action-ports.ts'
import { findSuperseded } from '../action-store.ts'
import { statView } from '../action-view.ts'
import { tellCountsLater } from '../counts/count-actions.ts'
import { type ActionCounts, setCounts } from '../counts/count-store.ts'
import { type ActionRequest, getShownRow } from '../feed/get-action.ts'
import { deleteOwn, getSeenAction } from '../removal/delete-action.ts'
import { createAction } from './create-action.ts'
import { assertMayIssue } from './issuer.ts'

/** Sets or removes the tenant's reaction to an action, and answers the new counts. */
export async function setReaction(
  ports: CreateDeps,
  request: ActionRequest,
  kind: ReactionKind | null,
): Promise<ActionStat> {
  const { tenant, caller, actionId } = request
  const target = await getSeenAction(ports, request)
  assertMayIssue(tenant, caller)
  const reader = ports.db.reader(tenant.tenantId)
  const own = { type: 'REACT', issuerTag: tenant.idTag, audienceTag: undefined, subject: actionId } as const
  const current = await findSuperseded(reader, own)
  if (kind === null && current) await takeBack(ports, request, current)
  else if (kind !== null && current?.subType !== kind)
    await createAction(ports, {
      tenant,
      caller,
      input: { type: 'REACT', subType: kind, subject: target.actionId },
    })
  return statView(await getShownRow(ports, request))
}

/** Of two requests that remove it at the same time the second has nothing to do. */
async function takeBack(
  ports: DeleteDeps,
  { tenant }: ActionRequest,
  reaction: Parameters<typeof deleteOwn>[2],
): Promise<void> {
  try {
    await deleteOwn(ports, tenant, reaction)
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'E-ACTION-NOTFOUND') throw error
  }
}

/** Sets counters of an action; counting continues from there. */
export async function setStat(
  ports: ReadDeps & CountDeps,
  { ip, ...request }: ActionRequest & { readonly caller: Identified; readonly ip: string },
  counts: Partial<Pick<ActionCounts, 'reactions' | 'comments' | 'views'>>,
): Promise<ActionStat> {
  const { tenant, caller } = request
  const action = await getSeenAction(ports, request)
  await ports.db.transact(tenant.tenantId, async (tx) => {
    const details = { actionId: action.actionId, ...counts }
    await auditActor(ports, tx, { actor: { caller, ip }, event: 'action.counts-set', details })
    await setCounts(tx, action.actionId, counts)
    await ports.emit(tx, { kind: 'action.counted', actionId: action.actionId })
    if (action.issuerTag === tenant.idTag) await tellCountsLater(ports, tx, action.actionId)
  })
  return statView(await getShownRow(ports, request))
}
