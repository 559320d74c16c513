import { type AppPackageFault, appPackageFaults } from '@kith/protocol'
import { ZipFault } from '#infra/zip/index.ts'
import { Failure } from '#lib/failure.ts'

// A path that is refused for its length is not sent back whole.
const longestShownPath = 200

/** The failure for a package that cannot be taken, with the stable word for what is wrong with it. */
export function packageFault(reason: AppPackageFault, path?: string): Failure {
  const shown = path === undefined ? {} : { path: path.slice(0, longestShownPath).toWellFormed() }
  return new Failure('E-VALIDATION', { message: appPackageFaults[reason], details: { reason, ...shown } })
}

/** What a fault of the archive is for the caller; other errors are themselves. */
export function explainZipFault(error: unknown): unknown {
  return error instanceof ZipFault ? packageFault(error.reason, error.path) : error
}
