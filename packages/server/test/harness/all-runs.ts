/** Whether everything is tried, also what takes long and stands beside shorter tests of the same. */
export const hasAllRuns = process.env.TEST_RUNS === 'all'

/** The files that are left out without it, unless one is named. */
export const longTests = '**/*.long.test.ts'

/** What the end of a run says of suites that were left out. */
export const allRunsNeed = 'is tried with TEST_RUNS=all, as CI does (CONTRIBUTING.md, Tests)'
