import { type Command, readIdTag } from '../command.ts'
import { columns } from '../help.ts'
import { eachTenant, getHosted, withProgram } from '../open-program.ts'
import { tenantView } from './tenant-view.ts'

export const listTenants: Command = {
  name: 'tenant list',
  summary: 'Show the tenants of this server, or one of them.',
  positionals: ['[IDTAG]'],
  options: {},
  async run(input) {
    const wanted = input.arguments.IDTAG
    const idTag = wanted === undefined ? undefined : readIdTag(wanted)
    const found = await withProgram(input, async (program) =>
      idTag ? [await getHosted(program, idTag)] : Array.fromAsync(eachTenant(program.identity.tenants)),
    )
    const tenants = found.map(tenantView)
    const rows = tenants.map(({ type, status, createdAt, isBase, ...tenant }) => [
      tenant.idTag,
      isBase ? 'base' : type,
      status,
      createdAt.slice(0, 10),
    ])
    const text = rows.length === 0 ? 'Nobody lives here yet.' : columns(rows).join('\n')
    return { text, data: { tenants } }
  },
}
