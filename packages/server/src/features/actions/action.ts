import type { ActionId, ActionStatus, ActionTypeName, FileId, IdTag, Visibility } from '@kith/protocol'

/** What an action says, apart from who issued it and when. Members without a value are undefined. */
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
  /** `undefined` where nothing was said, which is not the same as null. */
  readonly visibility: Visibility | undefined
  readonly flags: string | undefined
  readonly x: Readonly<Record<string, unknown>> | undefined
}

/** `T`: no action but the record of one, known only here: that something was deleted, or a token on its way. */
export type StoredStatus = ActionStatus | 'T'

/** An action as a tenant holds it. Times are Unix seconds. */
export interface StoredAction extends ActionBody {
  readonly actionId: ActionId
  readonly issuerTag: IdTag
  /** The member of a community who made it in the community's name. */
  readonly authorTag: IdTag | undefined
  readonly visibility: Visibility
  /** The action whose readers bound those of this one. */
  readonly withinId: ActionId | undefined
  readonly status: StoredStatus
  /** New to the tenant, until it is dismissed. */
  readonly isMarked: boolean
  /** Written when it is received, and only then: of what third parties say nobody but the tenant is shown this in lists. */
  readonly isFeedOnly?: boolean
  readonly createdAt: number
  /** `iat` of the token; 0 while there is none. */
  readonly issuedAt: number
  readonly publishedAt: number | undefined
  /** When it is to be published by itself. */
  readonly publishAt: number | undefined
  readonly nonce: string | undefined
  readonly token: string | undefined
}

/** A withdrawal, of an action or of what an earlier one began. */
export const endingSubType = 'DEL'
