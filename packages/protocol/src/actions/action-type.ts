import type { TObject } from 'typebox'
import type { StrangerRule } from './strangers.ts'

/** Members of an action that a type may require or forbid. */
export type ActionMember =
  | 'content'
  | 'parentId'
  | 'audienceTag'
  | 'audience'
  | 'subject'
  | 'subType'
  | 'attachments'

/** Who receives an action: its audience; its audience, or without one the issuer's followers and connections that its
 * visibility admits; always those followers and connections; the issuer (and audience) of the action it answers or is
 * about; no other server. */
export type Receivers = 'audience' | 'audience-or-circle' | 'circle' | 'parent' | 'subject' | 'nobody'

/** What a `subject` is: the id of an action or of a file, an identity in canonical form, or free words. Words say nothing
 * that must be known once the action has ended: they go with its text (docs/protocol/action-life.md, What goes). */
export type SubjectKind = 'action' | 'file' | 'identity' | 'words'

/** What an action type is, as data; docs/protocol/action-types.md is made from it. */
export interface ActionType {
  readonly type: string
  /** One paragraph for readers of the documentation. */
  readonly meaning: string
  /** What `content` must look like; members beyond it are kept as they are given. Undefined: there is none. */
  readonly content: TObject | undefined
  readonly subject: SubjectKind
  readonly requires: readonly ActionMember[]
  /** At least one of these must be there. */
  readonly requiresOneOf?: readonly ActionMember[]
  readonly forbids: readonly ActionMember[]
  /** The only values of `subType`; any when left out, but for `DEL`. */
  readonly subTypes?: readonly string[]
  /** `subType: 'DEL'` ends what an earlier action of the type began. */
  readonly canEnd?: true
  /** A newer action replaces the older one of the issuer with equal values of these members. */
  readonly uniqueBy: readonly ('audienceTag' | 'subject')[] | undefined
  /** The member that names the action it says something about. Its token carries the hash of that action's token as
   * `subjectHash` or `parentHash` (docs/protocol/actions.md, What an action is about). */
  readonly endorses?: 'subject' | 'parentId'
  /** Status at a receiver: `A`, or `C` where it awaits the receiver's acceptance. */
  readonly arrivesAs: 'A' | 'C'
  readonly receivers: Receivers
  /** Whether a receiver accepts it from an identity that it does not know. */
  readonly fromStrangers: StrangerRule
  /** The longest life of a token of it; as `actionLifetimeSecs` when left out. */
  readonly lifetimeSecs?: number
  /** When neither the request nor the parent nor a setting says otherwise; `direct` types take no other. */
  readonly defaultVisibility: 'P' | null | 'direct' | 'inherited'
}

export function actionType<const Type extends ActionType>(type: Type): Type {
  return type
}
