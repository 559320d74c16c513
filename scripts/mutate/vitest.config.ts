import { defineConfig } from 'vitest/config'
import project from '../../vitest.config.ts'
import { allTests } from '../test-run/projects.ts'

const { projects: _, ...test } = project.test ?? {}

// The files of all runs, in none of them; sources pass through plugins, where Node else reads them itself.
export default defineConfig({
  test: {
    ...test,
    root: new URL('../..', import.meta.url).pathname,
    include: allTests,
    experimental: { viteModuleRunner: true },
  },
})
