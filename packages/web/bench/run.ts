import { writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { startBareSite } from './bare-site.ts'
import { launchBrowser } from './browser.ts'
import { type Row, table, verdictOf } from './row.ts'
import type { Bench } from './scenario.ts'
import { inputs } from './scenarios/inputs.ts'
import { lighthouse } from './scenarios/lighthouse.ts'
import { months } from './scenarios/months.ts'
import { news } from './scenarios/news.ts'
import { screens } from './scenarios/screens.ts'
import { scrolling } from './scenarios/scrolling.ts'
import { sizes } from './scenarios/sizes.ts'
import { tall } from './scenarios/tall.ts'
import { uploading } from './scenarios/uploading.ts'
import { usable } from './scenarios/usable.ts'
import type { Settings } from './settings.ts'
import { startTown } from './town.ts'

const scenarios: Readonly<Record<string, (bench: Bench) => Promise<Row[]>>> = {
  sizes,
  usable,
  inputs,
  scrolling,
  screens,
  months,
  tall,
  uploading,
  news,
  lighthouse,
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    runs: { type: 'string', default: '5' },
    items: { type: 'string', default: '10000' },
    lists: { type: 'string' },
    uploads: { type: 'string', default: '200' },
    lighthouse: { type: 'string' },
    json: { type: 'string' },
  },
})
const settings: Settings = {
  runs: Number(values.runs),
  items: Number(values.items),
  lists: values.lists?.split(','),
  uploads: Number(values.uploads),
  lighthouse: values.lighthouse,
}
const wanted = values.only?.split(',') ?? Object.keys(scenarios)
const rows: Row[] = []
await using town = await startTown({ items: settings.items })
await using bare = await startBareSite(town)
const browser = await launchBrowser()
try {
  for (const name of wanted) {
    const scenario = scenarios[name]
    if (!scenario)
      throw new Error(`there is no scenario ${name}; there are ${Object.keys(scenarios).join(', ')}`)
    console.error(`measuring ${name} …`)
    const measured = await scenario({ settings, browser, town, bare })
    // What takes an hour shows early how it goes.
    console.error(table(measured))
    rows.push(...measured)
  }
} finally {
  await browser.close()
}
console.log(table(rows))
if (values.json !== undefined) {
  const machine = { cpu: cpus()[0]?.model, processors: cpus().length, node: process.version, load: loadavg() }
  const told = rows.map((row) => ({ ...row, verdict: verdictOf(row) }))
  await writeFile(values.json, `${JSON.stringify({ machine, settings, rows: told }, undefined, 2)}\n`)
}
