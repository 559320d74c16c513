import { replaceEmail } from '#features/accounts/index.ts'
import { argument, type Command, idTagArgument, refusingInvalid } from '../command.ts'
import { getHosted, withProgram } from '../open-program.ts'

export const changeTenantEmail: Command = {
  name: 'tenant email',
  summary: 'Set the e-mail address of a person. It counts at once, as if it had been confirmed.',
  description:
    'Links that were mailed to the former address, and a change that waits to be confirmed, are worth nothing afterwards; a notice goes to the former address. Sessions, API keys and passkeys stay. Be sure that the person reads the mail there: who does can set the password.',
  positionals: ['IDTAG', 'ADDRESS'],
  options: {},
  async run(input) {
    const idTag = idTagArgument(input)
    const address = argument(input, 'ADDRESS')
    return withProgram(input, async (program) => {
      const tenant = await getHosted(program, idTag)
      const set = await refusingInvalid(() => replaceEmail(program.services, { tenant, email: address }))
      return { text: `Mails about ${idTag} go to ${set.email} from now on.`, data: { idTag, ...set } }
    })
  },
}
