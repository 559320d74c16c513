import { type AppPackageFault, appPackageFaults, type ValidationIssue } from '@kith/protocol'
import { ZipFault } from '#infra/zip/index.ts'
import { Failure } from '#lib/failure.ts'

// A path that is refused for its length is not sent back whole.
const longestShown = 200
const mostIssues = 10

/** The failure for a package that cannot be taken, with the stable word for what is wrong with it. */
export function packageFault(reason: AppPackageFault, path?: string): Failure {
  const details = { reason, ...(path !== undefined && { path: shown(path) }) }
  return new Failure('E-VALIDATION', { message: appPackageFaults[reason], details })
}

/** The failure for a manifest with these issues; `path` is the first one's. */
export function manifestFault(
  reason: 'manifest-invalid' | 'manifest-not-json',
  issues: readonly ValidationIssue[],
): Failure {
  const told = issues
    .slice(0, mostIssues)
    .map(({ path, message }) => ({ path: shown(path), message: shown(message) }))
  return new Failure('E-VALIDATION', {
    message: appPackageFaults[reason],
    details: { reason, ...(told[0]?.path && { path: told[0].path }), issues: told },
  })
}

function shown(text: string): string {
  return text.slice(0, longestShown).toWellFormed()
}

/** What a fault of the archive is for the caller; other errors are themselves. */
export function explainZipFault(error: unknown): unknown {
  return error instanceof ZipFault ? packageFault(error.reason, error.path) : error
}
