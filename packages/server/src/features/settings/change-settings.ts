import { type SettingLevel, type SettingName, type SettingView, scopeAllows } from '@kith/protocol'
import { type Actor, auditActor } from '#features/audit/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { SettingEvent } from './events.ts'
import type { Settings, SettingsDeps } from './open-settings.ts'
import { isTenantsOwn } from './read-settings.ts'
import { sealValue } from './sealed-value.ts'
import { getKnownName, type KnownName, textOf } from './setting.ts'
import { deleteStoredSetting, putStoredSetting, sumFreeSettings } from './setting-store.ts'

export interface ChangeSettingsDeps extends SettingsDeps {
  readonly settings: Settings
  readonly emit: Emit<SettingEvent>
}

type Change = Actor & {
  readonly tenant: Tenant
  readonly name: string
  /** Where to set it; where its definition says when absent. */
  readonly level?: SettingLevel | undefined
}

// Free names are for clients' own small things, not for storage.
const maxFreeNames = 500
const maxFreeBytes = 1024 ** 2

/** Sets a value. `E-AUTH-FORBIDDEN` unless the caller may change the setting there. */
export async function putSetting(
  deps: ChangeSettingsDeps,
  change: Change & { readonly value: unknown },
): Promise<SettingView> {
  const { tenant, value } = change
  const known = getKnownName(change.name)
  const level = levelFor(known, change)
  if (level !== 'global' && known.kind === 'defined' && known.definition.isServerWide)
    throw invalid('/query/scope', 'This setting holds for the whole server: it cannot be set for one tenant.')
  const text = textOf(known, value)
  await deps.db.transact(tenant.tenantId, async (tx) => {
    const target = level === 'global' ? tx.as(serverTenant) : tx
    await store(deps, target, { known, text })
    await record(deps, tx, { change, known, level, event: 'setting.changed' })
  })
  return [known.name, isSecret(known) ? null : value]
}

/** Sets a value of the tenant of `tx` without checking rights: for code that makes the tenant. */
export async function putOwnSetting(
  deps: Omit<ChangeSettingsDeps, 'emit'>,
  tx: Writer,
  { name, value }: { readonly name: SettingName; readonly value: unknown },
): Promise<void> {
  const known = getKnownName(name)
  await store(deps, tx, { known, text: textOf(known, value) })
  tx.afterCommit(() => deps.settings.forget())
}

/** Removes a value. It need not exist, but a free name without a value is unknown. */
export async function deleteSetting(deps: ChangeSettingsDeps, change: Change): Promise<void> {
  const known = getKnownName(change.name)
  const level = levelFor(known, change)
  await deps.db.transact(change.tenant.tenantId, async (tx) => {
    const target = level === 'global' ? tx.as(serverTenant) : tx
    const wasThere = await deleteStoredSetting(target, known.name)
    if (!wasThere && known.kind === 'free')
      throw new Failure('E-NOTFOUND', { message: 'This setting has no value.' })
    await record(deps, tx, { change, known, level, event: 'setting.removed' })
  })
}

/** Where the caller's change goes. Administrators are known as such on the base tenant's host alone. */
function levelFor(known: KnownName, { caller, level }: Change): SettingLevel {
  if (known.kind === 'free') {
    if (level === 'global')
      throw new Failure('E-AUTH-FORBIDDEN', { message: 'Names under ui. and app. are set for one tenant.' })
    if (!isTenantsOwn(caller)) throw new Failure('E-AUTH-FORBIDDEN')
    return 'tenant'
  }
  const { scope, permission, isOwnerOnly } = known.definition
  if (scope === 'system' || permission === 'system')
    throw new Failure('E-AUTH-FORBIDDEN', { message: 'This setting cannot be changed.' })
  const target = level ?? scope
  if (target !== 'global' && !isTenantsOwn(caller)) throw new Failure('E-AUTH-FORBIDDEN')
  const mayAdminister = caller.isAdmin && scopeAllows(caller.scope, 'admin:settings')
  if ((target === 'global' || permission === 'admin') && !mayAdminister) throw new Failure('E-AUTH-FORBIDDEN')
  if (isOwnerOnly && !caller.isOwner)
    throw new Failure('E-AUTH-FORBIDDEN', { message: 'The owner of the base tenant alone sets this.' })
  return target
}

async function store(
  { vault, clock }: SettingsDeps,
  target: Writer,
  { known, text }: { known: KnownName; text: string },
): Promise<void> {
  const { name } = known
  const isFree = known.kind === 'free'
  if (isFree) await assertSettingFits(target, name, text)
  const value = isSecret(known) ? { sealed: sealValue(vault, target.tenantId, name, text) } : { text }
  await putStoredSetting(target, { name, ...value, isFree, now: nowSecs(clock) })
}

async function assertSettingFits(tx: Writer, name: string, text: string): Promise<void> {
  const others = await sumFreeSettings(tx, name)
  const bytes = others.bytes + Buffer.byteLength(text)
  if (others.names >= maxFreeNames || bytes > maxFreeBytes)
    throw new Failure('E-QUOTA', { message: 'Settings of clients take at most 500 names and 1 MiB.' })
}

/** What an administrator or a command changes concerns others, so it leaves a trail: the name, never the value. */
async function record(
  deps: ChangeSettingsDeps,
  tx: Writer,
  happened: {
    readonly change: Change
    readonly known: KnownName
    readonly level: SettingLevel
    readonly event: 'setting.changed' | 'setting.removed'
  },
): Promise<void> {
  const { change, known, level, event } = happened
  tx.afterCommit(() => deps.settings.forget())
  const isForAll = level === 'global'
  await deps.emit(tx, { kind: 'setting.changed', name: known.name, isForAll, byTag: change.caller.idTag })
  const isOwn = !isForAll && (known.kind === 'free' || known.definition.permission !== 'admin')
  if (isOwn && !('by' in change)) return
  const details = { name: known.name, scope: level }
  await auditActor(deps, tx, { actor: change, event, details })
}

function isSecret(known: KnownName): boolean {
  return known.kind === 'defined' && known.definition.isSecret === true
}
