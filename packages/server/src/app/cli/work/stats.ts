import { getStatistics, type Statistics } from '#features/admin/index.ts'
import { version } from '../../version.ts'
import type { Command } from '../command.ts'
import { columns, counted } from '../help.ts'
import { withProgram } from '../open-program.ts'
import { sizeText } from './size-text.ts'

export const stats: Command = {
  name: 'stats',
  summary: 'Show how many tenants there are, what they store, and how the jobs stand.',
  positionals: [],
  options: {},
  async run(input) {
    return withProgram(input, async ({ services: { db } }) => {
      const found = await getStatistics({ db })
      return { text: report(found), data: { version, ...found } }
    })
  },
}

function report({ tenants, storage, jobs }: Statistics): string[] {
  const rows = [
    ['version', version],
    ['tenants', `${tenants.active} active, ${tenants.suspended} suspended`],
    ['storage', `${sizeText(storage.usedBytes)} in ${counted(storage.files, 'file')}`],
  ]
  const ofJobs = jobs.map(({ kind, waiting, running, failed }) => [
    kind,
    `${waiting} waiting`,
    `${running} running`,
    `${failed} failed`,
  ])
  return [...columns(rows), '', 'Jobs:', ...columns(ofJobs)]
}
