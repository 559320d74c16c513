import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { tempDir } from '../../../../bench/src/kith.ts'
import { repeat } from '../../../../bench/src/measure.ts'
import { chromiumPath } from '../../../server/test/harness/chromium.ts'
import { chromiumArguments, keepSignedIn } from '../browser.ts'
import { atLeast, type Row, rowOf } from '../row.ts'
import type { Bench } from '../scenario.ts'

const bars = { performance: 95, accessibility: 100, 'best-practices': 95 } as const
const categories = Object.keys(bars) as (keyof typeof bars)[]

type Run = (url: string, flags: object) => Promise<{ readonly lhr: Report }>
interface Report {
  readonly categories: Readonly<Record<string, { readonly score: number | null }>>
  readonly audits: Readonly<Record<string, { readonly displayValue?: string }>>
}

/** What Lighthouse says of the first pages, as on a phone. It is installed by whoever wants to know. */
export async function lighthouse({ settings, town }: Bench): Promise<Row[]> {
  if (settings.lighthouse === undefined) {
    console.error(
      'left out: lighthouse; npm install lighthouse in a folder, and name it: --lighthouse FOLDER',
    )
    return []
  }
  const module = resolve(settings.lighthouse, 'node_modules/lighthouse/core/index.js')
  const { default: run } = (await import(pathToFileURL(module).href)) as { default: Run }
  await using profile = await tempDir()
  const args = [...chromiumArguments, '--remote-debugging-port=0']
  const context = await chromium.launchPersistentContext(profile.path, {
    executablePath: chromiumPath as string,
    args,
  })
  const [port] = (await readFile(join(profile.path, 'DevToolsActivePort'), 'utf8')).split('\n')
  const rows: Row[] = []
  const look = async (name: string, path: string) => {
    const flags = {
      port: Number(port),
      onlyCategories: categories,
      disableStorageReset: true,
      logLevel: 'error',
    }
    const reports = await repeat(settings.runs, async () => (await run(town.url + path, flags)).lhr)
    rows.push(...rowsOf(name, reports))
  }
  await look('public page', '/')
  await look('sign-in', '/login')
  await keepSignedIn(context, town.url, town.token)
  await look('feed', '/')
  await context.close()
  return rows
}

function rowsOf(name: string, reports: readonly Report[]): Row[] {
  const note = ['largest-contentful-paint', 'total-blocking-time', 'cumulative-layout-shift']
    .map((audit) => reports[0]?.audits[audit]?.displayValue)
    .join(', ')
  return categories.map((category) =>
    rowOf({
      what: `Lighthouse, ${name}: ${category}`,
      unit: '',
      runs: reports.map(({ categories: scores }) => 100 * (scores[category]?.score ?? 0)),
      bar: atLeast(bars[category]),
      note: category === 'performance' ? note : undefined,
    }),
  )
}
