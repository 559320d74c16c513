import type { IdTag } from '@kith/protocol'
import { passwordLink, setPassword } from '#features/accounts/index.ts'
import { auditCommand } from '#features/audit/index.ts'
import { foundCommunity } from '#features/communities/index.ts'
import { findTenantAbove, makePerson, makeWelcome } from '#features/registration/index.ts'
import { appointAdmin, createTenant, findBaseTenant, type HostedTenant } from '#features/tenants/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { assertFree, assertNotReserved } from '../free-name.ts'
import type { Program } from '../open-program.ts'
import { findLeader } from './appoint-leader.ts'
import { tenantView } from './tenant-view.ts'

export interface TenantRequest {
  readonly idTag: IdTag
  readonly type: HostedTenant['type']
  /** As people call themselves. */
  readonly name?: string
  /** Of a community. */
  readonly ownerTag?: IdTag
  /** Of a person, as are the following. */
  readonly email?: string
  readonly password?: string
  readonly isAdmin: boolean
}

/** Makes a tenant with all that belongs to it. `link` is where a person without a password sets one; `above` is another
 * tenant below whose name it lies. */
export async function makeTenant(program: Program, request: TenantRequest) {
  const { services, identity, addresses } = program
  const { config } = services
  const { idTag, type, password, name = idTag } = request
  await assertNotReserved(program, idTag)
  const ownerTag = type === 'community' ? (request.ownerTag ?? config.baseIdTag) : undefined
  const hash = password === undefined ? undefined : await identity.passwords.hash(password)
  const leader = ownerTag && (await findLeader(program, ownerTag))
  const made = await services.db.transact(serverTenant, async (tx) => {
    await assertFree(config, tx, idTag)
    const tenant = ownerTag
      ? await createTenant(identity.createTenant, tx, { idTag, type, name, ownerTag })
      : await makePerson({ ...services, ...identity.createTenant }, tx, { idTag, name, email: request.email })
    const own = tx.as(tenant.tenantId)
    if (request.isAdmin) await appoint(program, tx, idTag)
    if (ownerTag)
      await foundCommunity({ ...services, ...identity }, tx, {
        community: tenant,
        leaderTag: ownerTag,
        leader,
      })
    const refId = ownerTag ? undefined : await openAccount(program, own, hash)
    await auditCommand(services, own, { event: 'tenant.created' })
    return { tenant, refId }
  })
  const above = await findTenantAbove({ ...identity, baseIdTag: config.baseIdTag }, idTag)
  const link = made.refId && passwordLink(addresses.serverUrl(idTag), made.refId)
  return {
    tenant: { ...tenantView(made.tenant), name, serverUrl: addresses.serverUrl(idTag) },
    ...(link === undefined ? {} : { link }),
    above: above?.idTag,
  }
}

async function appoint({ services, identity }: Program, tx: Writer, idTag: IdTag): Promise<void> {
  const base = await findBaseTenant(tx)
  if (!base)
    throw new Failure('E-STATE', { message: 'The base tenant is made by the first start: kith serve.' })
  const ofBase = tx.as(base.tenantId)
  await appointAdmin({ ...services, ...identity }, ofBase, idTag)
  const details = { idTag, roles: ['SADM'] }
  await auditCommand(services, ofBase, { event: 'profile.changed-by-admin', details })
}

/** A person's way in: the password, or the reference with which one is set. */
async function openAccount({ services }: Program, own: Writer, hash: string | undefined) {
  if (hash === undefined) return makeWelcome(services, own)
  await setPassword(services, own, hash)
  return undefined
}
