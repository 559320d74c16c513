import type { IdTag, LoginSession, PasskeyLoginChallenge } from '@kith/protocol'
import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { audit } from '#features/audit/index.ts'
import { getSignInEpoch } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Reader, serverTenant } from '#infra/db/index.ts'
import { rateKeyOf } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { hasSignedInFrom } from '../sessions/session-store.ts'
import type { Device } from '../sessions/start-session.ts'
import { signInBuckets, signInTurn } from '../sign-in/attempt-buckets.ts'
import {
  answerLogin,
  type CompleteLoginDeps,
  getActiveTenant,
  startPersonalSession,
} from '../sign-in/complete-login.ts'
import { countAttempt, forgiveAttempt } from '../sign-in/count-attempt.ts'
import { loadWebAuthn } from './load-webauthn.ts'
import {
  challengeLifeSecs,
  consumeChallenge,
  makeChallenge,
  passkeyOrigins,
  passkeyUserId,
} from './passkey-challenge.ts'
import { listPasskeys, type Passkey, updatePasskeyUse } from './passkey-store.ts'

export interface PasskeyLoginDeps extends CompleteLoginDeps {
  /** Where the tenant's pages are. */
  serverUrlOf(tenant: Tenant): string
}

/** The answer of an authenticator to a sign-in, as in the contract. */
interface PasskeyAnswer {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
    readonly userHandle?: string
  }
}

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
  const reader = deps.db.reader(tenant.tenantId)
  const { buckets, turn } = await roomFor(reader, tenant, device)
  await countAttempt(deps, buckets, turn)
  const epoch = await getSignInEpoch(reader)
  const passkeys = await listPasskeys(reader)
  const passkey = passkeys.find(({ keyId }) => keyId === answer.id)
  const counter = passkey && (await verify(deps, { tenant, answer, passkey }))
  if (!passkey || counter === undefined) throw await refusal(deps, tenant, device)
  const lifetimes = await deps.findLifetimes(tenant.tenantId)
  const session = await deps.db.transact(tenant.tenantId, async (tx) => {
    const use = { keyId: passkey.keyId, counter, usedAt: nowSecs(deps.clock) }
    if (!(await updatePasskeyUse(tx, use))) return undefined
    await forgiveAttempt(tx, buckets)
    return startPersonalSession(deps, tx, { tenant, method: 'passkey', device, lifetimes, epoch })
  })
  if (!session) throw await refusal(deps, tenant, device)
  return answerLogin(deps, tenant, session)
}

/** A signature cannot be guessed, but each wrong one costs a check and an audit entry. */
async function roomFor(reader: Reader, tenant: Tenant, { ip }: Device) {
  const isKnown = await hasSignedInFrom(reader, tenant.idTag, ip)
  const idTag = `passkey ${tenant.idTag}`
  const place = rateKeyOf(ip)
  const buckets = signInBuckets(tenant.tenantId, serverTenant, { idTag, place, isKnown })
  return { buckets, turn: isKnown ? undefined : signInTurn(tenant.tenantId, { idTag, place }) }
}

/** The new counter of a good answer. */
async function verify(
  deps: PasskeyLoginDeps,
  { tenant, answer, passkey }: { tenant: Tenant; answer: PasskeyAnswer; passkey: Passkey },
): Promise<number | undefined> {
  const hosted = await getActiveTenant(deps, tenant)
  const { userHandle } = answer.response
  if (answer.id !== answer.rawId) return undefined
  if (userHandle !== undefined && userHandle !== passkeyUserId(tenant)) return undefined
  const response: AuthenticationResponseJSON = { ...answer, clientExtensionResults: {} }
  try {
    const { verified, authenticationInfo } = await (await loadWebAuthn()).verifyAuthenticationResponse({
      response,
      expectedChallenge: (challenge) => consumeChallenge(deps, tenant, { challenge, purpose: 'sign-in' }),
      expectedOrigin: passkeyOrigins(deps.serverUrlOf(tenant), hosted),
      expectedRPID: tenant.idTag,
      credential: {
        id: passkey.keyId,
        publicKey: new Uint8Array(passkey.publicKey),
        counter: passkey.counter,
      },
      requireUserVerification: false,
    })
    return verified ? authenticationInfo.newCounter : undefined
  } catch (error) {
    // The library throws plain errors for every refusal; failures of our own are passed on.
    if (error instanceof Failure) throw error
    return undefined
  }
}

async function refusal({ db, clock }: PasskeyLoginDeps, tenant: Tenant, device: Device): Promise<Failure> {
  await db.transact(tenant.tenantId, (tx) =>
    audit({ clock }, tx, { event: 'sign-in.failed', ip: device.ip, details: { method: 'passkey' } }),
  )
  return new Failure('E-AUTH-BADCRED', { message: 'This passkey cannot be used here.' })
}
