import { resolve } from 'node:path'
import type { IdTag } from '@kith/protocol'
import { assertCanBeServed } from '../../served-tenants.ts'
import { argument, type Command } from '../command.ts'
import { counted } from '../help.ts'
import { type Program, withProgram } from '../open-program.ts'
import { tenantView } from '../tenant/tenant-view.ts'
import { importTenant } from './import-tenant.ts'

export const importCommand: Command = {
  name: 'import',
  summary: 'Make a tenant of what another server has exported.',
  description:
    'Both servers run the same version of the program. The identity must be free here; its DNS is to point to this server from then on, and the tenant on the other server is to be suspended. Until everything is there the tenant is suspended; when something is wrong, nothing of it stays. Its rows are believed: whoever wrote the file may have put anything into the account, in the names of others too.',
  positionals: ['FILE'],
  options: {},
  async run(input) {
    const path = resolve(argument(input, 'FILE'))
    const imported = await withProgram(input, (program) => importFrom(program, path), { mayBegin: true })
    const { idTag } = imported.tenant
    const rows = Object.values(imported.tables).reduce((sum, table) => sum + table.rows, 0)
    const { blobs, jobs, about } = imported
    const key = about.withKeys ? 'It keeps its signing key.' : 'It has a new signing key.'
    const password =
      about.withPassword === false
        ? ` It has no password: its passkeys work, and so does: kith tenant password ${idTag}`
        : ''
    return {
      text: `${idTag} lives here now: ${counted(rows, 'row')}, ${counted(jobs, 'job')} and ${counted(blobs.count, 'blob')}. ${key}${password}`,
      data: { tenant: tenantView(imported.tenant), withKeys: about.withKeys, rows, jobs, blobs },
    }
  },
}

function importFrom({ services, identity }: Program, path: string) {
  const { config } = services
  const deps = {
    ...services,
    ...identity,
    assertCanBeServed: (idTag: IdTag) => assertCanBeServed(config, idTag),
  }
  return importTenant(deps, path)
}
