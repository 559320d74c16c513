import { statSync } from 'node:fs'
import type { Config } from '#infra/config/index.ts'
import { Failure } from '#lib/failure.ts'

const root = 0

/** Throws `E-STATE` where root would write into the data of a server that runs as another user: files that root makes there are
 * closed to it. */
export function assertNotForeignRoot({ dataDir }: Pick<Config, 'dataDir'>): void {
  if (process.geteuid?.() !== root) return
  const owner = statSync(dataDir, { throwIfNoEntry: false })?.uid
  if (owner === undefined || owner === root) return
  throw new Failure('E-STATE', {
    message: `${dataDir} belongs to the user ${owner}, and what root writes there is closed to that user. Run kith as the server does: sudo --user='#${owner}' kith … (an installed kith does so by itself)`,
  })
}
