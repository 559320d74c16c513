import type { IdTag, RefId } from '@kith/protocol'
import {
  assertAcceptablePassword,
  findAccount,
  listReferenceRows,
  type PasswordHasher,
  setPassword,
} from '#features/accounts/index.ts'
import { findBaseTenant, type HostedTenant } from '#features/tenants/index.ts'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { type MakePersonDeps, makePerson, makeWelcome } from './make-person.ts'

interface EnsureBaseTenantDeps extends MakePersonDeps {
  readonly db: Database
  readonly passwords: Pick<PasswordHasher, 'hash'>
}

/** What the start of the server needs to know. `setUpRefId` is there while the base tenant has no password: the token
 * with which the person who runs the server sets it. */
interface BaseTenant {
  readonly tenant: HostedTenant
  readonly setUpRefId?: RefId
  /** A password was given, and the tenant has one already, which stays. */
  readonly isPasswordIgnored?: true
}

/** Makes the base tenant when there is none, and ensures that its owner can sign in. Any number of nodes may do this at
 * once. */
export async function ensureBaseTenant(
  deps: EnsureBaseTenantDeps,
  { idTag, password }: { idTag: IdTag; password?: string | undefined },
): Promise<BaseTenant> {
  if (password !== undefined) assertAcceptablePassword(password, '/BASE_PASSWORD')
  // Outside the transaction, and only where it may be needed: a hash costs every start 30 ms and as many megabytes.
  const isNeeded = password !== undefined && !(await hasPassword(deps.db))
  const hash = isNeeded ? await deps.passwords.hash(password) : undefined
  return deps.db.transact(serverTenant, async (tx) => {
    const tenant =
      (await findBaseTenant(tx)) ?? (await makePerson(deps, tx, { idTag, name: idTag, isBase: true }))
    if (tenant.idTag !== idTag)
      throw new Error(`This server belongs to ${tenant.idTag}: BASE_ID_TAG cannot be changed to ${idTag}`)
    const own = tx.as(tenant.tenantId)
    const account = await findAccount(own)
    if (account?.passwordHash !== undefined)
      return { tenant, ...(password !== undefined && !isNeeded ? { isPasswordIgnored: true } : {}) }
    if (hash === undefined) return { tenant, setUpRefId: await findOrMakeSetUp(deps, own) }
    await setPassword(deps, own, hash)
    return { tenant }
  })
}

async function hasPassword(db: Database): Promise<boolean> {
  const base = await findBaseTenant(db.reader(serverTenant))
  const account = base && (await findAccount(db.reader(base.tenantId)))
  return account?.passwordHash !== undefined
}

/** The same link at every start, until it is used: a second node or a restart must not take it away. */
async function findOrMakeSetUp(deps: EnsureBaseTenantDeps, own: Writer): Promise<RefId> {
  const now = nowSecs(deps.clock)
  const filter = { type: 'welcome', state: 'active', now, offset: 0, limit: 1 } as const
  const { references } = await listReferenceRows(deps.vault, own, filter)
  const [known] = references
  return known?.refId ?? (await makeWelcome(deps, own, { description: 'Set-up' }))
}
