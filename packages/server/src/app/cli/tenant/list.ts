import type { IdTag } from '@kith/protocol'
import type { HostedTenant } from '#features/tenants/index.ts'
import { type Command, type CommandInput, readIdTag } from '../command.ts'
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
    const tenants = (await listFound(input, idTag)).map(tenantView)
    const rows = tenants.map(({ type, status, createdAt, isBase, ...tenant }) => [
      tenant.idTag,
      isBase ? 'base' : type,
      status,
      createdAt.slice(0, 10),
    ])
    return { text: columns(rows), data: { tenants } }
  },
}

async function listFound(input: CommandInput, idTag: IdTag | undefined): Promise<HostedTenant[]> {
  return withProgram(input, async (program) =>
    idTag ? [await getHosted(program, idTag)] : Array.fromAsync(eachTenant(program.identity.tenants)),
  )
}
