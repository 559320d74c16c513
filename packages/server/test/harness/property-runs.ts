export const hasAllRuns = process.env.TEST_RUNS === 'all'

/** How often a property is tried that is worth `count` runs: a quarter of them, and with TEST_RUNS=all every one. */
export function runsOf(count: number): number {
  return Math.ceil(hasAllRuns ? count : count / 4)
}
