import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProjectInlineConfiguration } from 'vitest/config'
import { type TestRun, testRuns } from '../../packages/server/test/harness/test-run.ts'

const root = join(import.meta.dirname, '../..')
/** The files of all tests. */
export const allTests = ['packages', 'examples', 'bench', 'scripts'].map((folder) => `${folder}/**/*.test.ts`)
const notOurs = ['**/node_modules/**', '**/dist/**']

/** By folder, or by name where a test stands beside what it tries. */
const services = ['packages/server/test/services/*.test.ts', '**/*.services.test.ts']
const browser = [
  'packages/server/test/browser/*.test.ts',
  'packages/web/test/*.test.ts',
  '**/*.browser.test.ts',
]
const faults = ['packages/server/test/faults/*.test.ts', '**/*.faults.test.ts']

/** The runs of tests, as projects of vitest. */
export function testProjects(): TestProjectInlineConfiguration[] {
  return [
    project('local', { include: allTests, exclude: [...notOurs, ...services, ...browser, ...faults] }),
    project('services', { include: [...services, ...filesWithServiceRows()] }),
    // Half of the time a page waits.
    project('browser', { include: browser, maxWorkers: 2 }),
    // What a file has done to its process (its memory, its threads, its clock) is nothing to the next.
    project('faults', { include: faults, fileParallelism: false, isolate: true }),
  ]
}

function project(
  name: TestRun,
  test: TestProjectInlineConfiguration['test'],
): TestProjectInlineConfiguration {
  const groupOrder = Object.keys(testRuns).indexOf(name)
  return {
    extends: true,
    test: { name, exclude: notOurs, ...test, env: { TEST_RUN: name }, sequence: { groupOrder } },
  }
}

/** Files of the local run some suites of which are run on PostgreSQL or S3 as well. */
function filesWithServiceRows(): string[] {
  const others = [...notOurs, ...services, ...browser, ...faults]
  return globSync(allTests, { cwd: root, exclude: others }).filter((path) =>
    /\b(eachDialect|onPostgresServer|eachBucket)\(/.test(readFileSync(join(root, path), 'utf8')),
  )
}
