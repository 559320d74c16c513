import type { TypeHooks } from './type-hooks.ts'

/** A post has no effect but that it is there. */
export const post: TypeHooks = { type: 'POST' }
