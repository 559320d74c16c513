import type { ActionId, ActionTypeName, IdTag, Visibility } from '@kith/protocol'
import type { Viewer } from '#features/relations/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { ActionBody, StoredAction } from '../action.ts'
import type { HookDeps, IdentityDeps, PrepareHookDeps } from '../action-ports.ts'
import type { Audience } from '../audience.ts'
import type { ActionInput } from '../compose/parse-action.ts'

/** Who issues an action, and what it may see; `caller` is undefined where the server itself answers. */
export interface Issuing {
  readonly tenant: Tenant
  readonly viewer: Viewer
  readonly caller: Identified | undefined
}

/** What a type may look up before an action is signed. */
export interface PrepareScene extends Issuing {
  readonly ports: PrepareHookDeps
  readonly reader: Reader
  readonly body: ActionBody
  /** A published action that the issuer may see; `E-ACTION-NOTFOUND` otherwise. */
  getShown(actionId: string): Promise<StoredAction>
}

/** What a type adds to an action before it is signed. */
export type Completion = Partial<ActionBody> & {
  readonly withinId?: ActionId
  readonly visibility?: Visibility
}

/** An action in the transaction that changes it. */
export interface HookScene {
  readonly ports: HookDeps
  readonly tx: Writer
  readonly tenant: Tenant
  readonly action: StoredAction
  /** Unix seconds. */
  readonly at: number
  /** On admission only: the tenant neither follows the issuer nor is connected with it, or the issuer is below
   * contributor in the tenant's community. */
  readonly isFromStranger?: boolean
}

/** How an action is stored at a receiver. */
export type Admission = Partial<
  Pick<StoredAction, 'status' | 'isMarked' | 'withinId' | 'rootId' | 'visibility' | 'audienceTag'>
>

/** What actions of one type do beyond what the type's data says. */
export interface TypeHooks {
  readonly type: ActionTypeName
  /** Checks members as the type's data cannot; on both sides. */
  check?(body: ActionBody): void
  /** May refuse the action before it is signed, or complete it. */
  prepare?(scene: PrepareScene): Promise<Completion>
  /** May refuse the deletion of the tenant's own action. */
  assertMayDelete?(ports: IdentityDeps, tenant: Tenant, action: StoredAction): Promise<void>
  /** May refuse that the tenant accepts this request. */
  assertMayAccept?(ports: IdentityDeps, action: StoredAction): Promise<void>
  /** At a receiver, before anything is written: a `Failure` refuses the action. */
  admit?(scene: HookScene): Promise<Admission>
  /** At the issuer, once it is stored. */
  onCreate?(scene: HookScene): Promise<void>
  /** At a receiver, once it is stored. */
  onReceive?(scene: HookScene): Promise<void>
  /** At a receiver to which an import brought it, once its signature has been verified. */
  onVerified?(scene: HookScene): Promise<void>
  /** When the action is deleted or expires, on either side. Withdrawals (`subType: 'DEL'`) are actions of their own. */
  onEnd?(scene: HookScene): Promise<void>
  /** At the target, in the transaction that sets its status to A. */
  onAccept?(scene: HookScene): Promise<void>
  /** At the target, in the transaction that sets its status to D. */
  onReject?(scene: HookScene): Promise<void>
  /** The action that the target answers with. */
  answer?(action: StoredAction, verdict: 'accept' | 'reject'): ActionInput | undefined
  /** Its attachments are fetched when somebody asks for them, not when it arrives: packages of apps may have 64 MiB, and few of
   * those who are told of one install it. */
  readonly isFetchedLater?: true
  /** A community that the action was posted to announces it to its members (ANNC). */
  readonly isAnnounced?: true
  /** To whom a receiver passes on the action or its deletion as it came, and to whom it announces a comment. */
  findRelays?(reader: Reader, tenant: Tenant, action: StoredAction): Promise<Audience>
  /** Who receives the action besides the receivers that the type's data names. */
  findOthers?(reader: Reader, tenant: Tenant, action: StoredAction): Promise<Audience>
}

/** The other party of an action between two identities: the audience at the issuer, the issuer at the audience. */
export function otherParty({ tenant, action }: Pick<HookScene, 'tenant' | 'action'>): IdTag | undefined {
  if (action.issuerTag === tenant.idTag) return action.audienceTag
  return action.audienceTag === tenant.idTag ? action.issuerTag : undefined
}
