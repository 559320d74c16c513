import { rm } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { openLineBesideServer } from '#harness/line-beside-server.ts'
import { ProgramProcess } from '#harness/program-process.ts'
import { commands } from './commands.ts'
import { nextSteps, type ServerState } from './status.ts'

const running: ServerState = {
  runningAs: 'process 7',
  database: 'current',
  setUpLink: undefined,
  tenants: 5,
  failedJobs: 0,
}
const stopped: ServerState = { ...running, runningAs: undefined }

const states: readonly (readonly [string, ServerState, readonly string[]])[] = [
  [
    'before the first start',
    { ...stopped, database: 'absent' },
    ['kith serve', 'docs/operations/install.md', 'kith restore FILE'],
  ],
  ['while it is stopped', stopped, ['kith serve', 'kith doctor', 'kith backup']],
  ['before an upgrade', { ...stopped, database: 'older' }, ['kith serve', 'kith doctor', 'kith backup']],
  [
    'with a database of a newer version',
    { ...stopped, database: 'newer' },
    ['kith doctor', 'docs/operations/upgrade.md', 'kith backup'],
  ],
  [
    'before the first sign-in',
    { ...running, tenants: 1, setUpLink: 'data/setup-link' },
    ['data/setup-link', 'kith ref create invite', 'kith doctor'],
  ],
  ['with one tenant', { ...running, tenants: 1 }, ['kith ref create invite', 'kith doctor', 'kith backup']],
  [
    'with jobs that were given up',
    { ...running, failedJobs: 2 },
    ['kith jobs list', 'kith doctor', 'kith backup'],
  ],
  ['while it runs', running, ['kith doctor', 'kith backup', 'kith stats']],
]

test.each(states)('the next steps %s', (_when, state, steps) => {
  const next = nextSteps(state)
  expect(next.map(({ step }) => step)).toEqual(steps)
  for (const { step, why } of next) {
    expect(why).not.toBe('')
    if (step.startsWith('kith '))
      expect(commands.filter(({ name }) => step.startsWith(`kith ${name}`))).toHaveLength(1)
  }
})

test('kith alone tells how the server stands, from before its start to its end', async () => {
  const line = await CommandLine.open()
  onTestFinished(() => rm(line.folder, { recursive: true }))
  const { exitCode, out } = await line.run([])
  expect(exitCode).toBe(0)
  expect(out).toContain('It has not been started yet.')
  expect(out).toMatch(/Next:\n {2}kith serve /)

  await using server = new ProgramProcess(['serve'], { ...line.env, BASE_PASSWORD: '' })
  const { url } = JSON.parse(await server.firstLine())
  const state = JSON.parse((await line.run(['--json'])).out)
  expect(state).toMatchObject({ database: 'current', tenants: 1, failedJobs: 0 })
  expect(state.runningAs).toContain(url)
  expect(state.next[0].step).toBe(`${line.dataDir}/setup-link`)

  server.signal('SIGTERM')
  await server.end()
  expect((await line.run(['status'])).out).toContain('It is not running.')
})

test('another BASE_ID_TAG than that of the server is told plainly', async () => {
  await using beside = await openLineBesideServer()
  const other = beside.line.with({ BASE_ID_TAG: 'other.localhost' })
  const said = 'This server belongs to home.localhost, and BASE_ID_TAG says other.localhost.'
  const { out } = await other.run(['status'])
  expect(out).toContain(', the server of home.localhost,')
  expect(out).toContain(said)
  expect(await other.fails('ref', 'create', 'invite')).toMatchObject({
    message: expect.stringContaining(said),
  })
  expect((await beside.line.run(['status'])).out).not.toContain('BASE_ID_TAG')
})
