import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Reporter, TestModule, Vitest } from 'vitest/node'
import { allRunsNeed, hasAllRuns } from '../packages/server/test/harness/all-runs.ts'

// Of suites that need the same.
const namedSuites = 4

/** Ends a test run with what could not be tried, and one line that counts what passed. */
export default class SummaryReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  async onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): Promise<void> {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
    const needs = new Map<string, string[]>()
    for (const module of modules) {
      counts.failed += module.errors().length
      for (const test of module.children.allTests()) {
        const result = test.result()
        counts[result.state === 'pending' ? 'failed' : result.state] += 1
        if (result.state === 'skipped' && result.note)
          needs.set(result.note, [...(needs.get(result.note) ?? []), test.fullName])
      }
    }
    const lines = [...needs].map(([need, suites]) => `SKIPPED: ${naming(suites)} ${need}\n`)
    const isWhole = modules.length === (await this.#vitest?.globTestSpecifications())?.length
    if (isWhole && !hasAllRuns) lines.push(`SKIPPED: ${longFiles()} ${allRunsNeed}\n`)
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
    process.stdout.write(`\n${lines.join('')}${counts.passed} passed, ${counts.failed} failed${skipped}\n`)
  }
}

function longFiles(): string {
  const files = globSync('packages/*/{src,test}/**/*.long.test.ts', { cwd: join(import.meta.dirname, '..') })
  return naming(files.map((file) => basename(file, '.long.test.ts')).sort())
}

function naming(suites: readonly string[]): string {
  const named = suites.slice(0, namedSuites).map((name) => `"${name}"`)
  const others = suites.length - named.length
  return [...named, ...(others > 0 ? [`and ${others} more`] : [])].join(', ')
}
