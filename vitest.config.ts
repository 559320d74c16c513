import { randomBytes } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { compileCache } from './packages/server/test/harness/compile-cache.ts'
import { pollMs, testMs } from './packages/server/test/harness/patience.ts'
import { drawSeed } from './scripts/test-run/draw-seed.ts'
import { testProjects } from './scripts/test-run/projects.ts'
import SlowFirst from './scripts/test-run/slow-first.ts'

// By which the end of a run finds the schemas that it has made.
process.env.TEST_SCHEMAS = `test_${randomBytes(4).toString('hex')}_`
// Sources are stripped and compiled once, not once per worker and run.
Object.assign(process.env, compileCache)

drawSeed()
const { TEST_SEED: seed } = process.env

export default defineConfig({
  test: {
    environment: 'node',
    reporters: ['default', './scripts/test-run/summary-reporter.ts'],
    projects: testProjects(),
    setupFiles: './packages/server/test/harness/seed-properties.ts',
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
    sequence:
      seed === undefined ? { sequencer: SlowFirst } : { shuffle: { files: true }, seed: Number(seed) },
    testTimeout: testMs,
    hookTimeout: testMs,
    expect: { poll: { timeout: pollMs } },
  },
})

/** Nobody needs the databases of tests after a crash of the machine, and every commit would wait for the disk. */
function foldersInMemory(): { TMPDIR?: string } {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize > 1024 ** 3 ? { TMPDIR: '/dev/shm' } : {}
  } catch {
    return {}
  }
}
