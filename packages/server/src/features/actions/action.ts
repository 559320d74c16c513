import type { ActionId, ActionStatus, ActionTypeName, FileId, IdTag, Visibility } from '@kith/protocol'

/** The members of an action, without its issuer and its times. Members without a value are undefined. */
export interface ActionBody {
  readonly type: ActionTypeName
  readonly subType: string | undefined
  readonly parentId: ActionId | undefined
  readonly rootId: ActionId | undefined
  readonly audienceTag: IdTag | undefined
  readonly audience: readonly IdTag[]
  readonly content: Readonly<Record<string, unknown>> | undefined
  readonly attachments: readonly FileId[]
  readonly subject: string | undefined
  readonly expiresAt: number | undefined
  /** `undefined` when none was given, which differs from null. */
  readonly visibility: Visibility | undefined
  readonly flags: string | undefined
  readonly x: Readonly<Record<string, unknown>> | undefined
}

/** `T`: a record of this server, no action: of a deletion, or of a token on its way. */
export type StoredStatus = ActionStatus | 'T'

/** An action as a tenant holds it. Times are Unix seconds. */
export interface StoredAction extends ActionBody {
  readonly actionId: ActionId
  readonly issuerTag: IdTag
  /** The member of a community who made it in the community's name. */
  readonly authorTag: IdTag | undefined
  readonly visibility: Visibility
  /** The root, whose readers are the only ones who may read this action. */
  readonly withinId: ActionId | undefined
  readonly status: StoredStatus
  /** Marked as a notification until it is dismissed. */
  readonly isMarked: boolean
  /** Written only when the action is received. In lists, third parties' actions with this flag are shown only to the
   * tenant and to whom they concern. */
  readonly isFeedOnly?: boolean
  /** An import has brought it along, and its signature has not been verified: only the tenant reads it. */
  readonly isUnverified?: boolean
  /** The hash of the token that it says something about; of a received action only until it has been compared. */
  readonly targetHash?: string | undefined
  /** The same of the root of its thread, as its token says it. */
  readonly rootHash?: string | undefined
  /** The tenant holds another token under that id. */
  readonly isMismatched?: boolean
  readonly createdAt: number
  /** `iat` of the token; 0 while there is none. */
  readonly issuedAt: number
  readonly publishedAt: number | undefined
  /** When a scheduled action is to be published. */
  readonly publishAt: number | undefined
  readonly nonce: string | undefined
  readonly token: string | undefined
}

/** Deletes an action, or ends what an earlier one began. */
export const endingSubType = 'DEL'
