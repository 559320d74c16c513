import type { IdTag, LoginSession, PasskeyLoginChallenge } from '@kith/protocol'
import { getSignInEpoch } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Device } from '../sessions/start-session.ts'
import { answerLogin, type CompleteLoginDeps, startPersonalSession } from '../sign-in/complete-login.ts'
import {
  checkPasskey,
  type PasskeyAnswer,
  type PasskeyLoginDeps,
  refusePasskey,
  usePasskey,
} from './check-passkey.ts'
import { loadWebAuthn } from './load-webauthn.ts'
import { challengeLifeSecs, makeChallenge } from './passkey-challenge.ts'
import { listPasskeys } from './passkey-store.ts'

/** A challenge for signing in. Another identity than the host's looks like a tenant without passkeys. */
export async function challengePasskeyLogin(
  deps: CompleteLoginDeps,
  { tenant, idTag }: { tenant: Tenant; idTag?: IdTag | undefined },
): Promise<PasskeyLoginChallenge> {
  const passkeys = await listPasskeys(deps.db.reader(tenant.tenantId))
  const offered = idTag === tenant.idTag ? passkeys : []
  const challenge = await makeChallenge(deps, tenant, 'sign-in')
  const allowCredentials = offered.map(({ keyId, transports }) => ({
    type: 'public-key' as const,
    id: keyId,
    ...(transports.length > 0 ? { transports: [...transports] } : {}),
  }))
  const options = await (await loadWebAuthn()).generateAuthenticationOptions({
    rpID: tenant.idTag,
    challenge: Buffer.from(challenge, 'base64url'),
    timeout: challengeLifeSecs * 1000,
    userVerification: 'preferred',
    allowCredentials,
  })
  return { challenge, rpId: tenant.idTag, allowCredentials, options: { ...options } }
}

/** Signs the tenant's owner in with a passkey. Every failure answers the same `E-AUTH-BADCRED`. */
export async function loginWithPasskey(
  deps: PasskeyLoginDeps,
  { tenant, device, answer }: { tenant: Tenant; device: Device; answer: PasskeyAnswer },
): Promise<LoginSession> {
  const epoch = await getSignInEpoch(deps.db.reader(tenant.tenantId))
  const proof = await checkPasskey(deps, { tenant, device, answer })
  const lifetimes = await deps.findLifetimes(tenant.tenantId)
  const session = await deps.db.transact(tenant.tenantId, async (tx) => {
    if (!(await usePasskey(deps, tx, proof))) return undefined
    return startPersonalSession(deps, tx, { tenant, method: 'passkey', device, lifetimes, epoch })
  })
  if (!session) throw await refusePasskey(deps, tenant, device)
  return answerLogin(deps, tenant, session)
}
