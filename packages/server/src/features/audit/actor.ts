import { findBaseTenant, findTenantById } from '#features/tenants/index.ts'
import type { Identified } from '#infra/caller/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { AuditEntry } from './audit.ts'
import { audit } from './write-audit.ts'

/** Who asks for a change, with the rights of `caller`: an identity over the API, or an operator at the command line. */
export type Actor =
  | { readonly caller: Identified; readonly ip: string }
  | { readonly caller: Identified; readonly by: 'command line' }

interface ActorEntry extends Pick<AuditEntry, 'event' | 'details'> {
  readonly actor: Actor
}

/** Notes what a command has done to a tenant, whose handle `tx` is: in its trail, and in that of the base tenant. The
 * command line has no name and no address. */
export async function auditCommand(
  deps: { readonly clock: Clock },
  tx: Writer,
  { event, details }: Pick<AuditEntry, 'event' | 'details'>,
): Promise<void> {
  const entry = { event, details: { ...details, by: 'command line' } }
  await audit(deps, tx, entry)
  await auditAtBase(deps, tx, entry)
}

/** Notes what was done to another tenant, whose handle `tx` is, in the trail of the base tenant: it stays when the tenant is
 * removed. Nothing where the tenant is the base tenant. */
export async function auditAtBase(
  deps: { readonly clock: Clock },
  tx: Writer,
  { details, ...entry }: AuditEntry,
): Promise<void> {
  const base = await findBaseTenant(tx.as(serverTenant))
  if (!base || base.tenantId === tx.tenantId) return
  const tenant = await findTenantById(tx, tx.tenantId)
  await audit(deps, tx.as(base.tenantId), { ...entry, details: { tenant: tenant?.idTag, ...details } })
}

/** Writes a line that names the actor. */
export async function auditActor(
  deps: { readonly clock: Clock },
  tx: Writer,
  { actor, event, details }: ActorEntry,
): Promise<void> {
  if ('by' in actor) return await auditCommand(deps, tx, { event, details: details ?? {} })
  await audit(deps, tx, { event, details: details ?? {}, actorTag: actor.caller.idTag, ip: actor.ip })
}
