import { randomBytes } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { configDefaults, defineConfig } from 'vitest/config'
import { hasAllRuns, longTests } from './packages/server/test/harness/all-runs.ts'
import { compileCache } from './packages/server/test/harness/compile-cache.ts'
import { pollMs, testMs } from './packages/server/test/harness/patience.ts'
import SlowFirst from './scripts/test-run/slow-first.ts'

// By which the end of a run finds the schemas that it has made.
process.env.TEST_SCHEMAS = `test_${randomBytes(4).toString('hex')}_`
// Sources are stripped and compiled once, not once per worker and run.
Object.assign(process.env, compileCache)

export default defineConfig({
  test: {
    environment: 'node',
    reporters: ['default', './scripts/test-run/summary-reporter.ts'],
    include: ['packages/**/*.test.ts', 'bench/**/*.test.ts', 'scripts/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...leftOut()],
    pool: 'forks',
    // One more than two cores: a fifth of the time a worker waits for a process that it has started, or for its threads.
    maxWorkers: 3,
    // The files of a worker run one after another in one process, which imports the program once.
    isolate: false,
    // Node runs the sources as it runs the program: nothing is rewritten, and calls between modules cost nothing more.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // A young generation that a whole test fits in: less is collected that would have gone anyway.
    execArgv: ['--max-semi-space-size=64'],
    env: foldersInMemory(),
    globalSetup: [
      './packages/server/test/harness/drop-schemas.ts',
      './packages/web/test/harness/build-app.ts',
    ],
    sequence: { sequencer: SlowFirst },
    testTimeout: testMs,
    hookTimeout: testMs,
    expect: { poll: { timeout: pollMs } },
  },
})

/** What takes long and stands beside shorter tests of the same, unless it is asked for by its name. */
function leftOut(): string[] {
  const isNamed = process.argv.some((argument) => argument.includes('.long.test'))
  return hasAllRuns || isNamed ? [] : [longTests]
}

/** Nobody needs the databases of tests after a crash of the machine, and every commit would wait for the disk. */
function foldersInMemory(): { TMPDIR?: string } {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize > 1024 ** 3 ? { TMPDIR: '/dev/shm' } : {}
  } catch {
    return {}
  }
}
