import type { CommunityRole, IdTag } from '@kith/protocol'
import {
  accountsMigrations,
  createAccount,
  createPasswordHasher,
  setPassword,
} from '#features/accounts/index.ts'
import { auditMigrations } from '#features/audit/index.ts'
import { referencesMigrations } from '#features/references/index.ts'
import { Authenticator, defaultLifetimes, LastUse, sessionsMigrations } from '#features/sessions/index.ts'
import { signInMigrations } from '#features/sign-in/index.ts'
import { createTenant, openTenants, tenantsMigrations } from '#features/tenants/index.ts'
import { type Database, type Migration, serverTenant, type TenantId } from '#infra/db/index.ts'
import type { OpenTestDatabase } from './each-dialect.ts'
import { TestClock } from './test-clock.ts'
import { TestKeys } from './test-keys.ts'

export const signInLabMigrations: readonly Migration[] = [
  ...tenantsMigrations,
  ...auditMigrations,
  ...accountsMigrations,
  ...sessionsMigrations,
  ...referencesMigrations,
  ...signInMigrations,
]

/** Everything that sign-in needs, with the other features' parts as plain values that a test may change. */
export async function openSignInLab(open: OpenTestDatabase) {
  const clock = new TestClock()
  const db = await open({ migrations: signInLabMigrations, clock })
  return signInLab(db, clock, new TestKeys())
}

export type SignInLab = ReturnType<typeof signInLab>

/** Another process on the same database has the same keys and the same clock. */
export function signInLab(db: Database, clock: TestClock, keys: TestKeys) {
  const tenants = openTenants({ db, clock })
  const lastUse = new LastUse(db, clock)
  const tenantIds = new Map<IdTag, TenantId>()
  const roles = new Map<string, CommunityRole>()
  const passwords = createPasswordHasher({ memoryKiB: 64, passes: 1 })
  const names = new Map<TenantId, string>()
  const ports = {
    findIdentityKey: keys.findIdentityKey(tenantIds),
    findRole: async (_: unknown, callerTag: IdTag) => roles.get(callerTag) ?? ('public' as const),
    createOwnProfile: async (tx: { tenantId: TenantId }, { name }: { name: string }) =>
      void names.set(tx.tenantId, name),
  }
  const authenticator = new Authenticator({ db, clock, tenants, lastUse, secrets: keys, ...ports })
  const deps = {
    db,
    clock,
    tenants,
    authenticator,
    passwords,
    keys,
    vault: keys,
    secrets: keys,
    ...ports,
    findLifetimes: async () => defaultLifetimes,
    findOwnProfile: async ({ tenantId }: { tenantId: TenantId }) => ({ name: names.get(tenantId) ?? '?' }),
    listLoginSettings: async (): Promise<[string, string][]> => [['theme', 'dark']],
    requiresVerifiedEmail: async () => false,
    hasIdentity: async (idTag: IdTag) => tenantIds.has(idTag),
    findFileAccess: async (): Promise<'read' | 'write' | undefined> => undefined,
  }

  async function makeTenant(
    idTag: string,
    options: { type?: 'person' | 'community'; password?: string; isBase?: boolean; email?: string } = {},
  ) {
    const { type = 'person', password, isBase = false, email } = options
    const hash = password === undefined ? undefined : await passwords.hash(password)
    const tenant = await db.transact(serverTenant, async (tx) => {
      const made = await createTenant(deps, tx, { idTag: idTag as IdTag, type, name: idTag, isBase })
      const own = tx.as(made.tenantId)
      if (type === 'person') await createAccount(deps, own, email === undefined ? {} : { email })
      if (hash !== undefined) await setPassword(deps, own, hash)
      return made
    })
    tenantIds.set(tenant.idTag, tenant.tenantId)
    return tenant
  }

  return { db, clock, keys, tenants, lastUse, roles, deps, makeTenant }
}
