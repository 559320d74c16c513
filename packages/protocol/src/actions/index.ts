import type { ActionType } from './action-type.ts'
import { fllw } from './fllw.ts'
import { post } from './post.ts'

export type { ActionMember, ActionType, Receivers } from './action-type.ts'

/** Every action type by its code. */
export const actionTypes = { POST: post, FLLW: fllw } as const satisfies Record<string, ActionType>
export type ActionTypeName = keyof typeof actionTypes
export const actionTypeNames = Object.keys(actionTypes) as ActionTypeName[]

/** The type with this code, if there is one. */
export function findActionType(name: string): ActionType | undefined {
  return Object.hasOwn(actionTypes, name) ? actionTypes[name as ActionTypeName] : undefined
}
