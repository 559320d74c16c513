import { defineConfig } from 'vitest/config'
import { testMs } from '../../packages/server/test/harness/patience.ts'

// `npm run test:release`: too slow for `npm test`, and it needs the whole of an installation.
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    globalSetup: 'scripts/release/make-archive.ts',
    include: ['scripts/release/*.trial.ts'],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    testTimeout: testMs,
    hookTimeout: testMs,
  },
})
