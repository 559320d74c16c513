import type { ActionTypeName } from '@kith/protocol'
import { fllw } from './fllw.ts'
import { post } from './post.ts'
import type { TypeHooks } from './type-hooks.ts'

const hooks: Record<ActionTypeName, TypeHooks> = { POST: post, FLLW: fllw }

/** What follows from actions of a type. */
export function hooksOf(type: ActionTypeName): TypeHooks {
  return hooks[type]
}
