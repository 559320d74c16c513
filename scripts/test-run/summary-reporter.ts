import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Reporter, SerializedError, TestModule, TestSpecification, Vitest } from 'vitest/node'
import { testRuns } from '../../packages/server/test/harness/test-run.ts'
import { type Failure, type FileReport, type RunReport, summaryOf } from './run-report.ts'

const root = join(import.meta.dirname, '../..')

/** Ends a test run with its summary, or writes its report to the file that `TEST_REPORT` names. */
export default class SummaryReporter implements Reporter {
  #vitest: Vitest | undefined
  #started: string[] = []

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#started = specifications.map(({ moduleId }) => moduleId)
  }

  async onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): Promise<void> {
    const found = new Map(modules.map((module) => [module.moduleId, module]))
    const files = [...new Set([...this.#started, ...found.keys()])]
      .sort()
      .map((path) => fileReport(path, found.get(path), errors.filter(isOf(path))))
    const strayErrors = errors.filter((error) => !files.some(({ file }) => isOf(join(root, file))(error)))
    const isWhole = modules.length === (await this.#vitest?.globTestSpecifications())?.length
    const needs = [...needsOf(modules), ...(isWhole ? this.#otherRuns() : [])]
    const report: RunReport = { files, strayErrors: strayErrors.map(firstLine), needs }
    const path = process.env.TEST_REPORT
    if (path === undefined) process.stdout.write(`\n${summaryOf(report)}`)
    else writeFileSync(path, JSON.stringify(report))
  }

  /** What a newcomer who has run `npm test` has not tried. */
  #otherRuns(): [need: string, suites: string[]][] {
    const names = this.#vitest?.projects.map(({ name }) => name) ?? []
    if (!names.includes('local')) return []
    const others = Object.entries(testRuns).filter(([name]) => !names.includes(name))
    return others.map(([, { tries, command }]) => [`is tried by ${command}`, [tries]])
  }
}

/** Whether an error that no test caught came while this file was run. */
const isOf = (path: string) => (error: SerializedError) => error.VITEST_TEST_PATH === path

function fileReport(
  path: string,
  module: TestModule | undefined,
  uncaught: readonly SerializedError[],
): FileReport {
  const counts = { passed: 0, skipped: 0 }
  const failures: Failure[] = [...(module?.errors() ?? []), ...uncaught].map((error) => ({
    test: '',
    reason: firstLine(error),
  }))
  for (const suite of module?.children.allSuites() ?? [])
    failures.push(...suite.errors().map((error) => ({ test: suite.fullName, reason: firstLine(error) })))
  for (const test of module?.children.allTests() ?? []) {
    const { state, errors } = test.result()
    if (state === 'passed' || state === 'skipped') counts[state] += 1
    else
      failures.push({
        test: test.fullName,
        reason: state === 'failed' ? firstLine(errors[0]) : 'did not end',
      })
  }
  const hasEnded = module !== undefined && !['pending', 'queued'].includes(module.state())
  if (!hasEnded && failures.length === 0) failures.push({ test: '', reason: 'was not run to its end' })
  return { file: relative(root, path), ...counts, failures }
}

/** Of what caused it, where that is known: vitest wraps what happens to a worker. */
function firstLine(error: Partial<SerializedError> | undefined): string {
  return (error?.cause?.message ?? error?.message ?? 'failed').split('\n')[0] ?? ''
}

function needsOf(modules: readonly TestModule[]): Map<string, string[]> {
  const needs = new Map<string, string[]>()
  for (const module of modules)
    for (const test of module.children.allTests('skipped')) {
      const result = test.result()
      if (result.state === 'skipped' && result.note)
        needs.set(result.note, [...(needs.get(result.note) ?? []), test.fullName])
    }
  return needs
}
