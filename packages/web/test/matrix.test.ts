import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import type { ScreenRow } from '../src/app/screen-table.ts'
import { FaultyLine } from './harness/faulty-line.ts'
import { bare, type FurnishedTown, lone, startFurnishedTown } from './harness/furnished-town.ts'
import { allLooks, lookAt, nameOfLook } from './harness/looks.ts'
import { keepFindings, matrixTable, type Tried } from './harness/matrix-table.ts'
import { axeFindings, openApp } from './harness/open-app.ts'
import { pathIn, screenRows } from './harness/screen-paths.ts'
import { anna } from './harness/small-town.ts'

const folder = process.env.MATRIX

interface Opened {
  readonly page: Page
  readonly line: FaultyLine
  readonly go: (path: string) => Promise<unknown>
  readonly path: string
  /** Whether the screen asks the server for anything: what it holds itself is there whatever the server does. */
  readonly isAsking: boolean
}

const ownScreens = ['/new', '/search', '/settings', '/settings/look']

/** Brings the screen of an app that is open elsewhere into a state. */
const states: Readonly<Record<string, (opened: Opened) => Promise<void>>> = {
  normal: async ({ page, go, path }) => {
    await go(path)
    await isQuiet(page)
  },
  empty: async ({ page, go, path }) => {
    await go(path)
    await isQuiet(page)
  },
  loading: async ({ page, line, go, path, isAsking }) => {
    line.set('held')
    await go(path)
    await heading(page).waitFor()
    if (isAsking)
      await page.getByRole('status').filter({ hasText: 'Loading' }).first().waitFor({ state: 'attached' })
  },
  'told to wait': async ({ page, line, go, path, isAsking }) => {
    line.set({ code: 'E-RATELIMIT', retryAfterSecs: 3600 })
    await go(path)
    await heading(page).waitFor()
    if (isAsking) await page.getByRole('timer').first().waitFor()
  },
  failed: async ({ page, line, go, path, isAsking }) => {
    line.set({ code: 'E-INTERNAL' })
    await go(path)
    await heading(page).waitFor()
    if (isAsking) await page.getByRole('alert').first().waitFor()
  },
  forbidden: async ({ page, line, go, path, isAsking }) => {
    line.set({ code: 'E-AUTH-FORBIDDEN' })
    await go(path)
    await heading(page).waitFor()
    if (isAsking) await page.getByText('You may not do this.').filter({ visible: true }).first().waitFor()
  },
  offline: async ({ page, go, path }) => {
    await go(path)
    await isQuiet(page)
    await page.context().setOffline(true)
    await page.getByRole('status').getByText('No connection.').waitFor()
  },
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 }).first()

async function isQuiet(page: Page): Promise<void> {
  await heading(page).waitFor()
  await page.waitForLoadState('networkidle')
}

/** Whose screen has nothing on it, and where that is. */
function emptyOf(
  { empty }: FurnishedTown,
  row: ScreenRow,
): { readonly idTag: string; readonly path: string } {
  if (row.path === '/profiles/:idTag') return { idTag: lone, path: `/profiles/${lone}` }
  const owner = row.path === '/communities/:idTag' ? anna : row.path.includes('/:') ? bare : lone
  return { idTag: owner, path: pathIn(empty, row) }
}

/** One screen in one state, looked at in every way. */
async function tryState(
  browser: Browser,
  town: FurnishedTown,
  row: ScreenRow,
  state: string,
): Promise<Tried> {
  await using line = await FaultyLine.open()
  const { idTag, path } = state === 'empty' ? emptyOf(town, row) : { idTag: anna, path: pathIn(town, row) }
  const at = { idTag, path: '/settings', reducedMotion: 'reduce', proxy: { server: line.url } } as const
  const { page, context, faults, go } = await openApp(browser, town.server, at)
  await heading(page).waitFor()
  await states[state]?.({ page, line, go, path, isAsking: !ownScreens.includes(row.path) })
  const findings: string[] = []
  for (const look of allLooks) {
    await lookAt(page, look)
    for (const finding of await axeFindings(page)) findings.push(`${nameOfLook(look)}: ${finding}`)
  }
  await context.close()
  return { checks: allLooks.length, findings: [...findings, ...faults] }
}

/** axe on every screen in every state and every look: `npm run web:matrix`, with `-- -t PATH` for some of it. */
if (folder !== undefined)
  withChromium('the whole matrix', (launch) => {
    const out = resolve(folder)
    let town: FurnishedTown
    beforeAll(async () => {
      await mkdir(out, { recursive: true })
      town = await startFurnishedTown()
    })
    afterAll(async () => {
      await town?.server.stop()
      const table = await matrixTable(
        out,
        screenRows.map(({ path }) => path),
      )
      await writeFile(join(out, 'index.md'), table)
      process.stdout.write(`\n${table}\n`)
    })

    test.each(screenRows.map((row) => [row.path, row] as const))(
      '%s',
      { timeout: 600_000 },
      async (path, row) => {
        const found: Record<string, Tried> = {}
        for (const state of Object.keys(states))
          found[state] = await tryState(await launch(), town, row, state)
        await keepFindings(out, { path, states: found })
        expect(Object.values(found).flatMap(({ findings }) => findings)).toEqual([])
      },
    )
  })
else test.skip('axe on every screen in every state and every look is `npm run web:matrix`', () => undefined)
