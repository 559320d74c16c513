import { findActionType, type IdTag, maxActionTokenLength, type Visibility } from '@kith/protocol'
import type { Caller, Identified, Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type ActionBody, endingSubType, type StoredAction } from './action.ts'
import type { ActionPorts } from './action-event.ts'
import { newNonce, ownActionId } from './action-id.ts'
import { findRival, findStoredAction, insertAction, setStatus } from './action-store.ts'
import { tokenPayload } from './action-token.ts'
import { claimKey, findClaim, hashBody, type IdempotencyKey } from './idempotency-store.ts'
import { assertMayIssue } from './issuer.ts'
import { type ActionInput, parseAction } from './parse-action.ts'
import { listRecipients } from './recipients.ts'
import { hooksOf } from './types/index.ts'
import { isNewer } from './unique-key.ts'

/** What a caller asks for. */
export interface CreateAction {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly input: ActionInput
  readonly idempotencyKey?: string | undefined
}

/** An action that is complete but for its signature. */
type Unsigned = Omit<StoredAction, 'token' | 'nonce'> & { readonly nonce: string }

/** Makes an action: checked, signed, stored with its effects, and queued for its receivers in one transaction. */
export async function createAction(ports: ActionPorts, request: CreateAction): Promise<StoredAction> {
  const { tenant, caller, input } = request
  assertMayIssue(tenant, caller)
  const reader = ports.db.reader(tenant.tenantId)
  const now = nowSecs(ports.clock)
  const key = keyOf(request, caller)
  const earlier = key && (await findEarlier(reader, key, now))
  if (earlier) return earlier
  const body = await prepare(ports, reader, { tenant, caller, body: parseAction(input) })
  const action = await compose(ports, reader, { tenant, caller, body })
  const token = await sign(ports, tenant, action)
  return ports.db.transact(tenant.tenantId, async (tx) => {
    if (key && !(await claimKey(tx, key, { actionId: action.actionId, now }))) return getEarlier(tx, key, now)
    return store(ports, tx, { tenant, action: { ...action, token } })
  })
}

function keyOf({ idempotencyKey: key, input }: CreateAction, caller: Identified): IdempotencyKey | undefined {
  return key === undefined ? undefined : { callerTag: caller.idTag, key, bodyHash: hashBody(input) }
}

async function findEarlier(
  reader: Reader,
  key: IdempotencyKey,
  now: number,
): Promise<StoredAction | undefined> {
  const claim = await findClaim(reader, key, now)
  if (!claim) return undefined
  if (claim.bodyHash !== key.bodyHash)
    throw new Failure('E-DUPLICATE', { message: 'This idempotency key was used for another request.' })
  return findStoredAction(reader, claim.actionId)
}

async function getEarlier(reader: Reader, key: IdempotencyKey, now: number): Promise<StoredAction> {
  const earlier = await findEarlier(reader, key, now)
  if (!earlier) throw new Error('an idempotency key is taken by an action that is not stored')
  return earlier
}

/** Everything that has to be looked up before an action is signed. */
async function prepare(
  ports: ActionPorts,
  reader: Reader,
  {
    tenant,
    caller,
    body,
  }: { readonly tenant: Tenant; readonly caller: Identified; readonly body: ActionBody },
): Promise<ActionBody & { readonly visibility: Visibility }> {
  const completed = { ...body, ...(await hooksOf(body.type).prepare?.({ reader, tenant, body })) }
  if (completed.subType !== endingSubType) await assertAudienceExists(ports, completed.audienceTag)
  if (completed.attachments.length > 0) await ports.assertAttachable(reader, completed.attachments, caller)
  return { ...completed, visibility: await visibilityOf(ports, reader, completed) }
}

async function assertAudienceExists(ports: ActionPorts, audienceTag: IdTag | undefined): Promise<void> {
  if (audienceTag === undefined) return
  // One that cannot be asked now is delivered to when it can.
  if ((await ports.findIdentity(audienceTag)) === 'unknown') throw new Failure('E-PROFILE-NOTFOUND')
}

async function visibilityOf(ports: ActionPorts, reader: Reader, body: ActionBody): Promise<Visibility> {
  if (body.visibility !== undefined) return body.visibility
  const preset = findActionType(body.type)?.defaultVisibility
  return preset === 'P' ? ((await ports.findDefaultVisibility(reader)) ?? 'P') : null
}

async function compose(
  ports: ActionPorts,
  reader: Reader,
  how: {
    readonly tenant: Tenant
    readonly caller: Identified
    readonly body: ActionBody & { readonly visibility: Visibility }
  },
): Promise<Unsigned> {
  const { tenant, caller, body } = how
  const now = nowSecs(ports.clock)
  const nonce = newNonce()
  const author = tenant.type === 'community' ? caller.idTag : undefined
  const rival = await findRival(reader, { ...body, issuerTag: tenant.idTag })
  const { author: _, ...x } = body.x ?? {}
  const free = author === undefined ? x : { ...x, author }
  return {
    ...body,
    x: Object.keys(free).length > 0 ? free : undefined,
    actionId: ownActionId(tenant.idTag, nonce),
    issuerTag: tenant.idTag,
    authorTag: author,
    withinId: undefined,
    status: 'A',
    createdAt: now,
    // Receivers tell by `iat` which of two stands, also when both are of the same second.
    issuedAt: rival ? Math.max(now, rival.issuedAt + 1) : now,
    publishedAt: now,
    nonce,
  }
}

async function sign(ports: ActionPorts, tenant: Tenant, action: Unsigned): Promise<string> {
  const token = await ports.keys.sign(tenant.tenantId, tokenPayload(action))
  if (token.length > maxActionTokenLength) throw new Failure('E-TOOLARGE')
  return token
}

async function store(
  ports: ActionPorts,
  tx: Writer,
  { tenant, action }: { readonly tenant: Tenant; readonly action: StoredAction },
): Promise<StoredAction> {
  const rival = await findRival(tx, action)
  const stands = !rival || isNewer(action, rival)
  const stored: StoredAction = stands ? action : { ...action, status: 'D' }
  if (rival && stands) await setStatus(tx, rival.actionId, 'D')
  await insertAction(tx, stored)
  if (!stands) return stored
  const at = nowSecs(ports.clock)
  await hooksOf(action.type).onCreate?.({
    tx,
    tenant,
    action: stored,
    at,
    ...(rival ? { replaced: rival } : {}),
  })
  const recipients = await listRecipients(tx, stored)
  const { actionId, issuerTag } = stored
  if (recipients.length > 0) await ports.deliver(tx, { actionId, issuerTag, recipients })
  await ports.onStored(tx, { kind: 'created', tenant, action: stored })
  return stored
}
