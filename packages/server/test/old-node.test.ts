import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { skipSuite } from './harness/skip-suite.ts'

const entry = fileURLToPath(new URL('../bin/kith.js', import.meta.url))
const complaint =
  /^Kith needs Node\.js 24 or newer, and this is (?:v?\d+\.)+\d+ \(.*\)\.\n.*npm ci in .* brings one:\n.*npx kith tenant list\n/

/** How `kith tenant list` ends when it is run so. */
async function runWith(program: string, flags: readonly string[] = []) {
  const run = promisify(execFile)(program, [...flags, entry, 'tenant', 'list'], { env: {} })
  return await run.then(
    () => ({ code: 0, stderr: '' }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  )
}

test('a Node that is too old is told of what to do, before anything is imported', async () => {
  const pretend = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })"
  const flags = [`--import=data:text/javascript,${encodeURIComponent(pretend)}`]
  expect(await runWith(process.execPath, flags)).toEqual({
    code: 1,
    stderr: expect.stringMatching(complaint),
  })
  expect(readFileSync(entry, 'utf8')).not.toMatch(/^\s*(?:import\s*[^(\s]|export|await)/m)
})

const old = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .map((folder) => join(folder, 'node'))
  .find(
    (path) =>
      existsSync(path) &&
      Number.parseInt(execFileSync(path, ['-p', 'process.versions.node']).toString(), 10) < 24,
  )
const name = 'and so is the old one of this machine'
if (old === undefined) skipSuite(name, 'a Node older than 24 in PATH')
else
  test(name, async () => {
    expect(await runWith(old)).toEqual({ code: 1, stderr: expect.stringMatching(complaint) })
  })
