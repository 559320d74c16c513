import { resolve } from 'node:path'
import { openDelivery } from '#features/federation/index.ts'
import type { IdentityFeatures } from '../../identity-features.ts'
import type { Services } from '../../services.ts'
import { argument, type Command } from '../command.ts'
import { assertFree } from '../free-name.ts'
import { counted } from '../help.ts'
import { type Program, withProgram } from '../open-program.ts'
import { tenantView } from '../tenant/tenant-view.ts'
import { type Imported, importTenant } from './import-tenant.ts'

export const importCommand: Command = {
  name: 'import',
  summary: 'Make a tenant of what another server has exported.',
  description:
    'Both servers run the same version of the program. The identity must be free here; its DNS is to point to this server from then on, and the tenant on the other server is to be suspended. Until everything is there the tenant is suspended, and cannot be resumed; when something is wrong, nothing of it stays. What an import that was killed has left goes with the next import of the same identity, or with `kith tenant purge`. Who is suspended or banned meanwhile stays so. Whoever wrote the file decides what the account says, and nothing of anybody else: what others have said is shown to the account alone until their signatures are verified, which the server does by and by. `docs/operations/moving.md` says what is believed and what stays behind.',
  positionals: ['FILE'],
  options: {},
  async run(input) {
    const path = resolve(argument(input, 'FILE'))
    const imported = await withProgram(input, (program) => importFrom(program, path), { mayBegin: true })
    const { idTag } = imported.tenant
    const rows = Object.values(imported.tables).reduce((sum, table) => sum + table.rows, 0)
    const { blobs, jobs, about, leftOut } = imported
    const key = about.withKeys ? 'It keeps its signing key.' : 'It has a new signing key.'
    const standing = imported.tenant.suspendedAt === undefined ? '' : ' It is suspended.'
    const password =
      about.withPassword === false
        ? ` It has no password: its passkeys work, and so does: kith tenant password ${idTag}`
        : ''
    return {
      text: `${idTag} lives here now: ${counted(rows, 'row')}, ${counted(jobs, 'job')} and ${counted(blobs.count, 'blob')}. ${key}${standing}${password}${omissions(imported)}`,
      data: { tenant: tenantView(imported.tenant), withKeys: about.withKeys, rows, jobs, blobs, leftOut },
    }
  },
}

/** What did not come along, and why. */
function omissions({ about, tenant, leftOut }: Imported): string {
  const { appDomain } = about.tenant
  const parts = [
    leftOut.settings > 0 && `${counted(leftOut.settings, 'setting')} that only administrators change`,
    leftOut.actions > 0 && `${counted(leftOut.actions, 'action')} without a readable signature`,
    appDomain !== tenant.appDomain && `the domain ${appDomain}, which does not lie below ${tenant.idTag}`,
  ].filter((part) => part !== false)
  return parts.length === 0 ? '' : ` Left out: ${parts.join(', ')}.`
}

function importFrom({ services, identity }: Program, path: string) {
  return importTenant(importDeps(services, identity), path)
}

/** What an import needs of a server, which may be running. */
export function importDeps(
  services: Services,
  identity: IdentityFeatures,
): Parameters<typeof importTenant>[0] {
  return {
    ...services,
    ...identity,
    deliver: openDelivery(services),
    assertFree: (tx, name) => assertFree(services.config, tx, name),
  }
}
