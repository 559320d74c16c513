/** What a run of vitest has found, as the reporter writes it for the script that decides about the run. */
export interface RunReport {
  readonly files: readonly FileReport[]
  /** First lines of errors that belong to no file, such as one of a worker that ended. */
  readonly strayErrors: readonly string[]
  /** Why suites were left out: what they need, and the names of tests. */
  readonly needs: readonly (readonly [need: string, suites: readonly string[]])[]
}

export interface FileReport {
  /** Its path below the top folder of the project. */
  readonly file: string
  readonly passed: number
  readonly skipped: number
  readonly failures: readonly Failure[]
}

export interface Failure {
  /** The full name of the test, or of the suite whose hook failed; empty where the file as a whole failed. */
  readonly test: string
  /** The first line of the error. */
  readonly reason: string
}

// Of suites that need the same.
const namedSuites = 4

/** What could not be tried, and one line that counts what passed. */
export function summaryOf({ files, strayErrors, needs }: RunReport): string {
  const sum = (count: (file: FileReport) => number) => files.reduce((total, file) => total + count(file), 0)
  const failed = sum(({ failures }) => failures.length) + strayErrors.length
  const skipped = sum((file) => file.skipped)
  const lines = needs.map(([need, suites]) => `SKIPPED: ${naming(suites)} ${need}\n`)
  const counts = `${sum(({ passed }) => passed)} passed, ${failed} failed`
  return `${lines.join('')}${counts}${skipped > 0 ? `, ${skipped} skipped` : ''}\n`
}

function naming(suites: readonly string[]): string {
  const named = suites.slice(0, namedSuites).map((name) => `"${name}"`)
  const others = suites.length - named.length
  return [...named, ...(others > 0 ? [`and ${others} more`] : [])].join(', ')
}
