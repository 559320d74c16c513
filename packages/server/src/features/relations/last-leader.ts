import type { IdTag } from '@kith/protocol'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { listLeaders, listLed } from './relation-store.ts'

/** Is this identity the only leader of the community of the reader? */
export async function isLastLeader(reader: Reader, idTag: IdTag): Promise<boolean> {
  const leaders = await listLeaders(reader)
  return leaders.includes(idTag) && leaders.length === 1
}

/** The communities of this server that no other identity leads, whether or not this one may lead them now. */
export async function listLedAlone(tx: Writer, idTag: IdTag): Promise<TenantId[]> {
  const alone: TenantId[] = []
  for (const tenantId of await listLed(tx, idTag)) {
    const leaders = await listLeaders(tx.as(tenantId))
    if (leaders.every((leader) => leader === idTag)) alone.push(tenantId)
  }
  return alone
}

/** The failure of a change that would leave a community without a leader. */
export function lastLeader(): Failure {
  return new Failure('E-STATE', {
    message: 'A community cannot be without a leader: appoint another one first.',
  })
}
