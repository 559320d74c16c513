import { type ActionTokenPayload, actionLifetimeSecs } from '@kith/protocol'
import type { StoredAction } from './action.ts'
import { hashMembers } from './endorsement/target.ts'

type TokenAction = Omit<
  StoredAction,
  'token' | 'status' | 'withinId' | 'authorTag' | 'publishedAt' | 'nonce'
> & {
  readonly nonce: string
}

/** The payload of an action's token: the members that have a value, in a fixed order
 * (docs/protocol/action-tokens.md). */
export function tokenPayload(action: TokenAction): ActionTokenPayload {
  const { audience, attachments } = action
  const optional = {
    subType: action.subType,
    parentId: action.parentId,
    rootId: action.rootId,
    audienceTag: action.audienceTag,
    audience: audience.length > 0 ? [...audience] : undefined,
    content: action.content,
    attachments: attachments.length > 0 ? [...attachments] : undefined,
    subject: action.subject,
    visibility: action.visibility ?? undefined,
    flags: action.flags,
    expiresAt: action.expiresAt,
    x: action.x,
    ...hashMembers(action),
  }
  return {
    actionId: action.actionId,
    type: action.type,
    issuerTag: action.issuerTag,
    ...withoutAbsent(optional),
    nonce: action.nonce,
    createdAt: action.createdAt,
    iat: action.issuedAt,
    exp: action.expiresAt ?? action.issuedAt + actionLifetimeSecs,
  }
}

type Present<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> }

/** Only the members that have a value, for code in which `undefined` differs from absent. */
export function withoutAbsent<Members extends object>(members: Members): Present<Members> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Present<Members>
}
