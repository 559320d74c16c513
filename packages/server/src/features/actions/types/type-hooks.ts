import type { ActionTypeName, IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { ActionBody, StoredAction } from '../action.ts'

/** What a type may look up before an action is signed. */
export interface PrepareScene {
  readonly reader: Reader
  readonly tenant: Tenant
  readonly body: ActionBody
}

/** A change of an action's status in its transaction. */
export interface HookScene {
  readonly tx: Writer
  readonly tenant: Tenant
  readonly action: StoredAction
  /** The issuer's earlier action whose place this one takes. */
  readonly replaced?: StoredAction
  /** Unix seconds. */
  readonly at: number
}

/** What follows from an action of one type. A `Failure` refuses the action; it is thrown before anything is written. */
export interface TypeHooks {
  readonly type: ActionTypeName
  /** May refuse the action before it is signed, or complete it. */
  prepare?(scene: PrepareScene): Promise<Partial<ActionBody>>
  /** At the issuer. */
  onCreate?(scene: HookScene): Promise<void>
  /** At a receiver. */
  onReceive?(scene: HookScene): Promise<void>
  /** Deleted or expired, on either side; withdrawals (`subType: 'DEL'`) are actions of their own. */
  onEnd?(scene: HookScene): Promise<void>
}

/** The other party of an action between two: the audience at the issuer, the issuer at the audience. */
export function otherParty({ tenant, action }: Pick<HookScene, 'tenant' | 'action'>): IdTag | undefined {
  if (action.issuerTag === tenant.idTag) return action.audienceTag
  return action.audienceTag === tenant.idTag ? action.issuerTag : undefined
}
