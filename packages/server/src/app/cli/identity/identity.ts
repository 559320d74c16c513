import { profileStatuses, toIso } from '@kith/protocol'
import { changeIdentity } from '#features/admin/index.ts'
import { banView } from '#features/profiles/index.ts'
import { findRelation, listDecided, noRelation, type Relation, statusOf } from '#features/relations/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { deciding } from '../../admin-features.ts'
import {
  argument,
  type Command,
  type CommandInput,
  countOption,
  idTagArgument,
  refusingInvalid,
  textOption,
  timeOption,
  UsageError,
} from '../command.ts'
import { columns } from '../help.ts'
import { withProgram } from '../open-program.ts'
import { getOperator } from '../operator.ts'

const mostListed = 1000

export const listIdentities: Command = {
  name: 'identity list',
  summary: 'Show the identities, here and elsewhere, about which the server has decided.',
  positionals: [],
  options: {
    limit: { type: 'string', value: 'N', meaning: `How many, at most ${mostListed}; 100 when absent.` },
  },
  async run(input) {
    const limit = countOption(input, 'limit', { most: mostListed, fallback: 100 })
    return withProgram(input, async ({ services: { db } }) => {
      const found = await listDecided(db.reader(serverTenant), limit + 1)
      const identities = found.slice(0, limit).map(identityView)
      const isComplete = found.length <= limit
      const more = isComplete ? [] : ['There are more: --limit']
      const none = 'Nothing is decided about anybody.'
      const text = identities.length === 0 ? none : [...columns(identities.map(rowOf)), ...more]
      return { text, data: { identities, isComplete } }
    })
  },
}

export const setIdentity: Command = {
  name: 'identity set',
  summary: 'Decide about an identity, here or elsewhere, for the whole server.',
  description:
    '`Banned` and `Suspended`: nothing is taken from it and it is left out of lists; a tenant of this server answers nobody and its sessions end. `Blocked`: nothing is taken from it, and it reads what is public. `Muted`: it is left out of lists. `Trusted` is shown and changes nothing. `Active` ends them all. A running server notices within five seconds.',
  positionals: ['IDTAG', 'STATUS'],
  options: {
    reason: { type: 'string', value: 'R', meaning: 'Why; at most 500 characters.' },
    until: {
      type: 'string',
      value: 'TIME',
      meaning:
        'When it ends by itself, like 2027-01-31 or 2027-01-31T12:00:00Z. Without it, when somebody ends it.',
    },
  },
  async run(input) {
    const idTag = idTagArgument(input)
    const word = argument(input, 'STATUS')
    const status = profileStatuses.find((each) => each.toLowerCase() === word.toLowerCase())
    if (status === undefined) throw new UsageError(`A status is ${profileStatuses.join(' or ')}`)
    const change = { status, banReason: readReason(input), banExpiresAt: timeOption(input, 'until') }
    return withProgram(input, async (program) => {
      const { services, identity } = program
      const request = { ...(await getOperator(program)), idTag, change }
      await refusingInvalid(() => changeIdentity(deciding(services, identity), request), {
        banReason: '--reason',
        banExpiresAt: '--until',
      })
      const relation = (await findRelation(services.db.reader(serverTenant), idTag)) ?? noRelation(idTag)
      return { text: `${idTag} is ${statusOf(relation)}.`, data: { identity: identityView(relation) } }
    })
  },
}

function readReason(input: CommandInput): string | undefined {
  const reason = textOption(input, 'reason')
  if (reason !== undefined && (reason === '' || reason.length > 500))
    throw new UsageError('--reason has 1 to 500 characters')
  return reason
}

function identityView(relation: Relation) {
  const { idTag, updatedAt } = relation
  return {
    idTag,
    status: statusOf(relation),
    ...banView(relation),
    ...(updatedAt === undefined ? {} : { decidedAt: toIso(updatedAt) }),
  }
}

function rowOf({ idTag, status, decidedAt = '', ...ban }: ReturnType<typeof identityView>): string[] {
  const until = ban.banExpiresAt === undefined ? '' : `until ${ban.banExpiresAt}`
  return [idTag, status, decidedAt.slice(0, 10), until, ban.banReason ?? '']
}
