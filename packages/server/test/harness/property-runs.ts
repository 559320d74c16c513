import { allRunsNeed, hasAllRuns } from './all-runs.ts'
import { skipSuite } from './skip-suite.ts'

/** How often a property is tried that is worth `count` runs: a quarter of them, and with TEST_RUNS=all every one. */
export function runsOf(count: number): number {
  return Math.ceil(hasAllRuns ? count : count / 4)
}

/** Declares tests that search on for faults where others prove the fact once: with TEST_RUNS=all alone. Where they are not
 * tried, the end of the run says so under this name. */
export function inAllRuns(name: string, declare: () => void): void {
  if (hasAllRuns) declare()
  else skipSuite(name, allRunsNeed)
}

/** How often a server is killed in a test that does so `usual` times: `KILL_ROUNDS`, where that is set. */
export function killRounds(usual: number): number {
  return Number(process.env.KILL_ROUNDS) || usual
}
