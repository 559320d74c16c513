import { join } from 'node:path'

/** Where the program keeps its compiled sources, for processes that a test starts by another entrance: half of what a
 * start costs is to strip and compile them. */
export const compileCache = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../../node_modules/.cache/kith/compiled'),
}

/** For a server that is started to be killed: what it loads fits into the young generation. A seventh of what a start costs
 * is to collect from a small one. */
export const roomyStart: readonly string[] = ['--min-semi-space-size=16']
