import { repeat } from '../../../../bench/src/measure.ts'
import { newPage, openTab, type Slowness, type Tab } from '../browser.ts'
import { atMost, type Row, rowOf } from '../row.ts'
import type { Bench } from '../scenario.ts'

const bars = { cold: { 1: 700, 4: 2000 }, kept: { 1: 400, 4: 1000 } } as const
const mostTimesBare = 2.5
const maxShift = 0.02

interface Opening {
  readonly usableMs: number
  readonly shift: number
}

/** From the address to a feed that is shown with its pictures and whose buttons answer: in a fresh profile, and where the
 * worker keeps the app. */
export async function usable(bench: Bench): Promise<Row[]> {
  const rows: Row[] = []
  for (const slowness of [1, 4] as const) {
    const runs = await repeat(bench.settings.runs, () => once(bench, slowness))
    const slow = slowness === 1 ? '' : `, CPU × ${slowness}`
    const times = (what: 'cold' | 'kept', name: string) =>
      rowOf({
        what: `feed usable ${name}${slow}`,
        unit: 'ms',
        runs: runs.map((run) => run[what].usableMs),
        bar: atMost(bars[what][slowness]),
        baseline: {
          of: `bare page ${name}`,
          runs: runs.map((run) => run[what === 'cold' ? 'bareCold' : 'bareKept'].usableMs),
          share: atMost(mostTimesBare),
        },
      })
    const shifts = runs.map(({ cold, kept }) => Math.max(cold.shift, kept.shift))
    rows.push(
      times('cold', 'cold'),
      times('kept', 'from the worker'),
      rowOf({ what: `layout shift of the feed${slow}`, unit: '', runs: shifts, bar: atMost(maxShift) }),
    )
  }
  return rows
}

async function once({ browser, town, bare }: Bench, slowness: Slowness) {
  const { token } = town
  await using tab = await openTab(browser, town.url, { slowness, token, hasWorker: true })
  const cold = await open(tab, town.url)
  await tab.page.evaluate('navigator.serviceWorker.ready.then(() => undefined)')
  const again = await newPage(tab.context, slowness)
  await again.page.goto('about:blank')
  await settle(again)
  const kept = await open(again, town.url)
  await using bareTab = await openTab(browser, bare.url, { slowness })
  const bareCold = await open(bareTab, `${bare.url}/feed?n=20`)
  const bareKept = await open(await newPage(bareTab.context, slowness), `${bare.url}/feed?n=20`)
  return { cold, kept, bareCold, bareKept }
}

async function open({ page }: Tab, url: string): Promise<Opening> {
  await page.goto(url, { waitUntil: 'commit' })
  await page.evaluate('kithBench.usable')
  // What shifts, shifts soon after.
  await page.evaluate('new Promise((done) => setTimeout(done, 500))')
  return (await page.evaluate(
    'kithBench.usable.then((usableMs) => ({ usableMs, shift: kithBench.shift }))',
  )) as Opening
}

// The page before writes its caches for a moment.
async function settle({ page }: Tab): Promise<void> {
  await page.evaluate('new Promise((done) => setTimeout(done, 1000))')
}
