import { changeIdentity } from '#features/admin/index.ts'
import { isAppointedAdmin } from '#features/tenants/index.ts'
import { deciding } from '../../admin-features.ts'
import { argument, type Command, idTagArgument, refusingInvalid, UsageError } from '../command.ts'
import { getHosted, withProgram } from '../open-program.ts'
import { getOperator } from '../operator.ts'

const roles = ['SADM', 'user'] as const

export const changeRole: Command = {
  name: 'tenant role',
  summary: 'Make a person an administrator of the server, or end that.',
  description:
    '`SADM` appoints, `user` takes the appointment back, also that of an identity of another server. An administrator acts on the host of the base tenant, whose owner is always one. A running server notices within five seconds.',
  positionals: ['IDTAG', 'SADM|user'],
  options: {},
  async run(input) {
    const idTag = idTagArgument(input)
    const word = argument(input, 'SADM|user')
    const role = roles.find((each) => each === word)
    if (role === undefined) throw new UsageError('A role is SADM or user')
    return withProgram(input, async (program) => {
      const { services, identity } = program
      const operator = await getOperator(program)
      const isAdmin = await isAppointedAdmin(services.db.reader(operator.tenant.tenantId), idTag)
      if (!isAdmin) await getHosted(program, idTag)
      const deps = deciding(services, identity)
      await refusingInvalid(() => changeIdentity(deps, { ...operator, idTag, change: { roles: [role] } }))
      const does = role === 'SADM' ? 'administers the server' : 'does not administer the server'
      return { text: `${idTag} ${does}.`, data: { idTag, role } }
    })
  },
}
