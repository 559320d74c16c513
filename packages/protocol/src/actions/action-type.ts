import type { TObject } from 'typebox'

/** Members of an action that a type may require or forbid. */
export type ActionMember = 'content' | 'parentId' | 'audienceTag' | 'subject' | 'subType' | 'attachments'

/** What an action type is, as data (DECISIONS part 10). */
export interface ActionType {
  readonly type: string
  /** One paragraph for readers of the documentation. */
  readonly meaning: string
  /** What `content` must look like; members beyond it are kept as they are given. */
  readonly content: TObject | undefined
  readonly requires: readonly ActionMember[]
  readonly forbids: readonly ActionMember[]
  /** A newer action replaces the older one of the issuer with equal values of these members. */
  readonly uniqueBy: readonly ('audienceTag' | 'subject')[] | undefined
  /** Status at a receiver: `A`, or `C` where it awaits the receiver's acceptance. */
  readonly arrivesAs: 'A' | 'C'
  /** When neither the request nor the parent nor a setting says otherwise. */
  readonly defaultVisibility: 'P' | null
}

export function actionType<const Type extends ActionType>(type: Type): Type {
  return type
}
