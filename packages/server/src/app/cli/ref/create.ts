import { parseFileId, type ReferenceType, referenceTypes } from '@kith/protocol'
import { recoveryLifeSecs, typesMadeElsewhere } from '#features/accounts/index.ts'
import {
  argument,
  type Command,
  type CommandInput,
  choiceOption,
  readIdTag,
  readTime,
  textOption,
  UsageError,
} from '../command.ts'
import { findMailDirectory } from '../mail/find-mail-server.ts'
import { withProgram } from '../open-program.ts'
import { makeRef, type RefRequest, setsPassword } from './make-ref.ts'

const types = referenceTypes.filter((type) => !typesMadeElsewhere.includes(type))

const meanings: Readonly<Partial<Record<ReferenceType, string>>> = {
  invite: 'somebody new registers with it and gets an account of their own. This is the one to invite with.',
  'share.file': 'opens one file of the tenant to everybody who has the link.',
  welcome:
    'sets the password of an account that exists and hands the account over with it; for its owner alone, within 30 days.',
  'password-reset':
    'sets the password of an account that exists, within a day; `kith tenant password` makes the same link.',
  'email-verify':
    'sets the password of an account that exists and proves its address, within a day; the server mails it by itself.',
}

export const createRef: Command = {
  name: 'ref create',
  summary: 'Make a reference: an invitation, a link that sets a password, or a link to a file.',
  description: `Anyone with the printed id may use it. TYPE is one of:

${types.map((type) => `- \`${type}\`: ${meanings[type]}`).join('\n')}`,
  positionals: ['TYPE'],
  options: {
    tenant: {
      type: 'string',
      value: 'T',
      meaning: 'On which tenant; the base tenant when absent. What sets the password of an account needs it.',
    },
    count: {
      type: 'string',
      value: 'N',
      meaning:
        'How often it can be used, or `unlimited`; once when absent. What gives an account serves once.',
    },
    expires: {
      type: 'string',
      value: 'D',
      meaning:
        'When it ends: `30m`, `24h`, `7d`, or a time like `2027-01-31T12:00:00Z`; never when absent. What gives an account lives 24 hours at most, `welcome` 30 days.',
    },
    resource: { type: 'string', value: 'F', meaning: 'The file that a `share.file` is about.' },
    access: {
      type: 'string',
      value: 'read|write',
      meaning: 'What a `share.file` allows; `read` when absent.',
    },
  },
  async run(input) {
    const request = readRequest(input)
    const { reference, link, mailDirectory } = await withProgram(input, async (program) => ({
      ...(await makeRef(program, request)),
      mailDirectory: request.type === 'invite' ? await findMailDirectory(program) : undefined,
    }))
    const lines = [
      reference.refId,
      ...(link === undefined ? [] : [link]),
      ...(setsPassword(request.type)
        ? [`Whoever opens the link sets the password of ${reference.tenant}.`]
        : []),
      ...(mailDirectory === undefined ? [] : [adviceWithoutMails(mailDirectory)]),
    ]
    return {
      text: lines,
      data: {
        reference,
        ...(link === undefined ? {} : { link }),
        ...(mailDirectory === undefined ? {} : { mailDirectory }),
      },
    }
  },
}

function adviceWithoutMails(directory: string): string {
  return `No mail server is set, so nobody gets the mail with the link that sets the password of the new account: it is kept as a file in ${directory}. Hand that link on, make one with \`kith tenant password IDTAG\`, or set SMTP_URL.`
}

function readRequest(input: CommandInput): RefRequest {
  const type = readType(argument(input, 'TYPE'))
  const tenant = textOption(input, 'tenant')
  if (tenant === undefined && setsPassword(type))
    throw new UsageError(
      `${type} sets the password of an account: --tenant says of which. To invite somebody: kith ref create invite`,
    )
  const expires = textOption(input, 'expires')
  const count = readCount(textOption(input, 'count'))
  if (recoveryLifeSecs[type] !== undefined && count !== 1) throw new UsageError(`${type} serves once`)
  return {
    type,
    count,
    ...readTarget(input, type),
    ...(tenant === undefined ? {} : { idTag: readIdTag(tenant) }),
    ...(expires === undefined ? {} : readEnd(expires)),
  }
}

function readType(text: string): ReferenceType {
  const type = types.find((candidate) => candidate === text)
  if (!type) throw new UsageError(`TYPE is one of ${types.join(', ')}`)
  return type
}

function readTarget(input: CommandInput, type: ReferenceType): Pick<RefRequest, 'target'> {
  const resource = textOption(input, 'resource')
  const access = choiceOption(input, 'access', ['read', 'write'])
  if (type !== 'share.file') {
    if (resource !== undefined || access !== undefined)
      throw new UsageError('--resource and --access are for share.file')
    return {}
  }
  const fileId = resource === undefined ? undefined : parseFileId(resource)
  if (!fileId) throw new UsageError('share.file needs --resource with the id of a file')
  return { target: { resourceId: fileId, accessLevel: access ?? 'read' } }
}

function readCount(text: string | undefined): number | null {
  if (text === undefined) return 1
  if (text === 'unlimited') return null
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (count < 1) throw new UsageError('--count is a whole number from 1, or unlimited')
  return count
}

const unitSecs: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

function readEnd(text: string): Pick<RefRequest, 'expiresAt' | 'validSecs'> {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  const secs = unitSecs[unit]
  if (secs !== undefined) return { validSecs: Number(count) * secs }
  const expiresAt = readTime(text)
  if (expiresAt === undefined)
    throw new UsageError('--expires is a time like 2027-01-31T12:00:00Z, or a span like 7d')
  return { expiresAt }
}
