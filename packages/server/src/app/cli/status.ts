import { existsSync } from 'node:fs'
import type { IdTag } from '@kith/protocol'
import { getCounts } from '#features/admin/index.ts'
import { findBaseTenant } from '#features/tenants/index.ts'
import type { Config } from '#infra/config/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { systemClock } from '#lib/clock.ts'
import { describeHolder, findRunningServer } from '../lock-data-dir.ts'
import { setUpLinkFile } from '../set-up-link.ts'
import { version } from '../version.ts'
import type { Command } from './command.ts'
import { columns } from './help.ts'
import { manualPage } from './manual-page.ts'
import { readCommandConfig } from './open-program.ts'
import { describeOtherBase } from './other-base.ts'
import { openPresentDatabase } from './present-database.ts'

/** What a server needs next depends on these. */
export interface ServerState {
  /** The process that has DATA_DIR, in words; undefined when none does. */
  readonly runningAs: string | undefined
  readonly database: 'absent' | 'older' | 'newer' | 'current'
  /** The file with the link that sets the first password, while there is one. */
  readonly setUpLink: string | undefined
  /** Zero unless the database is current. */
  readonly tenants: number
  readonly failedJobs: number
  /** The identity that the server was begun with, where the database tells. */
  readonly storedBaseIdTag?: IdTag | undefined
}

interface NextStep {
  /** What to type, or what to open. */
  readonly step: string
  readonly why: string
}

export const status: Command = {
  name: 'status',
  summary: 'Show what state the server is in, and the likeliest next steps; `kith` alone does the same.',
  positionals: [],
  options: {},
  async run(input) {
    const config = readCommandConfig(input)
    const state = await findState(config)
    const next = nextSteps(state)
    const { baseIdTag, dataDir } = config
    const { storedBaseIdTag = baseIdTag } = state
    const otherBase = describeOtherBase(config, storedBaseIdTag)
    const lines = [
      `Kith ${version}, the server of ${storedBaseIdTag}, with its data in ${dataDir}`,
      sentenceOf(state),
      ...(otherBase === undefined ? [] : [otherBase]),
      '',
      'Next:',
      ...columns(next.map(({ step, why }) => [step, why])),
      '',
      '`kith help` shows all commands.',
      ...(input.env.npm_command === 'exec' ? ['In this folder `kith` is called as `npx kith`.'] : []),
    ]
    return { text: lines, data: { version, baseIdTag, dataDir, ...state, next } }
  },
}

async function findState(config: Config): Promise<ServerState> {
  const running = await findRunningServer(config)
  const link = setUpLinkFile(config.dataDir)
  return {
    runningAs: running && describeHolder(running.heldBy),
    setUpLink: existsSync(link) ? link : undefined,
    ...(await lookIntoDatabase(config)),
  }
}

async function lookIntoDatabase(
  config: Config,
): Promise<Pick<ServerState, 'database' | 'tenants' | 'failedJobs' | 'storedBaseIdTag'>> {
  const present = await openPresentDatabase(config)
  const unknown = { tenants: 0, failedJobs: 0 }
  if (!present) return { database: 'absent', ...unknown }
  await using db = { ...present, [Symbol.asyncDispose]: () => present.db.close() }
  if (!db.isCurrent) return { database: db.foreign === undefined ? 'older' : 'newer', ...unknown }
  const { tenants, jobs } = await getCounts({ db: present.db, clock: systemClock })
  const base = await findBaseTenant(present.db.reader(serverTenant))
  return {
    database: 'current',
    tenants: tenants.active + tenants.suspended,
    failedJobs: jobs.reduce((sum, { failed }) => sum + failed, 0),
    storedBaseIdTag: base?.idTag,
  }
}

function sentenceOf({ runningAs, database }: ServerState): string {
  if (runningAs !== undefined) return `It is running: ${runningAs}.`
  return database === 'absent' ? 'It has not been started yet.' : 'It is not running.'
}

const look = { step: 'kith doctor', why: 'looks for what keeps it from working, and says what to do' }
const save = { step: 'kith backup', why: 'writes database and files to one tar file, while it runs' }

/** The three likeliest. */
export function nextSteps({
  runningAs,
  database,
  setUpLink,
  tenants,
  failedJobs,
}: ServerState): readonly NextStep[] {
  if (database === 'absent')
    return [
      { step: 'kith serve', why: 'starts it, and shows a link that sets your password' },
      { step: manualPage('install.md'), why: 'a name of your own (BASE_ID_TAG), mail, and a service' },
      { step: 'kith restore FILE', why: 'puts a backup in place instead' },
    ]
  if (database === 'newer')
    return [
      { step: 'kith doctor', why: 'tells which version has changed the database, and the way back' },
      { step: manualPage('upgrade.md'), why: 'about newer and older versions' },
      save,
    ]
  if (runningAs === undefined) {
    const why =
      database === 'older' ? 'starts it; the database is copied and brought up to date' : 'starts it'
    return [{ step: 'kith serve', why }, look, save]
  }
  const first = { step: setUpLink ?? '', why: 'has the link that sets your password: open it in a browser' }
  const failed = { step: 'kith jobs list', why: `shows the jobs that were given up: ${failedJobs}` }
  const invite = {
    step: 'kith ref create invite',
    why: 'prints a link with which one person gets an account',
  }
  const numbers = { step: 'kith stats', why: 'tells how many tenants there are and what they store' }
  return [
    ...(setUpLink === undefined ? [] : [first]),
    ...(failedJobs === 0 ? [] : [failed]),
    ...(tenants > 1 ? [] : [invite]),
    look,
    save,
    numbers,
  ].slice(0, 3)
}
