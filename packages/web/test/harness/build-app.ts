import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { build } from '../../build/build.ts'

const web = join(import.meta.dirname, '../..')
const sources = ['src', 'build', 'app.html', 'vite.config.ts', '../protocol/src', '../client/src'].map(
  (path) => join(web, path),
)

/** Before a run of tests: builds the app where its build is missing, or older than its sources. */
export async function setup(): Promise<void> {
  const builtAt = statSync(join(web, 'dist/app.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (sources.some((path) => newestBelow(path) > builtAt)) await build()
}

function newestBelow(path: string): number {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Math.max(...files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs))
}
