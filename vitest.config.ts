import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    environment: 'node',
    reporters: ['default', './scripts/summary-reporter.ts'],
    include: ['packages/**/*.test.ts', 'bench/**/*.test.ts', 'scripts/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // The files of a worker run one after another in one process, which imports the program and starts the embedded
    // PostgreSQL once. It halves the run.
    isolate: false,
    testTimeout: 20_000,
  },
})
