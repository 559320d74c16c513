import type { Reporter, TestModule } from 'vitest/node'

/** Ends a test run with what could not be tried, and one line that counts what passed. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
    const needs: string[] = []
    for (const module of modules) {
      counts.failed += module.errors().length
      for (const test of module.children.allTests()) {
        const result = test.result()
        counts[result.state === 'pending' ? 'failed' : result.state] += 1
        if (result.state === 'skipped' && result.note)
          needs.push(`SKIPPED: "${test.fullName}" ${result.note}`)
      }
    }
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
    process.stdout.write(
      `\n${needs.map((line) => `${line}\n`).join('')}${counts.passed} passed, ${counts.failed} failed${skipped}\n`,
    )
  }
}
