import type { IdTag } from '@kith/protocol'
import { auditCommand } from '#features/audit/index.ts'
import { foundCommunity } from '#features/communities/index.ts'
import { findRelation, setRelation, withStatus } from '#features/relations/index.ts'
import { assertWhole, type HostedTenant } from '#features/tenants/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { getHosted, type Program } from '../open-program.ts'

/** Makes an identity a leader of a community. Its present leaders stay. */
export async function appointLeader(
  program: Program,
  { communityTag, leaderTag }: { readonly communityTag: IdTag; readonly leaderTag: IdTag },
): Promise<void> {
  const { services, identity } = program
  const community = await getHosted(program, communityTag)
  if (community.type !== 'community')
    throw new Failure('E-STATE', { message: `${communityTag} is a person, and has no leader.` })
  const leader = await findLeader(program, leaderTag)
  await services.db.transact(serverTenant, async (tx) => {
    const own = tx.as(community.tenantId)
    const at = nowSecs(services.clock)
    await setRelation(identity, own, leaderTag, { ...withStatus('Active'), at })
    await foundCommunity({ ...services, ...identity }, tx, { community, leaderTag, leader })
    const details = { idTag: leaderTag, to: 'leader' }
    await auditCommand(services, own, { event: 'member.role-changed', details })
  })
}

/** Who is to lead a community, if it lives here. Fails unless there is such a person, who may act on this server. */
export async function findLeader(program: Program, idTag: IdTag): Promise<HostedTenant | undefined> {
  const { services, identity } = program
  // Its name belongs to this server, also before the first start.
  const isBase = idTag === services.config.baseIdTag
  const hosted = isBase ? await getHosted(program, idTag) : await identity.tenants.find(idTag)
  if (hosted) assertWhole(hosted)
  if (hosted?.type === 'community')
    throw new Failure('E-STATE', { message: `${idTag} is a community, and cannot lead another.` })
  if (!hosted) await assertThere(identity, idTag)
  const { isBlocked } = (await findRelation(services.db.reader(serverTenant), idTag)) ?? {}
  if (isBlocked) throw new Failure('E-STATE', { message: `${idTag} is blocked on this server.` })
  return hosted
}

async function assertThere({ identities }: Program['identity'], idTag: IdTag): Promise<void> {
  const { kind } = await identities.resolve(idTag)
  if (kind === 'unknown')
    throw new Failure('E-PROFILE-NOTFOUND', { message: `${idTag} was not found, here or elsewhere.` })
  if (kind === 'unreachable')
    throw new Failure('E-UNAVAILABLE', { message: `The server of ${idTag} does not answer now.` })
}
