import { resumeTenant, suspendTenant } from '#features/admin/index.ts'
import { deciding } from '../../admin-features.ts'
import { type Command, idTagArgument } from '../command.ts'
import { getListed, withProgram } from '../open-program.ts'
import { getOperator } from '../operator.ts'
import { tenantView } from './tenant-view.ts'

export const suspend = changing({
  name: 'tenant suspend',
  summary: 'Suspend a tenant: end its sessions and let nobody sign in.',
  description:
    'Its tokens are refused, other servers no longer find it, and nothing is accepted from it until it is resumed; a ban with an end no longer ends by itself. A running server notices within five seconds. Nothing is removed. If the tenant is the only leader of a community, appoint another leader first: `kith tenant leader`.',
  change: suspendTenant,
  outcome: 'is suspended',
})

export const resume = changing({
  name: 'tenant resume',
  summary: 'End the suspension or the ban of a tenant.',
  description:
    'A running server notices within five seconds. People sign in anew. It changes nothing for a tenant that has neither, also where it is muted, blocked or trusted. It fails while the tenant is being removed or imported.',
  change: resumeTenant,
  outcome: 'is active',
})

interface StatusChange extends Pick<Command, 'name' | 'summary' | 'description'> {
  readonly change: typeof suspendTenant
  readonly outcome: string
}

function changing({ change, outcome, ...described }: StatusChange): Command {
  return {
    ...described,
    positionals: ['IDTAG'],
    options: {},
    async run(input) {
      const idTag = idTagArgument(input)
      return withProgram(input, async (program) => {
        await getListed(program, idTag)
        const deps = deciding(program.services, program.identity)
        const tenant = await change(deps, { ...(await getOperator(program)), idTag })
        return { text: `${idTag} ${outcome}.`, data: { tenant: tenantView(tenant) } }
      })
    },
  }
}
