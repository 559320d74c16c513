import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'

const manual = join(import.meta.dirname, '../../../../../docs/operations')

/** Where a page of the manual lies on this machine, as it is opened from the working directory. */
export function manualPage(name: string): string {
  const path = join(manual, name)
  const near = relative(process.cwd(), path)
  return near.startsWith('..') && existsSync(path) ? path : `docs/operations/${name}`
}
