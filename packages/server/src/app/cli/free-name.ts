import type { IdTag } from '@kith/protocol'
import { findBlockedDomain } from '#features/federation/index.ts'
import { assertNotManaged } from '#features/idp/index.ts'
import { isProxied } from '#features/proxy/index.ts'
import { refusalOf } from '#features/registration/index.ts'
import { isBlockedByServer } from '#features/relations/index.ts'
import { findTenantByHost } from '#features/tenants/index.ts'
import type { Config } from '#infra/config/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { assertCanBeServed } from '../served-tenants.ts'
import type { Program } from './open-program.ts'

/** Throws where this server could not serve the name, has given it to somebody, or has decided against whoever has it:
 * nobody would hear such a tenant. To be asked in the transaction that makes it. */
export async function assertFree(config: Config, tx: Writer, name: IdTag): Promise<void> {
  assertCanBeServed(config, name)
  await assertNotManaged(tx, name)
  if ((await findTenantByHost(tx, name)) || (await isProxied(tx, name))) throw new Failure('E-PROFILE-EXISTS')
  if (await isBlockedByServer(tx, name))
    throw new Failure('E-STATE', {
      message: `An administrator has suspended, banned or blocked ${name} on this server. To end that: kith identity set ${name} Active`,
    })
  const domain = await findBlockedDomain(tx.as(serverTenant), name)
  if (domain !== undefined)
    throw new Failure('E-STATE', {
      message: `This server blocks the domain ${domain}. To end that: kith domain unblock ${domain}`,
    })
}

/** Throws `E-STATE` for a name that this server gives to nobody, whoever asks. */
export async function assertNotReserved({ services, identity }: Program, name: IdTag): Promise<void> {
  const { baseIdTag, federation } = services.config
  const reserved = await identity.settings.find(serverTenant, 'idp.reserved_names')
  const rules = { baseIdTag, reserved, ownHosts: federation.localAddresses }
  // Of the kinds of names a community may have any.
  const refusal = refusalOf(name, 'community', rules)
  if (refusal === undefined) return
  const isReserved = refusalOf(name, 'community', { ...rules, reserved: [] }) === undefined
  const advice = isReserved ? ' To see what is: kith settings get idp.reserved_names' : ''
  throw new Failure('E-STATE', { message: `${refusal}${advice}` })
}
