import type { IdTag } from '@kith/protocol'
import { endCommandPurge, noteCommandPurge, suspendedForPurge } from '#features/admin/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { deciding } from '../../admin-features.ts'
import { purgeTenant, withdrawImport } from '../../purge/purge-tenant.ts'
import { type Command, hasFlag, idTagArgument, UsageError } from '../command.ts'
import { counted } from '../help.ts'
import { getListed, withProgram } from '../open-program.ts'
import { getOperator } from '../operator.ts'

export const purge: Command = {
  name: 'tenant purge',
  summary: 'Remove a tenant that is suspended, banned or blocked, with everything that belongs to it.',
  description:
    'This cannot be undone: make a backup or an export first. It works in small steps, so that a running server is not held up; after an interruption the same command continues, or the server after an hour, and until then the tenant cannot be resumed. It fails while the server removes the tenant, as an administrator has asked it to over the API. What other servers have received of the tenant stays there. A later owner of the name has no relation with anybody here; a ban or a block of the name stays, a suspension does not. Of a tenant that an import which was killed has left it removes what came, and nothing else: others keep their relations with the name. If the tenant is the only leader of a community, appoint another leader first: `kith tenant leader`.',
  positionals: ['IDTAG'],
  options: { yes: { type: 'boolean', meaning: 'Without it nothing is removed.' } },
  async run(input) {
    const idTag = idTagArgument(input)
    if (!hasFlag(input, 'yes')) throw new UsageError(`Everything of ${idTag} would be removed: add --yes`)
    return withProgram(input, async (program) => {
      const tenant = await getListed(program, idTag)
      const { services, identity } = program
      if (tenant.underWay === 'import') {
        const removed = await withdrawImport({ ...services, ...identity }, tenant)
        return purged(idTag, removed, 'What an import has brought of ')
      }
      const deciders = deciding(services, identity)
      const suspended = await suspendedForPurge(deciders, await getOperator(program), tenant)
      const noteBegun = (tx: Writer) => noteCommandPurge(services, tx, suspended)
      const noteEnded = (tx: Writer) => endCommandPurge(tx, tenant)
      const { pause } = input
      const deps = { ...services, ...identity, pause, noteBegun, noteEnded, by: 'command line' as const }
      const removed = await purgeTenant(deps, suspended)
      return purged(idTag, removed)
    })
  },
}

function purged(idTag: IdTag, removed: { readonly rows: number; readonly blobs: number }, part = '') {
  return {
    text: `${part}${idTag} is gone: ${counted(removed.rows, 'row')} and ${counted(removed.blobs, 'blob')}.`,
    data: { idTag, removed },
  }
}
