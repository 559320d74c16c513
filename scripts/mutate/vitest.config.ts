import { defineConfig } from 'vitest/config'
import project from '../../vitest.config.ts'

const { projects: _, ...test } = project.test ?? {}

// The files of all runs, in none of them; sources pass through plugins, where Node else reads them itself.
export default defineConfig({
  test: {
    ...test,
    root: new URL('../..', import.meta.url).pathname,
    include: ['packages/**/*.test.ts', 'bench/**/*.test.ts', 'scripts/**/*.test.ts'],
    experimental: { viteModuleRunner: true },
  },
})
