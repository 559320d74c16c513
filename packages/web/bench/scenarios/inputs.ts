import type { Page } from 'playwright-core'
import { percentile, repeat } from '../../../../bench/src/measure.ts'
import { openTab, type Slowness } from '../browser.ts'
import { atMost, type Row, rowOf } from '../row.ts'
import type { Bench } from '../scenario.ts'

const bars = { 1: 100, 4: 200 } as const
const times = 6
// Shorter ones are not told of.
const shortestMs = 16

type Act = (page: Page, nth: number) => Promise<void>

const acts: Readonly<Record<string, Act>> = {
  react: async (page, nth) => {
    await page
      .locator('article')
      .nth(nth % 2)
      .getByRole('button', { name: /^(React|Like|Love)/ })
      .first()
      .click()
    await page
      .getByRole('button', { name: nth % 2 === 0 ? 'Like' : 'Love', exact: true })
      .last()
      .click()
  },
  menu: async (page) => {
    await page
      .getByRole('button', { name: /^More about the post/ })
      .first()
      .click()
    await page.getByRole('menu').waitFor()
    await page.keyboard.press('Escape')
    await page
      .getByRole('menu')
      .waitFor({ state: 'detached' })
      .catch(() => undefined)
  },
  'open post': async (page) => {
    await page
      .locator('article')
      .first()
      .getByRole('link', { name: /^Comment/ })
      .click()
    await page.getByRole('textbox').first().waitFor()
    await page.goBack()
    await page.getByRole('feed').waitFor()
  },
  'switch screen': async (page, nth) => {
    const navigation = page.getByRole('navigation').first()
    const names = [/^Messages/, /^Files/, /^You/, /^Home/]
    await navigation
      .getByRole('link', { name: names[nth % names.length] as RegExp })
      .first()
      .click()
    await page.getByRole('heading', { level: 1 }).first().waitFor()
  },
  type: async (page, nth) => {
    if (nth === 0) await page.getByRole('navigation').getByRole('link', { name: /^New/ }).first().click()
    const field = page.getByRole('textbox').first()
    await field.waitFor()
    await field.pressSequentially('The garden is open.', { delay: 20 })
  },
}

/** From an input to the paint after it: the slowest twentieth of each kind of input. */
export async function inputs(bench: Bench): Promise<Row[]> {
  const rows: Row[] = []
  for (const slowness of [1, 4] as const) {
    const runs = await repeat(bench.settings.runs, () => once(bench, slowness))
    const bare = await repeat(bench.settings.runs, () => bareOnce(bench, slowness))
    const slow = slowness === 1 ? '' : `, CPU × ${slowness}`
    for (const name of Object.keys(acts))
      rows.push(
        rowOf({
          what: `input to paint: ${name}, p95${slow}`,
          unit: 'ms',
          runs: runs.map((run) => run.get(name) ?? Number.NaN),
          bar: atMost(bars[slowness]),
          baseline: { of: 'a button of the bare page', runs: bare, share: atMost(2.5) },
        }),
      )
  }
  return rows
}

async function once({ browser, town }: Bench, slowness: Slowness): Promise<ReadonlyMap<string, number>> {
  await using tab = await openTab(browser, town.url, { slowness, token: town.token })
  const { page } = tab
  await page.goto(town.url)
  await page.evaluate('kithBench.usable')
  const measured = new Map<string, number>()
  for (const [name, act] of Object.entries(acts)) {
    // The first of each loads its code.
    await act(page, 0)
    await slowest(page)
    const all: number[] = []
    for (let nth = 1; nth <= times; nth += 1) {
      await act(page, nth)
      all.push(...(await slowest(page)))
    }
    measured.set(name, all.length === 0 ? shortestMs : percentile(all, 0.95))
    if (name === 'switch screen') await page.goto(town.url)
  }
  return measured
}

async function bareOnce({ browser, bare }: Bench, slowness: Slowness): Promise<number> {
  await using tab = await openTab(browser, bare.url, { slowness })
  await tab.page.goto(`${bare.url}/feed?n=20`)
  const all: number[] = []
  for (let nth = 0; nth < times; nth += 1) {
    await tab.page
      .getByRole('button', { name: 'React' })
      .nth(nth % 2)
      .click()
    all.push(...(await slowest(tab.page)))
  }
  return all.length === 0 ? shortestMs : percentile(all, 0.95)
}

/** How long the inputs since the last call have waited; those of one press count once. */
async function slowest(page: Page): Promise<readonly number[]> {
  return (await page.evaluate(`new Promise((done) => requestAnimationFrame(() => setTimeout(() => {
    const all = [...kithBench.inputs.values()]
    kithBench.inputs.clear()
    done(all)
  }, 50)))`)) as number[]
}
