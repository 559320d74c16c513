import { findActionType, type IdTag, parseActionId, type Visibility } from '@kith/protocol'
import { findEffectiveRelation, isStranger } from '#features/relations/index.ts'
import { findActive } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { registrableDomain } from '#infra/dns/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type ActionBody, endingSubType, type StoredAction } from '../action.ts'
import type { IdentityDeps, PrepareDeps, ReadDeps } from '../action-ports.ts'
import { findStoredAction } from '../action-store.ts'
import { assertAltTexts } from '../alt-texts.ts'
import { findHashes } from '../endorsement/compare-target.ts'
import { findShown } from '../feed/feed-store.ts'
import { assertStrangerRoom } from '../receive/stranger-budget.ts'
import { hooksOf } from '../types/index.ts'
import { mayReceiveFromStranger } from '../types/strangers.ts'
import type { Issuing } from '../types/type-hooks.ts'

/** A body with everything that had to be looked up for it. */
export type PreparedBody = ActionBody &
  Pick<StoredAction, 'visibility' | 'withinId' | 'targetHash' | 'rootHash'>

/** Looks up and checks everything that an action needs before it is signed. */
export async function prepareBody(
  ports: PrepareDeps,
  reader: Reader,
  { issuing, body }: { readonly issuing: Issuing; readonly body: ActionBody },
): Promise<PreparedBody> {
  const hooks = hooksOf(body.type)
  hooks.check?.(body)
  assertAltTexts(body)
  const shown: StoredAction[] = []
  const getShown = async (actionId: string) => {
    const action = await getShownAction(ports, reader, { issuing, actionId })
    shown.push(action)
    return action
  }
  const completed = { ...body, ...(await hooks.prepare?.({ ...issuing, ports, reader, body, getShown })) }
  // The audience that an answer inherits from its parent is not checked: one identity that is gone must not prevent an
  // answer to the others.
  if (completed.subType !== endingSubType)
    await assertAudienceExists(
      ports,
      [completed.audienceTag ?? [], body.audience].flat(),
      issuing.tenant.idTag,
    )
  await assertTakenHere(ports, { tenant: issuing.tenant, body })
  const { attachments } = completed
  if (attachments.length > 0 && issuing.caller)
    await ports.attachments.assertAttachable(reader, {
      tenant: issuing.tenant,
      caller: issuing.caller,
      attachments,
      now: nowSecs(ports.clock),
    })
  const visibility = completed.visibility ?? (await presetVisibility(ports, reader, completed))
  const hashes = await findHashes(reader, completed, shown)
  return { withinId: undefined, ...completed, visibility, ...hashes }
}

async function getShownAction(
  ports: ReadDeps,
  reader: Reader,
  { issuing, actionId: text }: { readonly issuing: Issuing; readonly actionId: string },
): Promise<StoredAction> {
  const actionId = parseActionId(text)
  const query = actionId && { viewer: issuing.viewer, actionId, now: nowSecs(ports.clock) }
  const shown = query && (await findShown(reader, query))
  const action = shown && (await findStoredAction(reader, query.actionId))
  if (!action || (action.status !== 'A' && action.status !== 'C')) throw new Failure('E-ACTION-NOTFOUND')
  return action
}

// This many identities are looked up at the same time; each may live on another server.
const atOnce = 10

async function assertAudienceExists(
  ports: IdentityDeps,
  idTags: readonly IdTag[],
  asker: IdTag,
): Promise<void> {
  const named = [...new Set(idTags)]
  for (let from = 0; from < named.length; from += atOnce) {
    const portion = named.slice(from, from + atOnce)
    const found = await Promise.all(portion.map((idTag) => ports.askIdentity(idTag, asker)))
    // An identity whose server cannot be reached now gets its delivery later.
    if (found.some(({ kind }) => kind === 'unknown')) throw new Failure('E-PROFILE-NOTFOUND')
  }
}

/** Addressees on this server that would refuse the action as a stranger's fail the request immediately. */
async function assertTakenHere(
  ports: PrepareDeps,
  { tenant, body }: { readonly tenant: Tenant; readonly body: ActionBody },
): Promise<void> {
  const named = new Set(body.audienceTag === undefined ? body.audience : [body.audienceTag, ...body.audience])
  named.delete(tenant.idTag)
  for (const idTag of named) {
    const addressee = await findActive(ports.tenants, idTag)
    if (!addressee) continue
    const reader = ports.db.reader(addressee.tenantId)
    if (!isStranger(addressee.type, await findEffectiveRelation(reader, tenant.idTag))) continue
    if (!(await mayReceiveFromStranger(ports, reader, { tenant: addressee, action: body })))
      throw new Failure('E-AUTH-FORBIDDEN', { message: `${idTag} does not take this from strangers.` })
    if (body.subType !== endingSubType)
      await assertStrangerRoom(ports, reader, await registrableDomain(tenant.idTag))
  }
}

/** The visibility of an action that neither states nor inherits one: the tenant's setting, or that of its type. */
async function presetVisibility(ports: PrepareDeps, reader: Reader, body: ActionBody): Promise<Visibility> {
  if (body.visibility === null || findActionType(body.type)?.defaultVisibility !== 'P') return null
  return await ports.settings.findWith(reader, 'profile.default_visibility')
}
