import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
/** Collects garbage now: all of it, or with `minor` what was made of late. */
export const collectGarbage = runInNewContext('gc') as (options?: { type: 'minor' }) => void
setFlagsFromString('--no-expose-gc')
