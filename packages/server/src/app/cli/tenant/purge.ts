import { Failure } from '#lib/failure.ts'
import { type Command, hasFlag, idTagArgument, UsageError } from '../command.ts'
import { counted } from '../help.ts'
import { getHosted, withProgram } from '../open-program.ts'
import { purgeTenant } from './purge-tenant.ts'

export const purge: Command = {
  name: 'tenant purge',
  summary: 'Remove a suspended tenant with everything that belongs to it.',
  description:
    'This cannot be undone: make a backup or an export first. It works in small steps, so that a running server is not held up; after an interruption the same command continues. What other servers have received of the tenant stays there. A later owner of the name has no relation with anybody here. If the tenant is the only leader of a community, appoint another leader first: `kith tenant leader`.',
  positionals: ['IDTAG'],
  options: { yes: { type: 'boolean', meaning: 'Without it nothing is removed.' } },
  async run(input) {
    const idTag = idTagArgument(input)
    if (!hasFlag(input, 'yes')) throw new UsageError(`Everything of ${idTag} would be removed: add --yes`)
    return withProgram(input, async (program) => {
      const tenant = await getHosted(program, idTag)
      if (tenant.isBase)
        throw new Failure('E-STATE', { message: 'The base tenant administers the server and stays.' })
      const { suspendedAt } = tenant
      if (suspendedAt === undefined)
        throw new Failure('E-STATE', {
          message: `${idTag} is active. Suspend it first: kith tenant suspend ${idTag}`,
        })
      const { services, identity } = program
      const removed = await purgeTenant(
        { ...services, ...identity, pause: input.pause },
        { ...tenant, suspendedAt },
      )
      return {
        text: `${idTag} is gone: ${counted(removed.rows, 'row')} and ${counted(removed.blobs, 'blob')}.`,
        data: { idTag, removed },
      }
    })
  },
}
