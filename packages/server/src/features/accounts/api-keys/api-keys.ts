import {
  type ApiKeyView,
  formatScope,
  intersectScopes,
  type NewApiKeyView,
  parseScope,
  type Scope,
  toIso,
} from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database, Reader } from '#infra/db/index.ts'
import { acceptName } from '#lib/accept-name.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { newApiKey } from '../sessions/api-key.ts'
import { assertRecentlySignedIn, assertSessionLives } from '../sessions/personal-caller.ts'
import { neverUsed, type Session, secretHash } from '../sessions/session.ts'
import { listSessions } from '../sessions/session-store.ts'
import {
  changeSession,
  type Device,
  type RevokeDeps,
  revokeSession,
  startSession,
} from '../sessions/start-session.ts'

export interface ApiKeyDeps extends RevokeDeps {
  readonly db: Database
}

interface Owner {
  readonly tenant: Tenant
  readonly caller: Identified
}

const maxKeys = 100
const prefixLength = 8

export async function listApiKeys({ db }: Pick<ApiKeyDeps, 'db'>, owner: Owner): Promise<ApiKeyView[]> {
  return (await keysOf(db.reader(owner.tenant.tenantId), owner)).map(toView)
}

export async function getApiKey(
  { db }: Pick<ApiKeyDeps, 'db'>,
  { keyId, ...owner }: Owner & { keyId: string },
): Promise<ApiKeyView> {
  return toView(await getKey(db.reader(owner.tenant.tenantId), owner, keyId))
}

/** An API key is a session without an end of its own, used with a secret instead of a token. */
export async function createApiKey(
  deps: ApiKeyDeps,
  input: Owner & { name: string; scope?: string; expiresAt?: number; device: Device },
): Promise<NewApiKeyView> {
  const { tenant, caller, expiresAt, device } = input
  assertRecentlySignedIn(deps, caller)
  const name = acceptName(input.name)
  if (expiresAt !== undefined && expiresAt <= nowSecs(deps.clock))
    throw invalid('/expiresAt', 'This time has passed.')
  const scope = narrowed(caller, input.scope)
  const key = newApiKey()
  const session = await deps.db.transact(tenant.tenantId, async (tx) => {
    await assertSessionLives(deps, tx, caller)
    if ((await keysOf(tx, input)).length >= maxKeys)
      throw new Failure('E-STATE', { message: `There are ${maxKeys} keys already: remove one first.` })
    const started = await startSession(deps, tx, {
      callerTag: caller.idTag,
      method: 'apikey',
      scope,
      device,
      expiresAt,
      label: name,
      secretHash: secretHash(key),
      secretPrefix: key.slice(0, prefixLength),
    })
    const details = { keyId: started?.sid, name }
    await audit(deps, tx, { event: 'api-key.created', actorTag: caller.idTag, ip: device.ip, details })
    return started
  })
  if (!session) throw new Error('A session id made by chance exists already')
  return { ...toView(session), key }
}

export async function updateApiKey(
  deps: ApiKeyDeps,
  input: Owner & { keyId: string; name?: string; scope?: string; ip: string },
): Promise<ApiKeyView> {
  const { tenant, caller, keyId, ip } = input
  if (input.scope !== undefined) assertRecentlySignedIn(deps, caller)
  const name = input.name === undefined ? undefined : acceptName(input.name)
  const scope = input.scope === undefined ? undefined : narrowed(caller, input.scope)
  return deps.db.transact(tenant.tenantId, async (tx) => {
    await assertSessionLives(deps, tx, caller)
    await getKey(tx, input, keyId)
    await changeSession(deps, tx, { sid: keyId, label: name, scope })
    await audit(deps, tx, { event: 'api-key.changed', actorTag: caller.idTag, ip, details: { keyId } })
    return toView(await getKey(tx, input, keyId))
  })
}

export async function deleteApiKey(
  deps: ApiKeyDeps,
  { tenant, caller, keyId, ip }: Owner & { keyId: string; ip: string },
): Promise<void> {
  await deps.db.transact(tenant.tenantId, async (tx) => {
    const own = { sid: keyId, callerTag: caller.idTag, methods: ['apikey'] } as const
    if (!(await revokeSession(deps, tx, own))) throw new Failure('E-NOTFOUND')
    await audit(deps, tx, { event: 'api-key.deleted', actorTag: caller.idTag, ip, details: { keyId } })
  })
}

function keysOf(reader: Reader, { caller }: Owner): Promise<Session[]> {
  return listSessions(reader, { callerTag: caller.idTag, methods: ['apikey'] })
}

async function getKey(reader: Reader, owner: Owner, keyId: string): Promise<Session> {
  const key = (await keysOf(reader, owner)).find(({ sid }) => sid === keyId)
  if (!key) throw new Failure('E-NOTFOUND')
  return key
}

/** A key is worth what was asked and what its maker's token is, never more. */
function narrowed(caller: Identified, text: string | undefined): Scope | undefined {
  const asked = text === undefined ? undefined : parseScope(text)
  if (text !== undefined && !asked) throw invalid('/scope', 'This names a scope that does not exist.')
  const scope = intersectScopes(caller.scope, asked)
  if (scope?.length === 0) throw new Failure('E-AUTH-FORBIDDEN')
  return scope
}

function toView(session: Session): ApiKeyView {
  const { sid, label, secretPrefix, scope, createdAt, lastUsedAt, expiresAt } = session
  return {
    keyId: sid,
    name: label ?? '',
    prefix: secretPrefix ?? '',
    createdAt: toIso(createdAt),
    ...(scope === undefined ? {} : { scope: formatScope(scope).replaceAll(' ', ',') }),
    ...(lastUsedAt > neverUsed ? { lastUsedAt: toIso(lastUsedAt) } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt: toIso(expiresAt) }),
  }
}
