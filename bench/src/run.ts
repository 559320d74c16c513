import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Figure } from './measure.ts'
import { table } from './report.ts'
import { databaseWrites } from './scenarios/databases.ts'
import { documentEdits, documentOpen } from './scenarios/documents.ts'
import { fanOut100k } from './scenarios/fan-out-100k.ts'
import { fanOut1000 } from './scenarios/fan-out-1000.ts'
import { feedScale } from './scenarios/feed-scale.ts'
import { folders } from './scenarios/folders.ts'
import { hiddenRows } from './scenarios/hidden-rows.ts'
import { inbox } from './scenarios/inbox.ts'
import { largeUploads } from './scenarios/large-uploads.ts'
import { photos } from './scenarios/photos.ts'
import { pictures } from './scenarios/pictures.ts'
import { proxy } from './scenarios/proxy.ts'
import { reads } from './scenarios/reads.ts'
import { serving } from './scenarios/serving.ts'
import { startup } from './scenarios/startup.ts'
import { storm } from './scenarios/storm.ts'
import { uploads } from './scenarios/uploads.ts'
import { visitors } from './scenarios/visitors.ts'
import { creates, fanOut } from './scenarios/writes.ts'
import type { Settings } from './settings.ts'

const scenarios: Readonly<Record<string, (settings: Settings) => Promise<Figure[]>>> = {
  startup,
  reads,
  creates,
  uploads,
  largeUploads,
  photos,
  inbox,
  fanOut,
  fanOut1000,
  fanOut100k,
  storm,
  feedScale,
  hiddenRows,
  folders,
  visitors,
  serving,
  proxy,
  pictures,
  documentEdits,
  documentOpen,
  databaseWrites,
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    actions: { type: 'string', default: '100000' },
    relations: { type: 'string', default: '1000' },
    servers: { type: 'string', default: '100000' },
    'database-url': { type: 'string' },
    json: { type: 'string' },
    profile: { type: 'string' },
  },
})
const settings: Settings = {
  runs: Number(values.runs),
  seconds: Number(values.seconds),
  actions: Number(values.actions),
  relations: Number(values.relations),
  servers: Number(values.servers),
  ...(values['database-url'] === undefined ? {} : { databaseUrl: values['database-url'] }),
  ...(values.profile === undefined ? {} : { profileDir: resolve(values.profile) }),
}
const wanted = values.only?.split(',') ?? Object.keys(scenarios)
const figures: Figure[] = []
for (const name of wanted) {
  const scenario = scenarios[name]
  if (!scenario)
    throw new Error(`there is no scenario ${name}; there are ${Object.keys(scenarios).join(', ')}`)
  console.error(`measuring ${name} …`)
  figures.push(...(await scenario(settings)))
}
console.log(table(figures))
if (values.json !== undefined) {
  const machine = { cpu: cpus()[0]?.model, processors: cpus().length, node: process.version }
  await writeFile(values.json, `${JSON.stringify({ machine, settings, figures }, undefined, 2)}\n`)
}
