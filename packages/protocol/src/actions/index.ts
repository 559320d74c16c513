import { ack } from './ack.ts'
import type { ActionType } from './action-type.ts'
import { annc } from './annc.ts'
import { apkg } from './apkg.ts'
import { cmnt } from './cmnt.ts'
import { conn } from './conn.ts'
import { fllw } from './fllw.ts'
import { fshr } from './fshr.ts'
import { invt } from './invt.ts'
import { msg } from './msg.ts'
import { post } from './post.ts'
import { react } from './react.ts'
import { repost } from './repost.ts'
import { shre } from './shre.ts'
import { stat } from './stat.ts'

export type { ActionMember, ActionType, Receivers, SubjectKind } from './action-type.ts'
export { type ReactionKind, reactionKinds } from './react.ts'
export { applyStrangerRule, type StrangerRule, type StrangerSetting } from './strangers.ts'

/** Every action type that a caller may make, by its code. */
export const actionTypes = {
  POST: post,
  CMNT: cmnt,
  REPOST: repost,
  SHRE: shre,
  FLLW: fllw,
  CONN: conn,
  MSG: msg,
  FSHR: fshr,
  REACT: react,
  ACK: ack,
  INVT: invt,
  APKG: apkg,
} as const satisfies Record<string, ActionType>
export type ActionTypeName = keyof typeof actionTypes
export const actionTypeNames = Object.keys(actionTypes) as ActionTypeName[]

/** What servers alone tell each other. */
export const serverActionTypes = { STAT: stat, ANNC: annc } as const satisfies Record<string, ActionType>
type ServerActionTypeName = keyof typeof serverActionTypes

/** The type with this code, if there is one that a caller may make. */
export function findActionType(name: string): ActionType | undefined {
  return Object.hasOwn(actionTypes, name) ? actionTypes[name as ActionTypeName] : undefined
}

/** The type with this code, if there is one that servers alone make. */
export function findServerActionType(
  name: string,
): (typeof serverActionTypes)[ServerActionTypeName] | undefined {
  return Object.hasOwn(serverActionTypes, name) ? serverActionTypes[name as ServerActionTypeName] : undefined
}
