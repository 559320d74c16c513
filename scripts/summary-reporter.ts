import type { Reporter, TestModule } from 'vitest/node'

/** Ends a test run with one line that counts what passed. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
    for (const module of modules) {
      counts.failed += module.errors().length
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        counts[state === 'pending' ? 'failed' : state] += 1
      }
    }
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
    process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed${skipped}\n`)
  }
}
