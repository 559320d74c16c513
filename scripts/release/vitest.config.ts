import { defineConfig } from 'vitest/config'

// `npm run test:release`: too slow for `npm test`, and it needs the whole of an installation.
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    globalSetup: 'scripts/release/make-archive.ts',
    include: ['scripts/release/*.trial.ts'],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
