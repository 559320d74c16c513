import { audit } from '#features/audit/index.ts'
import { resumeTenant } from '#features/tenants/index.ts'
import { type Command, idTagArgument } from '../command.ts'
import { getHosted, withProgram } from '../open-program.ts'
import { tenantView } from './tenant-view.ts'

export const resume: Command = {
  name: 'tenant resume',
  summary: 'End the suspension of a tenant.',
  description: 'A running server notices within five seconds. People sign in anew.',
  positionals: ['IDTAG'],
  options: {},
  async run(input) {
    const idTag = idTagArgument(input)
    return withProgram(input, async (program) => {
      const { services, identity } = program
      const tenant = await getHosted(program, idTag)
      if (tenant.suspendedAt !== undefined)
        await services.db.transact(tenant.tenantId, async (tx) => {
          await resumeTenant({ ...identity, clock: services.clock }, tx)
          await audit(services, tx, { event: 'tenant.resumed', details: { by: 'command line' } })
        })
      return { text: `${idTag} is active.`, data: { tenant: tenantView(await getHosted(program, idTag)) } }
    })
  },
}
