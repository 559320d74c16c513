import type { IdTag } from '@kith/protocol'
import type { Reader } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { listLeaders } from './relation-store.ts'

/** Does nobody else lead the community of the reader? */
export async function isLastLeader(reader: Reader, idTag: IdTag): Promise<boolean> {
  const leaders = await listLeaders(reader)
  return leaders.includes(idTag) && leaders.length === 1
}

/** At least one leader always remains (DECISIONS part 7). */
export function lastLeader(): Failure {
  return new Failure('E-STATE', {
    message: 'A community cannot be without a leader: appoint another one first.',
  })
}
