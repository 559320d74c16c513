/** The four runs of tests, each a project of vitest; a file belongs to one by its place or its name (`scripts/test-run/projects.ts`).
 * A file of `local` that calls `eachDialect` or the like is in `services` too, where the suites that need a service are run
 * and no others. */
export type TestRun = 'local' | 'services' | 'browser' | 'faults'

/** The run that this process belongs to. */
export const testRun = process.env.TEST_RUN as TestRun | undefined

/** What each run needs, and the command that tries it. */
export const testRuns: Readonly<Record<TestRun, { readonly tries: string; readonly command: string }>> = {
  local: { tries: 'everything that needs no service', command: 'npm test' },
  services: { tries: 'PostgreSQL, Redis, S3 and other programs', command: 'npm run test:services' },
  browser: { tries: 'pages in a browser', command: 'npm run test:browser' },
  faults: { tries: 'killed processes, full disks, searches', command: 'npm run test:faults' },
}
