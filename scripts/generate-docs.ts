import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { actionTypesPage } from './pages/action-types.ts'
import { commandLinePage } from './pages/command-line.ts'
import { configurationPage } from './pages/configuration.ts'
import { openApiPage } from './pages/openapi.ts'
import type { Page } from './pages/page.ts'
import { roomsPage } from './pages/rooms.ts'
import { settingsPage } from './pages/settings.ts'

/** Every generated page. `--check` writes none and fails when one differs from its source. */
const pages: readonly Page[] = [
  configurationPage,
  settingsPage,
  commandLinePage,
  actionTypesPage,
  openApiPage,
  roomsPage,
]

const root = resolve(import.meta.dirname, '..')
const isCheck = process.argv.includes('--check')
const stale: string[] = []

for (const page of pages) {
  const file = join(root, page.path)
  const rendered = await page.render()
  const present = await readFile(file, 'utf8').catch(() => undefined)
  if (present === rendered) continue
  stale.push(page.path)
  if (isCheck) continue
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, rendered)
}

for (const path of stale)
  console.log(isCheck ? `${path} is not current: run npm run docs` : `${path} written`)
if (isCheck && stale.length > 0) process.exitCode = 1
