import { getStatistics, type Statistics } from '#features/admin/index.ts'
import { version } from '../../version.ts'
import type { Command } from '../command.ts'
import { columns, counted } from '../help.ts'
import { withProgram } from '../open-program.ts'
import { sizeText } from './size-text.ts'

export const stats: Command = {
  name: 'stats',
  summary: 'Show how many people there are and were here, what they store, and how the jobs stand.',
  description: 'The last 31 days on which the server ran are shown as they were counted each hour.',
  positionals: [],
  options: {},
  async run(input) {
    return withProgram(input, async ({ services, identity }) => {
      const found = await getStatistics({ ...services, ...identity })
      return { text: report(found), data: { version, ...found } }
    })
  },
}

function report({
  tenants,
  people,
  communities,
  actions,
  sockets,
  storage,
  days,
  jobs,
}: Statistics): string[] {
  const rows = [
    ['version', version],
    ['tenants', `${tenants.active} active, ${tenants.suspended} suspended`],
    ['people', `${people.total}, ${people.activeIn7Days} here in 7 days, ${people.activeIn30Days} in 30`],
    ['communities', String(communities)],
    ['actions', String(actions)],
    ['sockets', `${sockets} open`],
    ['storage', `${sizeText(storage.usedBytes)} in ${counted(storage.files, 'file')}`],
  ]
  const ofJobs = jobs.map(({ kind, waiting, running, failed }) => [
    kind,
    `${waiting} waiting`,
    `${running} running`,
    `${failed} failed`,
  ])
  const ofDays = days.map((day) => [
    day.day,
    `${day.activePeople} of ${day.people} people here`,
    counted(day.actions, 'action'),
    sizeText(day.usedBytes),
    counted(day.sockets, 'socket'),
  ])
  return [...columns(rows), '', 'Days:', ...columns(ofDays), '', 'Jobs:', ...columns(ofJobs)]
}
