import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

// Run by every installation, and with --if-missing before every start.
const isBuilt = existsSync(join(import.meta.dirname, '../dist/app.html'))
if (isBuilt && process.argv.includes('--if-missing')) process.exit()
try {
  createRequire(import.meta.url).resolve('vite')
} catch {
  // An installation for production alone has no Vite: releases and images bring the built files with them.
  process.exit()
}
const { build } = await import('./build.ts')
if (process.argv.includes('--if-missing'))
  process.stderr.write('The web app is not built yet: building it.\n')
await build()
