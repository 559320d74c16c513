import type { IdTag } from '@kith/protocol'
import { acceptName } from '#lib/accept-name.ts'
import { parseMailAddress } from '#lib/mail-address.ts'
import {
  type Command,
  type CommandInput,
  choiceOption,
  idTagArgument,
  readIdTag,
  refusingInvalid,
  textOption,
  UsageError,
} from '../command.ts'
import { withProgram } from '../open-program.ts'
import { acceptablePassword } from './acceptable-password.ts'
import { makeTenant, type TenantRequest } from './make-tenant.ts'

export const createTenant: Command = {
  name: 'tenant create',
  summary: 'Make a tenant: a person, or a community.',
  description:
    'A person without `--password` gets a one-time link, good for 30 days, with which the password is set. A community has no password: its owner becomes its leader and acts there with the tokens of their own server. A name that is reserved, in a blocked domain, or suspended, banned or blocked is refused until that ends. `docs/operations/registration.md` says what this command may do that a registration may not.',
  positionals: ['IDTAG'],
  options: {
    type: { type: 'string', value: 'person|community', meaning: '`person` when absent.' },
    owner: {
      type: 'string',
      value: 'IDTAG',
      meaning: 'Leader of a community; the base tenant when absent.',
    },
    name: { type: 'string', value: 'N', meaning: 'Name shown to people; the identity when absent.' },
    email: { type: 'string', value: 'E', meaning: 'Address of a person, for mails about the account.' },
    password: {
      type: 'string',
      value: 'P',
      meaning: 'Password of a person. Other users of the machine may see it while the command runs.',
    },
    role: {
      type: 'string',
      value: 'SADM',
      meaning: '`SADM` appoints a person as an administrator of the server.',
    },
  },
  async run(input) {
    const request = await refusingInvalid(async () => readRequest(input), { name: '--name' })
    const { tenant, link, above, baseIdTag } = await withProgram(
      input,
      async (program) => ({
        ...(await makeTenant(program, request)),
        baseIdTag: program.services.config.baseIdTag,
      }),
      { mayBegin: true },
    )
    const warnings = warningsAbout(tenant.idTag, { above, baseIdTag })
    const lines = [
      `${tenant.idTag} lives here now, as a ${tenant.type}, on the server of ${baseIdTag}.`,
      ...(link === undefined ? [] : [`The password is set here, once, within 30 days: ${link}`]),
      ...warnings,
    ]
    return {
      text: lines,
      data: {
        tenant,
        ...(link === undefined ? {} : { link }),
        ...(warnings.length === 0 ? {} : { warnings }),
      },
    }
  },
}

/** A name elsewhere, or below that of another tenant, may be meant, and may be a slip, or the wrong server. */
function warningsAbout(
  idTag: IdTag,
  { above, baseIdTag }: { readonly above: IdTag | undefined; readonly baseIdTag: IdTag },
): string[] {
  const isHere = idTag === baseIdTag || idTag.endsWith(`.${baseIdTag}`)
  const isOfMachine = [idTag, baseIdTag].every((name) => name.endsWith('.localhost'))
  const elsewhere = `${idTag} is not below ${baseIdTag}: its address works once its own DNS leads to this server. Hand no link on before that: it would lead to whoever has the name.`
  const below = `${idTag} lies below ${above}, which lives here too: people take it for one of its names.`
  return [...(isHere || isOfMachine ? [] : [elsewhere]), ...(above === undefined ? [] : [below])]
}

function readRequest(input: CommandInput): TenantRequest {
  const idTag = idTagArgument(input)
  const type = choiceOption(input, 'type', ['person', 'community']) ?? 'person'
  const foreign = type === 'person' ? ['owner'] : ['email', 'password', 'role']
  for (const name of foreign)
    if (textOption(input, name) !== undefined) throw new UsageError(`--${name} is not for a ${type}`)
  const owner = textOption(input, 'owner')
  const email = textOption(input, 'email')
  const password = textOption(input, 'password')
  const name = textOption(input, 'name')
  return {
    idTag,
    type,
    isAdmin: choiceOption(input, 'role', ['SADM']) !== undefined,
    ...(name === undefined ? {} : { name: acceptName(name) }),
    ...(owner === undefined ? {} : { ownerTag: readIdTag(owner) }),
    ...(email === undefined ? {} : { email: readEmail(email) }),
    ...(password === undefined ? {} : { password: acceptablePassword(password) }),
  }
}

function readEmail(text: string): string {
  const address = parseMailAddress(text)
  if (address === undefined) throw new UsageError(`${JSON.stringify(text)} is no e-mail address`)
  return address
}
