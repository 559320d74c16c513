import type { RefId } from '@kith/protocol'
import { createAccount, makeReference } from '#features/accounts/index.ts'
import {
  type CreateTenantDeps,
  createTenant,
  type HostedTenant,
  type NewTenant,
} from '#features/tenants/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'

export interface MakePersonDeps extends CreateTenantDeps {
  readonly vault: Vault
}

/** How long the first password can be set with a welcome. */
export const welcomeValidSecs = 30 * 24 * 3600

/** Makes a person's tenant with an account that has no password yet: for the first start, the command line and
 * registrations. */
export async function makePerson(
  deps: MakePersonDeps,
  tx: Writer,
  { email, ...person }: Omit<NewTenant, 'type' | 'ownerTag'> & { readonly email?: string | undefined },
): Promise<HostedTenant> {
  const tenant = await createTenant(deps, tx, { ...person, type: 'person' })
  await createAccount(deps, tx.as(tenant.tenantId), email === undefined ? {} : { email })
  return tenant
}

/** Makes the reference with which a new person sets the first password; `own` is bound to them. */
export async function makeWelcome(
  deps: { readonly vault: Vault; readonly clock: Clock },
  own: Writer,
  { description }: { readonly description?: string } = {},
): Promise<RefId> {
  const { refId } = await makeReference(deps, own, {
    type: 'welcome',
    expiresAt: nowSecs(deps.clock) + welcomeValidSecs,
    ...(description === undefined ? {} : { description }),
  })
  return refId
}
