import { getStorage } from '#features/admin/index.ts'
import type { Command } from '../command.ts'
import { columns, counted } from '../help.ts'
import { withProgram } from '../open-program.ts'
import { sizeText } from './size-text.ts'

export const storage: Command = {
  name: 'storage',
  summary: 'Show what is stored in all, what the disk has left, and the twenty tenants that store most.',
  positionals: [],
  options: {},
  async run(input) {
    return withProgram(input, async ({ services, identity }) => {
      const { dataDir } = services.config
      const found = await getStorage({ db: services.db, tenants: identity.tenants, dataDir })
      const { usedBytes, files, freeBytes, largest } = found
      const all = [
        ['stored', `${sizeText(usedBytes)} in ${counted(files, 'file')}`],
        ...(freeBytes === undefined ? [] : [['free', `${sizeText(freeBytes)} on the disk of ${dataDir}`]]),
      ]
      const rows = largest.map((tenant) => [
        tenant.idTag,
        sizeText(tenant.usedBytes),
        counted(tenant.files, 'file'),
        ...(tenant.status === 'active' ? [] : [tenant.status]),
      ])
      const text = [...columns(all), ...(rows.length === 0 ? [] : ['', 'Most by:', ...columns(rows)])]
      return { text, data: found }
    })
  },
}
