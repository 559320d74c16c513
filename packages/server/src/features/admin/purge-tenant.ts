import { type AdminTenant, type IdTag, toIso } from '@kith/protocol'
import { auditActor } from '#features/audit/index.ts'
import { isBlockedByServer } from '#features/relations/index.ts'
import {
  assertNotImported,
  assertOthersLead,
  beginRemoval,
  beingRemoved,
  findTenantByIdTag,
  type HostedTenant,
  suspendTenant,
} from '#features/tenants/index.ts'
import type { Identified } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { assertMayChange, type ByAdmin, type ChangeIdentityDeps } from './change-identity.ts'
import { adminViews } from './list-tenants.ts'
import { findPurge, queuePurge, type Suspended } from './purge-job.ts'

export interface PurgeTenantDeps extends ChangeIdentityDeps {
  readonly vault: Vault
}

type Purge = ByAdmin & {
  readonly idTag: IdTag
  readonly confirm: string | undefined
}

interface PurgeAnswer {
  readonly tenant: AdminTenant
  readonly isBegun: boolean
  readonly confirm?: string
  readonly expiresAt?: string
}

const purpose = 'admin.purge'
const confirmSecs = 600

/** Tells what would go and how to confirm it; with the confirmation it begins. */
export async function purgeTenant(deps: PurgeTenantDeps, request: Purge): Promise<PurgeAnswer> {
  const { tenants, clock } = deps
  const { idTag, caller, confirm } = request
  const found = await tenants.find(idTag)
  if (!found) throw new Failure('E-PROFILE-NOTFOUND')
  await assertMayPurge(deps, request, found)
  const isBegun = confirm !== undefined
  if (isBegun) {
    assertConfirmed(deps, { confirm, caller, found })
    await begin(deps, request, found)
  }
  const [tenant] = await adminViews(deps.db.reader(serverTenant), [(await tenants.find(idTag)) ?? found])
  const answer = { tenant: tenant as AdminTenant, isBegun }
  if (isBegun) return answer
  const expiresAt = nowSecs(clock) + confirmSecs
  return {
    ...answer,
    confirm: confirmation(deps.vault, { caller, found, expiresAt }),
    expiresAt: toIso(expiresAt),
  }
}

/** Fails for a tenant that the caller may not remove, for the only leader of a community, and for a tenant that is being
 * removed; but a command continues what a
 * command has begun. */
async function assertMayPurge(
  { db }: Pick<PurgeTenantDeps, 'db'>,
  request: ByAdmin,
  found: HostedTenant,
): Promise<void> {
  const { tenant, caller } = request
  const { idTag } = found
  assertNotImported(found)
  await assertMayChange({ db }, { tenant, caller, idTag, change: { status: 'Suspended' } }, found)
  const by = await findPurge(db.reader(serverTenant), found)
  const isOwn = by === 'command line' && 'by' in request
  if (by && !isOwn) throw beingRemoved()
  await db.transact(serverTenant, (tx) => assertOthersLead(tx, idTag))
}

/** The tenant that a command is to remove. One that is banned or blocked needs no suspension before, which would take the
 * place of that decision. `E-STATE` for one that is active, and for whom `assertMayPurge` refuses. */
export async function suspendedForPurge(
  deps: ChangeIdentityDeps,
  request: ByAdmin,
  found: HostedTenant,
): Promise<Suspended> {
  await assertMayPurge(deps, request, found)
  const { tenantId, idTag } = found
  if (found.suspendedAt !== undefined) return { ...found, suspendedAt: found.suspendedAt }
  return deps.db.transact(tenantId, async (tx) => {
    if (!(await isBlockedByServer(tx, idTag)))
      throw new Failure('E-STATE', {
        message: `${idTag} is active. Suspend it first: kith tenant suspend ${idTag}`,
      })
    await suspendTenant(deps, tx)
    const suspended = await findTenantByIdTag(tx, idTag)
    return { ...found, suspendedAt: suspended?.suspendedAt ?? nowSecs(deps.clock) }
  })
}

async function begin(deps: PurgeTenantDeps, request: Purge, found: HostedTenant): Promise<void> {
  const { tenant, idTag } = request
  await deps.db.transact(serverTenant, async (tx) => {
    // Another call, or a command, may have begun it meanwhile.
    if (await findPurge(tx, found)) throw beingRemoved()
    const suspendedAt = await beginRemoval(deps, tx.as(found.tenantId))
    await queuePurge(deps.jobs, tx, { ...found, suspendedAt })
    const entry = { actor: request, event: 'tenant.purge-begun', details: { idTag } } as const
    await auditActor(deps, tx.as(tenant.tenantId), entry)
  })
}

interface Confirmed {
  readonly caller: Identified
  readonly found: HostedTenant
}

/** Good for this administrator and this tenant, of which there may be another with the same name later. */
function confirmation(
  vault: Vault,
  { caller, found, expiresAt }: Confirmed & { readonly expiresAt: number },
): string {
  const text = JSON.stringify([caller.idTag, expiresAt])
  return Buffer.from(vault.seal(purpose, found.tenantId, Buffer.from(text))).toString('base64url')
}

function assertConfirmed(
  { vault, clock }: Pick<PurgeTenantDeps, 'vault' | 'clock'>,
  { confirm, caller, found }: Confirmed & { readonly confirm: string },
): void {
  const expired = new Failure('E-GONE', { message: 'Ask again what would go, and confirm that.' })
  let opened: Uint8Array
  try {
    opened = vault.unseal(purpose, found.tenantId, Buffer.from(confirm, 'base64url'))
  } catch {
    throw expired
  }
  const [by, expiresAt] = JSON.parse(Buffer.from(opened).toString()) as [string, number]
  if (by !== caller.idTag || expiresAt <= nowSecs(clock)) throw expired
}
