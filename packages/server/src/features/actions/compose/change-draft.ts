import { type ActionId, roleLevel, type Visibility } from '@kith/protocol'
import { findEffectiveRelation, findViewer, roleOf, tenantViewer } from '#features/relations/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'
import type { CreateDeps, PrepareDeps, QueueDeps, ReadDeps } from '../action-ports.ts'
import { endRefusedDraft, findStoredAction, replaceAction } from '../action-store.ts'
import type { ActionRequest } from '../feed/get-action.ts'
import { getOwnAction } from '../removal/delete-action.ts'
import type { Issuing } from '../types/type-hooks.ts'
import { assertTimes } from './action-times.ts'
import { scheduleAction } from './create-action.ts'
import { withIssueTime } from './issue-time.ts'
import { assertMayIssue } from './issuer.ts'
import { type ActionInput, parseAction } from './parse-action.ts'
import { prepareBody } from './prepare-action.ts'
import { type Draft, extraMembers, signAction } from './sign-action.ts'
import { publishInto } from './store-action.ts'
import { assertFitsToken } from './token-size.ts'

interface DraftRequest extends ActionRequest {
  readonly caller: Identified
}

/** The members of a draft that may change. */
interface DraftChange {
  readonly content?: Readonly<Record<string, unknown>> | undefined
  readonly attachments?: readonly string[] | undefined
  readonly visibility?: Visibility | undefined
  readonly flags?: string | undefined
  readonly x?: Readonly<Record<string, unknown>> | undefined
}

/** Changes a draft; published and scheduled actions are final (`E-STATE`). */
export async function updateDraft(
  ports: CreateDeps,
  request: DraftRequest,
  change: DraftChange,
): Promise<StoredAction> {
  const draft = await getDraft(ports, request, ['R'])
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const prepared = await prepareAgain(ports, await issuingOf(ports, request), draft, given)
  return moveDraft(ports, request.tenant, { ...prepared, status: 'R' }, ['R'])
}

/** Publishes a draft or scheduled action, now or later. */
export async function publishDraft(
  ports: CreateDeps,
  request: DraftRequest,
  publishAt: number | undefined,
): Promise<StoredAction> {
  const draft = await getDraft(ports, request, ['R', 'S'])
  // The author may have left the community since.
  assertMayIssue(request.tenant, request.caller)
  const issuing = await issuingOf(ports, request)
  if (publishAt !== undefined && publishAt > nowSecs(ports.clock)) {
    assertTimes({ expiresAt: draft.expiresAt, publishAt }, nowSecs(ports.clock))
    const checked = await prepareAgain(ports, issuing, draft)
    return moveDraft(ports, request.tenant, { ...checked, status: 'S', publishAt }, ['R', 'S'])
  }
  return publish(ports, issuing, draft)
}

/** Makes a scheduled action a draft again. */
export async function cancelPublication(
  ports: ReadDeps & QueueDeps,
  request: ActionRequest,
): Promise<StoredAction> {
  const draft = await getDraft(ports, request, ['S'])
  return moveDraft(ports, request.tenant, { ...draft, status: 'R', publishAt: undefined }, ['S'])
}

/** Does the work of `publishLaterJob`: publishes a scheduled action that is due, once. An action that can no longer be
 * published is deleted, with the reason in `x.refused`. */
export async function publishScheduled(ports: CreateDeps, tenant: Tenant, actionId: ActionId): Promise<void> {
  const draft = await findStoredAction(ports.db.reader(tenant.tenantId), actionId)
  if (draft?.status !== 'S' || !isDraft(draft) || (draft.publishAt ?? 0) > nowSecs(ports.clock)) return
  try {
    await assertAuthorContributes(ports, tenant, draft)
    await publish(ports, { tenant, caller: undefined, viewer: tenantViewer(tenant) }, draft)
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'E-UNAVAILABLE') throw error
    // Published or cancelled by somebody else at the same moment.
    if (error.code !== 'E-STATE') await refuse(ports, tenant, draft, error)
  }
}

/** A community does not publish in the name of an author who has left it. */
async function assertAuthorContributes(ports: ReadDeps, tenant: Tenant, { authorTag }: Draft): Promise<void> {
  if (authorTag === undefined || authorTag === tenant.idTag) return
  const author = await findEffectiveRelation(ports.db.reader(tenant.tenantId), authorTag)
  if (!author || roleLevel(roleOf(author)) < roleLevel('contributor')) throw new Failure('E-AUTH-FORBIDDEN')
}

async function refuse(ports: ReadDeps, tenant: Tenant, draft: Draft, { code }: Failure): Promise<void> {
  await ports.db.transact(tenant.tenantId, (tx) =>
    endRefusedDraft(tx, draft.actionId, { ...draft.x, refused: code }),
  )
}

async function publish(ports: CreateDeps, issuing: Issuing, draft: Draft): Promise<StoredAction> {
  const { tenant } = issuing
  const reader = ports.db.reader(tenant.tenantId)
  const prepared = await prepareAgain(ports, issuing, draft)
  return withIssueTime(async () => {
    const action = await signAction(ports, reader, { tenant, draft: prepared })
    return ports.db.transact(tenant.tenantId, async (tx) => {
      const current = await findStoredAction(tx, draft.actionId)
      if (current?.status !== draft.status) throw new Failure('E-STATE')
      return publishInto(ports, tx, { tenant, action, write: replaceAction })
    })
  })
}

async function issuingOf(ports: ReadDeps, { tenant, caller }: DraftRequest): Promise<Issuing> {
  return { tenant, caller, viewer: await findViewer(ports.db.reader(tenant.tenantId), tenant, caller, 'one') }
}

async function getDraft(
  ports: ReadDeps,
  request: ActionRequest,
  statuses: readonly StoredAction['status'][],
): Promise<Draft> {
  const action = await getOwnAction(ports, request)
  if (!statuses.includes(action.status) || !isDraft(action)) throw new Failure('E-STATE')
  return action
}

function isDraft(action: StoredAction): action is Draft {
  return action.nonce !== undefined && action.token === undefined
}

/** Repeats the checks of a draft: time has passed, and its members may have changed. */
async function prepareAgain(
  ports: PrepareDeps,
  issuing: Issuing,
  draft: Draft,
  change: Partial<ActionInput> = {},
): Promise<Draft> {
  const reader = ports.db.reader(issuing.tenant.tenantId)
  const body = parseAction({ ...draft, ...change })
  const prepared = await prepareBody(ports, reader, { issuing, body })
  assertTimes(prepared, nowSecs(ports.clock))
  const changed = { ...draft, ...prepared, x: extraMembers(prepared.x, draft.authorTag) }
  assertFitsToken(changed)
  return changed
}

/** Stores a draft if its status is still one of `from`. */
async function moveDraft(
  ports: ReadDeps & QueueDeps,
  tenant: Tenant,
  draft: Draft,
  from: readonly StoredAction['status'][],
): Promise<StoredAction> {
  return ports.db.transact(tenant.tenantId, async (tx) => {
    const current = await findStoredAction(tx, draft.actionId)
    if (!current || !from.includes(current.status)) throw new Failure('E-STATE')
    await replaceAction(tx, draft)
    if (draft.status === 'S' && draft.publishAt !== undefined)
      await scheduleAction(ports, tx, draft.actionId, draft.publishAt)
    return draft
  })
}
