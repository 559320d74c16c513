import { auditCommand } from '#features/audit/index.ts'
import { type Command, idTagArgument } from '../command.ts'
import { getHosted, withProgram } from '../open-program.ts'

export const rotateKeys: Command = {
  name: 'keys rotate',
  summary: 'Give a tenant a new signing key and retire the one it has.',
  description:
    'What was signed before stays valid: retired keys are published with the time of their retirement. A running server signs with the new key at once; other servers ask for it when they first meet it.',
  positionals: ['IDTAG'],
  options: {},
  async run(input) {
    const idTag = idTagArgument(input)
    return withProgram(input, async (program) => {
      const { services } = program
      const { tenantId } = await getHosted(program, idTag)
      const { kid, publicKey } = await services.db.transact(tenantId, async (tx) => {
        await auditCommand(services, tx, { event: 'keys.rotated' })
        return services.signingKeys.rotate(tx)
      })
      return { text: `${idTag} signs with the key ${kid} from now on.`, data: { idTag, kid, publicKey } }
    })
  },
}
