import type { DeliveryHost } from '@kith/protocol'
import { listDeliveryHosts } from '#features/federation/index.ts'
import { listGroups } from '#infra/jobs/index.ts'
import { type Command, countOption, hasFlag } from '../command.ts'
import { columns, counted } from '../help.ts'
import { withProgram } from '../open-program.ts'

const mostListed = 999

export const deliveries: Command = {
  name: 'deliveries',
  summary: 'Show the servers to which actions are delivered: what waits, since when, and which of them rest.',
  description:
    'After five failures in a row a server rests, at first for seconds, later for up to an hour, and is then tried with one delivery. Each delivery is tried for seven days.',
  positionals: [],
  options: {
    failing: { type: 'boolean', meaning: 'Only servers whose last delivery did not arrive.' },
    limit: { type: 'string', value: 'N', meaning: `How many, at most ${mostListed}; 100 when absent.` },
  },
  async run(input) {
    const limit = countOption(input, 'limit', { most: mostListed, fallback: 100 })
    const failing = hasFlag(input, 'failing')
    return withProgram(input, async ({ services: { db, clock } }) => {
      const page = await listDeliveryHosts({ db, listGroups }, { limit, failing })
      const { items: hosts, nextCursor } = page
      const rows = hosts.map((host) => [
        host.host,
        `${host.queued} waiting`,
        host.oldestAt === undefined ? '' : `since ${host.oldestAt}`,
        stateOf(host, clock.now()),
      ])
      const more = nextCursor === null ? [] : ['There are more: --limit']
      const none = failing ? 'No server fails now.' : 'Nothing was delivered lately.'
      const text = rows.length === 0 ? none : [...columns(rows), ...more]
      return { text, data: { hosts, isComplete: nextCursor === null } }
    })
  },
}

function stateOf({ failures, restsUntil }: DeliveryHost, nowMs: number): string {
  if (failures === 0) return 'ok'
  const failed = `${counted(failures, 'failure')} in a row`
  const isResting = restsUntil !== undefined && Date.parse(restsUntil) > nowMs
  return isResting ? `${failed}, rests until ${restsUntil}` : failed
}
