import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TestRun } from '../../packages/server/test/harness/test-run.ts'
import { testProjects } from './projects.ts'

const root = join(import.meta.dirname, '../..')

function filesOf(run: TestRun): string[] {
  const { include = [], exclude = [] } = testProjects().find(({ test }) => test?.name === run)?.test ?? {}
  return globSync(include, { cwd: root, exclude })
}

const using = (files: readonly string[], what: RegExp) =>
  files.filter((path) => what.test(readFileSync(join(root, path), 'utf8')))

test('every file of tests is in one run, or in that of services for its rows as well', () => {
  const all = globSync('{packages,examples,bench,scripts}/**/*.test.ts', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })
  const [local, services, browser, faults] = (['local', 'services', 'browser', 'faults'] as const).map(
    filesOf,
  )
  const rows = new Set(local)
  const placed = [...(local ?? []), ...(services ?? []).filter((path) => !rows.has(path)), ...(browser ?? [])]
  expect([...placed, ...(faults ?? [])].sort()).toEqual(all.sort())
})

test('what needs a browser, a service, a mounted disk or a killed process is in the run for it', () => {
  const needs =
    /harness\/(browser|chromium|small-disk|redis-server|server-process|clocked-process)\.ts|kill\([^)]*'SIGKILL'\)/
  expect(using(filesOf('local'), needs)).toEqual([])
  expect(using(filesOf('services'), /harness\/(browser|chromium|small-disk)\.ts/)).toEqual([])
})
