import { applyStrangerRule, findActionType, findServerActionType, type IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import type { SettingDeps } from '../action-ports.ts'
import type { HookScene } from './type-hooks.ts'

/** What the rule needs to know of a token or a body. */
interface StrangerMessage {
  readonly type: string
  readonly subType?: string | undefined
  readonly audienceTag?: string | undefined
  readonly audience?: readonly string[] | undefined
}

/** Does the tenant accept this action from a stranger? Types with `onReadable` pass here; `assertOnReadable` decides on
 * them once it is known whether the tenant holds what they answer. Endings always pass. */
export async function mayReceiveFromStranger(
  ports: SettingDeps,
  reader: Reader,
  { tenant, action }: { readonly tenant: Tenant; readonly action: StrangerMessage },
): Promise<boolean> {
  const rule = (findActionType(action.type) ?? findServerActionType(action.type))?.fromStrangers
  if (rule === undefined || action.subType === endingSubType) return true
  if (typeof rule === 'object' && rule.onReadable) return true
  const verdict = applyStrangerRule(rule, { receiver: tenant.type, ...placeOf(tenant, action, false) })
  if (verdict === 'taken' || verdict === 'refused') return verdict === 'taken'
  return await ports.settings.findWith(reader, verdict)
}

/** The receiver does not take this from a stranger. */
export class StrangerRefusal extends Failure {
  constructor() {
    super('E-AUTH-FORBIDDEN')
  }
}

/** Refuses a stranger's action unless the rule of its type accepts it, for instance because it answers something that
 * the tenant holds and the stranger may read. `held`: the action whose visibility decides that. */
export async function assertOnReadable(
  { ports, tx, tenant, action, isFromStranger }: HookScene,
  held: StoredAction | undefined,
): Promise<void> {
  const rule = findActionType(action.type)?.fromStrangers
  if (!isFromStranger || rule === undefined) return
  const isOnReadable = held !== undefined && mayBeRead(held, action.issuerTag)
  const verdict = applyStrangerRule(rule, {
    receiver: tenant.type,
    ...placeOf(tenant, action, isOnReadable),
  })
  if (verdict === 'taken') return
  if (verdict === 'refused' || !(await ports.settings.findWith(tx, verdict))) throw new StrangerRefusal()
}

/** Counts every visibility but null as readable: only the issuer of `held` knows its followers and connections.
 * `findThread` has checked threads of the tenant itself. */
function mayBeRead(held: StoredAction, idTag: IdTag): boolean {
  if (held.status !== 'A' && held.status !== 'C') return false
  const { visibility, issuerTag, audienceTag, audience, subject } = held
  return visibility !== null || [issuerTag, audienceTag, subject, ...audience].includes(idTag)
}

function placeOf({ idTag }: Tenant, { audienceTag, audience = [] }: StrangerMessage, isOnReadable: boolean) {
  return { isAddressed: audienceTag === idTag || audience.includes(idTag), isOnReadable }
}
