import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'

const program = join(import.meta.dirname, 'run-tests.ts')
const config = join(import.meta.dirname, 'fixtures/vitest.config.ts')
const folder = 'scripts/test-run/fixtures'

let place = ''
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'kith-fixtures-'))
})
afterEach(() => rm(place, { recursive: true }))

/** How a run of these fixtures ends: its exit code, and its last lines from the first that names what failed. */
async function runOf(...fixtures: string[]) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^VITEST|^TEST_REPORT$/.test(name))
  const child = spawn(process.execPath, [program, `--config=${config}`, ...fixtures], {
    env: { ...Object.fromEntries(inherited), FIXTURE_FOLDER: place, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const lines = output.trimEnd().split('\n')
  const first = lines.findIndex((line) => /^(FLAKY|FAILED|SKIPPED)/.test(line))
  return { code, end: lines.slice(first).filter((line) => line !== '') }
}

test('what passes is counted, with what was skipped and why', async () => {
  expect(await runOf('passes')).toEqual({
    code: 0,
    end: ['SKIPPED: "is skipped" needs the moon', '1 passed, 0 failed, 1 skipped'],
  })
})

test('a test that always fails is red', async () => {
  expect(await runOf('passes', 'always-fails')).toEqual({
    code: 1,
    end: [
      `FAILED ${folder}/always-fails.fixture.ts > always fails: as ever`,
      'SKIPPED: "is skipped" needs the moon',
      '1 passed, 1 failed, 1 skipped',
    ],
  })
})

test('a test or a hook that fails once is flaky: named, counted, and the run passes', async () => {
  expect(await runOf('fails-once')).toEqual({
    code: 0,
    end: [
      `FLAKY ${folder}/fails-once.fixture.ts > A suite > fails once: for once`,
      `FLAKY ${folder}/hook-fails-once.fixture.ts > A suite: the hook for once`,
      'flaky: 2 tests in 2 files',
      '3 passed, 0 failed',
    ],
  })
})

test('a file that cannot be loaded is red', async () => {
  expect(await runOf('cannot-be-loaded')).toEqual({
    code: 1,
    end: [`FAILED ${folder}/cannot-be-loaded.fixture.ts: not to be loaded`, '0 passed, 1 failed'],
  })
})

test('a worker that ends is red', async () => {
  const { code, end } = await runOf('ends-its-worker')
  expect(code).toBe(1)
  expect(end).toEqual([
    `FAILED ${folder}/ends-its-worker.fixture.ts > ends its worker: did not end`,
    expect.stringMatching(/^FAILED: Worker exited unexpectedly with signal SIGKILL/),
    '0 passed, 2 failed',
  ])
})

test('a test that failed and is skipped the second time is red', async () => {
  expect(await runOf('skipped-at-last')).toEqual({
    code: 1,
    end: [
      `FAILED ${folder}/skipped-at-last.fixture.ts > fails, and is skipped after that: failed when it was tried`,
      '0 passed, 1 failed',
    ],
  })
})

test('more failing files than may be flaky are red, and none is run again', async () => {
  const failing = `import { test } from '${import.meta.resolve('vitest')}'\ntest('fails', () => { throw new Error('this one') })\n`
  for (let file = 1; file <= 16; file += 1) await writeFile(join(place, `many-${file}.fixture.ts`), failing)
  const { code, end } = await runOf('many-')
  expect(code).toBe(1)
  expect(end.filter((line) => /^FAILED .*many-\d+\.fixture\.ts > fails: this one$/.test(line))).toHaveLength(
    16,
  )
  expect(end.at(-1)).toBe('0 passed, 16 failed')
})

test('where no test is run, the run is red', async () => {
  expect((await runOf('no-such-file')).code).toBe(1)
})
