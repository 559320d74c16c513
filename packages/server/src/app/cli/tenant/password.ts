import type { IdTag } from '@kith/protocol'
import { findAccount, makeReference, passwordLink, replacePassword } from '#features/accounts/index.ts'
import { sendPasswordReset } from '#features/admin/index.ts'
import { auditCommand } from '#features/audit/index.ts'
import type { HostedTenant } from '#features/tenants/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { removeSetUpLink } from '../../set-up-link.ts'
import {
  type Command,
  type CommandInput,
  hasFlag,
  idTagArgument,
  textOption,
  UsageError,
} from '../command.ts'
import { getHosted, type Program, withProgram } from '../open-program.ts'
import { getOperator } from '../operator.ts'
import { acceptablePassword } from './acceptable-password.ts'

const linkValidSecs = 24 * 3600

export const changeTenantPassword: Command = {
  name: 'tenant password',
  summary: 'Make a one-time link that sets the password of a person, or set it at once.',
  description:
    'The link is good for 24 hours and changes nothing until it is used. A password that is set at once ends every session of the person, and API keys and passkeys too, as a reset over the web does; it makes older links worthless.',
  positionals: ['IDTAG'],
  options: {
    password: {
      type: 'string',
      value: 'P',
      meaning: 'The new password. Other users of the machine may see it while the command runs.',
    },
    stdin: {
      type: 'boolean',
      meaning: 'Ask for the new password on the terminal, or read the first line of standard input.',
    },
    mail: {
      type: 'boolean',
      meaning:
        'Mail the link to the person instead of printing it. Without a running server it leaves with the next start.',
    },
    'keep-keys': {
      type: 'boolean',
      meaning:
        'Leave API keys and passkeys as they are, and end sessions alone. Not for a link: its page asks.',
    },
  },
  async run(input) {
    const idTag = idTagArgument(input)
    const password = await readPassword(input)
    const keepsKeys = hasFlag(input, 'keep-keys')
    if (keepsKeys && password === undefined)
      throw new UsageError('--keep-keys goes with --password or --stdin: who uses a link is asked')
    const isMailed = hasFlag(input, 'mail')
    if (isMailed && password !== undefined)
      throw new UsageError('--mail sends a link: it goes with neither --password nor --stdin')
    return withProgram(input, async (program) => {
      const tenant = await getHosted(program, idTag)
      if (!(await findAccount(program.services.db.reader(tenant.tenantId))))
        throw new Failure('E-STATE', { message: `${idTag} is a community: it has no password.` })
      if (isMailed) return await mailLink(program, idTag)
      if (password === undefined) {
        const link = await makeLink(program, tenant)
        return {
          text: `The password of ${idTag} is set here, once, within 24 hours: ${link}`,
          data: { idTag, link },
        }
      }
      const { services, identity } = program
      await replacePassword(
        { ...identity, db: services.db, clock: services.clock },
        { tenant, password, ...(keepsKeys ? { signOutEverything: false } : {}) },
      )
      if (tenant.isBase) await removeSetUpLink(services.config.dataDir)
      const ended = keepsKeys
        ? 'Sessions have ended, API keys and passkeys stay.'
        : 'Sessions, API keys and passkeys have ended.'
      return { text: `${idTag} has a new password. ${ended}`, data: { idTag } }
    })
  },
}

async function mailLink(program: Program, idTag: IdTag) {
  const { services, identity } = program
  const request = { ...(await getOperator(program)), idTag }
  if (!(await sendPasswordReset({ ...services, ...identity }, request)))
    throw new Failure('E-STATE', {
      message: `${idTag} has no address: kith tenant email ${idTag} ADDRESS, or this command without --mail.`,
    })
  return {
    text: `A link that sets the password of ${idTag}, once, within 24 hours, is mailed to the person.`,
    data: { idTag, sent: true },
  }
}

async function readPassword(input: CommandInput): Promise<string | undefined> {
  const given = textOption(input, 'password')
  if (!hasFlag(input, 'stdin')) return given === undefined ? undefined : acceptablePassword(given)
  if (given !== undefined) throw new UsageError('--password and --stdin exclude each other')
  return acceptablePassword(await input.ask('New password: '))
}

async function makeLink({ services, addresses }: Program, { tenantId, idTag }: HostedTenant) {
  const expiresAt = nowSecs(services.clock) + linkValidSecs
  return services.db.transact(tenantId, async (tx) => {
    const { refId } = await makeReference(services, tx, { type: 'password-reset', expiresAt })
    await auditCommand(services, tx, { event: 'password.reset-requested' })
    return passwordLink(addresses.serverUrl(idTag), refId)
  })
}
