import type { Page } from 'playwright-core'
import { percentile, repeat } from '../../../../bench/src/measure.ts'
import { peerTag } from '../../../../bench/src/seed.ts'
import { openTab, type Slowness } from '../browser.ts'
import { club } from '../fill-town.ts'
import { type Scrolling, scrollText } from '../in-page.ts'
import { atLeast, atMost, type Row, rowOf } from '../row.ts'
import type { Bench } from '../scenario.ts'

const seconds = 5
const pxPerSecond = 3600
const minFrameShare = { 1: 0.9, 4: 0.8 } as const

interface Place {
  readonly path: (bench: Bench) => string
  /** A bare page with more of the same than is passed in the time. */
  readonly bare: string
  readonly ready: (page: Page) => Promise<unknown>
  /** What scrolls, where it is not the window. */
  readonly within?: string
  readonly isUpwards?: boolean
  readonly prepare?: (page: Page) => Promise<unknown>
}

const places: Readonly<Record<string, Place>> = {
  posts: {
    path: () => '/',
    bare: '/feed?n=200',
    ready: (page) => page.getByRole('feed').getByRole('article').first().waitFor(),
  },
  photos: {
    path: () => '/files/photos',
    bare: '/photos?n=1200',
    ready: (page) =>
      page
        .getByRole('button', { name: /^Picture/ })
        .first()
        .waitFor(),
  },
  files: {
    path: ({ town }) => `/files/${encodeURIComponent(town.folderId)}`,
    bare: '/rows?n=500',
    ready: (page) => page.getByRole('row').first().waitFor(),
  },
  tiles: {
    path: ({ town }) => `/files/${encodeURIComponent(town.folderId)}`,
    bare: '/photos?n=1200',
    ready: (page) => page.getByRole('row').first().waitFor(),
    prepare: (page) =>
      page.evaluate("localStorage.setItem('kith-files-look', JSON.stringify({ isTiles: true }))"),
  },
  messages: {
    path: () => `/messages/${peerTag(0)}`,
    bare: '/rows?n=500',
    ready: (page) =>
      page.getByRole('region', { name: 'Messages', exact: true }).getByRole('listitem').first().waitFor(),
    within: 'section[aria-label="Messages"]',
    isUpwards: true,
  },
  members: {
    path: () => `/communities/${club}?show=members`,
    bare: '/rows?n=500',
    ready: (page) => page.getByRole('list', { name: 'Members' }).getByRole('listitem').first().waitFor(),
  },
}

interface Measured extends Scrolling {
  readonly heapMb: number
}

/** Five seconds of scrolling through long lists, and through bare pages with as much in them. */
export async function scrolling(bench: Bench): Promise<Row[]> {
  const rows: Row[] = []
  const wanted = bench.settings.lists ?? Object.keys(places)
  for (const [name, place] of Object.entries(places).filter(([name]) => wanted.includes(name)))
    for (const slowness of [1, 4] as const) {
      const runs = await repeat(bench.settings.runs, async () => ({
        app: await inApp(bench, place, slowness),
        bare: await onBarePage(bench, place, slowness),
      }))
      rows.push(...rowsOf(`${bench.settings.items} ${name}`, slowness, runs))
    }
  return rows
}

async function inApp(bench: Bench, place: Place, slowness: Slowness): Promise<Measured> {
  const { browser, town } = bench
  await using tab = await openTab(browser, town.url, { slowness, token: town.token })
  if (place.prepare) {
    await tab.page.goto(town.url)
    await place.prepare(tab.page)
  }
  await tab.page.goto(town.url + place.path(bench))
  await place.ready(tab.page)
  await tab.page.waitForLoadState('networkidle')
  const speed = place.isUpwards ? -pxPerSecond : pxPerSecond
  const scrolled = await tab.page.evaluate(scrollText({ seconds, pxPerSecond: speed, within: place.within }))
  return { ...(scrolled as Scrolling), heapMb: await tab.heapMb() }
}

async function onBarePage({ browser, bare }: Bench, place: Place, slowness: Slowness): Promise<Scrolling> {
  await using tab = await openTab(browser, bare.url, { slowness })
  await tab.page.goto(bare.url + place.bare)
  await tab.page.waitForLoadState('networkidle')
  return (await tab.page.evaluate(scrollText({ seconds, pxPerSecond }))) as Scrolling
}

interface Run {
  readonly app: Measured
  readonly bare: Scrolling
}

function rowsOf(name: string, slowness: Slowness, runs: readonly Run[]): Row[] {
  const slow = slowness === 1 ? '' : `, CPU × ${slowness}`
  const of = (value: (run: Run) => number) => runs.map(value)
  const distance = Math.min(...of(({ app }) => app.distance))
  const asked = seconds * pxPerSecond
  const note = distance < 0.95 * asked ? `${Math.round(distance)} of ${asked} px` : undefined
  const framesPerSecond = rowOf({
    what: `${name}: frames${slow}`,
    unit: '1/s',
    runs: of(({ app }) => rateOf(app)),
    bar: atLeast(58),
    baseline: {
      of: 'bare page',
      runs: of(({ bare }) => rateOf(bare)),
      share: atLeast(minFrameShare[slowness]),
    },
    note,
  })
  const frameTimes = (share: number, most: number) =>
    rowOf({
      what: `${name}: time between frames, p${share * 100}${slow}`,
      unit: 'ms',
      runs: of(({ app }) => percentile(app.frames, share)),
      bar: atMost(most),
      baseline: {
        of: 'bare page',
        runs: of(({ bare }) => percentile(bare.frames, share)),
        share: atMost(slowness === 1 ? 1.1 : 1.25),
      },
    })
  if (slowness === 4)
    return [
      frameTimes(0.95, 50),
      rowOf({
        what: `${name}: longest task${slow}`,
        unit: 'ms',
        runs: of(({ app }) => app.longestTaskMs),
        bar: atMost(120),
        baseline: {
          of: 'bare page',
          runs: of(({ bare }) => Math.max(bare.longestTaskMs, 50)),
          share: atMost(1),
        },
      }),
      { ...framesPerSecond, bar: atLeast(46) },
    ]
  return [
    framesPerSecond,
    frameTimes(0.99, 34),
    rowOf({ what: `${name}: nodes`, unit: '', runs: of(({ app }) => app.nodes), bar: atMost(1500) }),
    rowOf({ what: `${name}: heap`, unit: 'MB', runs: of(({ app }) => app.heapMb), bar: atMost(60) }),
  ]
}

function rateOf({ frames }: Scrolling): number {
  return (1000 * frames.length) / frames.reduce((sum, one) => sum + one, 0)
}
