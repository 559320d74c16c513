import { median, repeat } from '../../../../bench/src/measure.ts'
import { openTab, type Tab } from '../browser.ts'
import { atMost, type Row, rowOf } from '../row.ts'
import type { Bench } from '../scenario.ts'

const changes = 50
const names = [/^Messages/, /^Files/, /^You/, /^Home/]

/** How much more a page holds after fifty changes of screen, when fifty were made before: in those the browser compiles what they
 * run often, which it keeps and which no change adds to. What leaks is left again and again. */
export async function screens({ browser, town, settings }: Bench): Promise<Row[]> {
  const runs = await repeat(settings.runs, async () => {
    await using tab = await openTab(browser, town.url, { token: town.token })
    await tab.page.goto(town.url)
    await tab.page.evaluate('kithBench.usable')
    await change(tab, 2 * names.length)
    const start = await tab.heapMb()
    await change(tab, changes - (changes % names.length))
    const before = await tab.heapMb()
    await change(tab, changes - (changes % names.length))
    const after = await tab.heapMb()
    return { growth: 100 * (after / before - 1), after, warmUp: 100 * (before / start - 1) }
  })
  const growth = runs.map((run) => run.growth)
  const warmUp = median(runs.map((run) => run.warmUp))
  const note = `${median(runs.map(({ after }) => after)).toFixed(1)} MB then; in the fifty before: ${warmUp.toFixed(1)} %`
  return [
    rowOf({
      what: `heap after ${changes} changes of screen`,
      unit: '% more',
      runs: growth,
      bar: atMost(10),
      note,
    }),
  ]
}

async function change({ page }: Tab, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const name = names[at % names.length] as RegExp
    await page.getByRole('navigation').first().getByRole('link', { name }).first().click()
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.waitForLoadState('networkidle')
  }
}
