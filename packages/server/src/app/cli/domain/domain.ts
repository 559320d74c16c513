import type { DomainBlockView } from '@kith/protocol'
import {
  blockDomain,
  type DomainBlockDeps,
  domainBlockView,
  pageDomainBlocks,
  unblockDomain,
} from '#features/federation/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import {
  argument,
  type Command,
  type CommandInput,
  countOption,
  readIdTag,
  refusingInvalid,
  textOption,
  UsageError,
} from '../command.ts'
import { columns } from '../help.ts'
import { type Program, withProgram } from '../open-program.ts'
import { getOperator } from '../operator.ts'

const mostListed = 1000

export const listDomains: Command = {
  name: 'domain list',
  summary: 'Show the domains that the server blocks.',
  positionals: [],
  options: {
    limit: { type: 'string', value: 'N', meaning: `How many, at most ${mostListed}; 100 when absent.` },
  },
  async run(input) {
    const limit = countOption(input, 'limit', { most: mostListed, fallback: 100 })
    return withProgram(input, async ({ services: { db } }) => {
      const { items, nextCursor } = await pageDomainBlocks(db.reader(serverTenant), {
        cursor: undefined,
        limit,
      })
      const blocks = items.map(domainBlockView)
      const more = nextCursor === null ? [] : ['There are more: --limit']
      const text = blocks.length === 0 ? 'No domain is blocked.' : [...columns(blocks.map(rowOf)), ...more]
      return { text, data: { blocks, isComplete: nextCursor === null } }
    })
  },
}

function rowOf({ domain, createdAt, createdBy, reason = '' }: DomainBlockView): string[] {
  return [domain, createdAt.slice(0, 10), createdBy, reason]
}

export const blockDomainCommand: Command = {
  name: 'domain block',
  summary:
    'Block a domain with everything below it: nothing is taken from it, delivered to it or fetched from it.',
  description:
    'A running server notices within five seconds. What its people said before is read by nobody but the tenants that have it, until the block ends. The same domain again changes the reason.',
  positionals: ['DOMAIN'],
  options: {
    reason: { type: 'string', value: 'R', meaning: 'Why, for administrators; at most 500 characters.' },
  },
  async run(input) {
    const domain = domainOf(input)
    const reason = textOption(input, 'reason')
    if (reason !== undefined && (reason === '' || reason.length > 500))
      throw new UsageError('--reason has 1 to 500 characters')
    return withProgram(input, async (program) => {
      const operator = await getOperator(program)
      const { block } = await refusingInvalid(() =>
        blockDomain(depsOf(program), { ...operator, domain, reason }),
      )
      return { text: `${domain} is blocked.`, data: { block: domainBlockView(block) } }
    })
  },
}

export const unblockDomainCommand: Command = {
  name: 'domain unblock',
  summary: 'End the block of a domain.',
  description: 'What was refused meanwhile is not fetched. A running server notices within five seconds.',
  positionals: ['DOMAIN'],
  options: {},
  async run(input) {
    const domain = domainOf(input)
    return withProgram(input, async (program) => {
      const operator = await getOperator(program)
      await unblockDomain(depsOf(program), { ...operator, domain }).catch((error) => {
        if (!(error instanceof Failure) || error.code !== 'E-NOTFOUND') throw error
        throw new Failure('E-NOTFOUND', { message: `${domain} is not blocked.` })
      })
      return { text: `${domain} is not blocked any more.`, data: { domain } }
    })
  },
}

const domainOf = (input: CommandInput) => readIdTag(argument(input, 'DOMAIN'))

// The server forgets what it knows by itself; a command knows nothing.
const depsOf = ({ services }: Program): DomainBlockDeps => ({
  ...services,
  domainBlocks: { forget: () => undefined },
})
