/** `npm test`: runs vitest, and what failed once more, one file after another, each in fresh processes. What passes then is
 * flaky: it is named at the end, and the run passes. What fails twice fails the run, and so do more than `mostFlaky` flaky
 * files. Options for vitest are given as `--name=value`; other arguments name files, as vitest takes them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drawSeed } from './draw-seed.ts'
import { type FileReport, type RunReport, summaryOf } from './run-report.ts'

const mostFlaky = 15
const root = join(import.meta.dirname, '../..')
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const reporters = ['default', join(import.meta.dirname, 'summary-reporter.ts')]

// Of both runs of a file the same.
drawSeed()
const words = process.argv.slice(2)
const folder = await mkdtemp(join(tmpdir(), 'kith-tests-'))

async function judge(): Promise<number> {
  const first = await run(words)
  if (first === undefined) return 1
  const failing = first.files.filter(hasFailed)
  if (first.strayErrors.length > 0 || failing.length > mostFlaky) {
    console.log(
      `\n${failing.length} files failed; none is run again\n${linesOf('FAILED', failing)}${strays(first)}`,
    )
    process.stdout.write(summaryOf(first))
    return 1
  }
  const again = new Map<string, FileReport>()
  for (const before of failing) {
    console.log(`\nOnce more, alone: ${before.file}`)
    again.set(before.file, await runAlone(before))
  }
  const files = first.files.map((before) => again.get(before.file) ?? before)
  const failed = files.filter(hasFailed)
  const flaky = failing.filter(({ file }) => !hasFailed(again.get(file)))
  console.log(`\n${linesOf('FLAKY', flaky)}${linesOf('FAILED', failed)}${countOf(flaky)}`)
  process.stdout.write(summaryOf({ ...first, files }))
  return failed.length > 0 ? 1 : 0
}

const hasFailed = (file?: FileReport) => file !== undefined && file.failures.length > 0

/** What a file does alone. Where no report comes of it, it fails as before, and so it does where less is tried: a test that is
 * skipped has not passed. */
async function runAlone(before: FileReport): Promise<FileReport> {
  const report = await run([...words.filter((word) => word.startsWith('-')), join(root, before.file)])
  const after = report?.files.find(({ file }) => file === before.file)
  if (report === undefined || after === undefined) return before
  const stray = report.strayErrors.map((reason) => ({ test: '', reason }))
  const failures = [...after.failures, ...stray]
  return failures.length === 0 && after.skipped > before.skipped ? before : { ...after, failures }
}

/** Its report; undefined where vitest ended without one. */
async function run(args: readonly string[]): Promise<RunReport | undefined> {
  const path = join(folder, 'report.json')
  await rm(path, { force: true })
  const child = spawn(
    process.execPath,
    [vitest, 'run', ...reporters.map((name) => `--reporter=${name}`), ...args],
    {
      cwd: root,
      env: { ...process.env, TEST_REPORT: path },
      stdio: 'inherit',
    },
  )
  const [code, signal] = await once(child, 'exit')
  if (!existsSync(path)) {
    console.log(`vitest ended without a report: ${signal ?? `exit code ${code}`}`)
    return undefined
  }
  const report: RunReport = JSON.parse(readFileSync(path, 'utf8'))
  const isGreen = report.strayErrors.length === 0 && !report.files.some(hasFailed)
  if (code === 0 || !isGreen) return report
  return { ...report, strayErrors: [`vitest ended with ${signal ?? `exit code ${code}`}`] }
}

function linesOf(word: string, files: readonly FileReport[]): string {
  const lines = files.flatMap(({ file, failures }) =>
    failures.map(({ test, reason }) => `${word} ${file}${test && ` > ${test}`}: ${reason}\n`),
  )
  return lines.join('')
}

const strays = ({ strayErrors }: RunReport) => strayErrors.map((reason) => `FAILED: ${reason}\n`).join('')

function countOf(flaky: readonly FileReport[]): string {
  const tests = flaky.reduce((sum, { failures }) => sum + failures.length, 0)
  return tests === 0 ? '' : `flaky: ${tests} tests in ${flaky.length} files`
}

try {
  process.exitCode = await judge()
} finally {
  await rm(folder, { recursive: true, force: true })
}
