import type { IdTag, ProfileStatus } from '@kith/protocol'
import Type from 'typebox'
import type { Database, Writer } from '#infra/db/index.ts'
import { type JobContext, type Jobs, jobKind } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { invalid } from '#lib/failure.ts'
import { noRelation, type Relation, statusOf, withStatus } from './relation.ts'
import { findRelation } from './relation-store.ts'
import { type RelationEmitter, setRelation } from './set-relation.ts'

/** A change of an identity's status by an administrator; absent members stay as they are. Times are Unix seconds. */
interface StatusChange {
  readonly status?: ProfileStatus | undefined
  /** When the restriction ends by itself. */
  readonly until?: number | undefined
  readonly reason?: string | undefined
}

/** Ends the restriction of an identity at its time. */
export const endServerStatusJob = jobKind({
  name: 'relations.end-standing',
  payload: Type.Object({ idTag: Type.String(), until: Type.Integer() }),
  retry: { maxAttempts: 20, firstDelayMs: 1_000, longestDelayMs: 600_000 },
  concurrency: 2,
  group: 'by tenant',
})

const restricting: ReadonlySet<ProfileStatus> = new Set(['Blocked', 'Muted', 'Suspended', 'Banned'])

/** Gives an identity a status at the tenant of `tx`, which may end by itself, and answers the new relation. */
export async function changeStatus(
  deps: RelationEmitter & { readonly clock: Clock; readonly jobs: Pick<Jobs, 'enqueue'> },
  tx: Writer,
  idTag: IdTag,
  change: StatusChange,
): Promise<Relation> {
  const at = nowSecs(deps.clock)
  const before = (await findRelation(tx, idTag)) ?? noRelation(idTag)
  const { status = statusOf(before), until, reason } = change
  if (!restricting.has(status)) {
    if (until !== undefined) throw invalid('/banExpiresAt', `is not for the status ${status}`)
    if (reason !== undefined) throw invalid('/banReason', `is not for the status ${status}`)
  }
  if (until !== undefined && until <= at) throw invalid('/banExpiresAt', 'has passed')
  const relation = await setRelation(deps, tx, idTag, {
    ...(change.status === undefined ? {} : withStatus(change.status)),
    ...(until === undefined ? {} : { standingUntil: until }),
    ...(reason === undefined ? {} : { standingReason: reason }),
    at,
  })
  if (until !== undefined)
    await deps.jobs.enqueue(tx, endServerStatusJob, { idTag, until }, { runAtMs: until * 1000 })
  return relation
}

interface EndServerStatusDeps extends RelationEmitter {
  readonly db: Database
  readonly clock: Clock
}

/** Registers the handler of the job that ends restrictions. */
export function handleServerStatusEnds(jobs: Pick<Jobs, 'handle'>, deps: EndServerStatusDeps): void {
  jobs.handle(endServerStatusJob, (payload, context) => endServerStatus(deps, payload, context))
}

/** Does the work of `endServerStatusJob`. A status that was changed since has another end. */
async function endServerStatus(
  deps: EndServerStatusDeps,
  payload: { readonly idTag: string; readonly until: number },
  { tenantId }: Pick<JobContext, 'tenantId'>,
): Promise<void> {
  const idTag = payload.idTag as IdTag
  await deps.db.transact(tenantId, async (tx) => {
    if ((await findRelation(tx, idTag))?.standingUntil !== payload.until) return
    await setRelation(deps, tx, idTag, { ...withStatus('Active'), at: nowSecs(deps.clock) })
    await deps.emit(tx, { kind: 'standing.ended', idTag })
  })
}
