import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { audit } from '#features/audit/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Reader, serverTenant, type Writer } from '#infra/db/index.ts'
import { rateKeyOf } from '#infra/http/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { hasSignedInFrom } from '../sessions/session-store.ts'
import type { Device } from '../sessions/start-session.ts'
import { type AttemptBucket, signInBuckets, signInTurn } from '../sign-in/attempt-buckets.ts'
import { type CompleteLoginDeps, getActiveTenant } from '../sign-in/complete-login.ts'
import { countAttempt, forgiveAttempt } from '../sign-in/count-attempt.ts'
import { logFailedSignIn } from '../sign-in/log-failed-sign-in.ts'
import { loadWebAuthn } from './load-webauthn.ts'
import { consumeChallenge, passkeyOrigins, passkeyUserId } from './passkey-challenge.ts'
import { listPasskeys, type Passkey, updatePasskeyUse } from './passkey-store.ts'

export interface PasskeyLoginDeps extends CompleteLoginDeps {
  /** Where the tenant's pages are. */
  serverUrlOf(tenant: Tenant): string
}

/** The answer of an authenticator to a sign-in, as in the contract. */
export interface PasskeyAnswer {
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

interface PasskeyProof {
  readonly keyId: string
  readonly counter: number
  readonly buckets: readonly AttemptBucket[]
}

/** Checks the answer of a passkey, which is worth nothing a second time. Every failure is the same `E-AUTH-BADCRED`. */
export async function checkPasskey(
  deps: PasskeyLoginDeps,
  { tenant, device, answer }: { tenant: Tenant; device: Device; answer: PasskeyAnswer },
): Promise<PasskeyProof> {
  const reader = deps.db.reader(tenant.tenantId)
  const { buckets, turn } = await roomFor(reader, tenant, device)
  await countAttempt(deps, buckets, turn)
  const passkeys = await listPasskeys(reader)
  const passkey = passkeys.find(({ keyId }) => keyId === answer.id)
  const counter = passkey && (await verify(deps, { tenant, answer, passkey }))
  if (!passkey || counter === undefined) throw await refusePasskey(deps, tenant, device)
  return { keyId: passkey.keyId, counter, buckets }
}

/** Notes the use, in the transaction of what the passkey was asked for. False when it was used meanwhile, or is gone. */
export async function usePasskey(
  { clock }: { readonly clock: Clock },
  tx: Writer,
  { keyId, counter, buckets }: PasskeyProof,
): Promise<boolean> {
  if (!(await updatePasskeyUse(tx, { keyId, counter, usedAt: nowSecs(clock) }))) return false
  await forgiveAttempt(tx, buckets)
  return true
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

/** Told to the log and the audit trail, and to the caller without a reason. */
export async function refusePasskey(
  deps: PasskeyLoginDeps,
  tenant: Tenant,
  device: Device,
): Promise<Failure> {
  const { db, clock } = deps
  logFailedSignIn(deps, { ip: device.ip, method: 'passkey', tenant })
  await db.transact(tenant.tenantId, (tx) =>
    audit({ clock }, tx, { event: 'sign-in.failed', ip: device.ip, details: { method: 'passkey' } }),
  )
  return new Failure('E-AUTH-BADCRED', { message: 'This passkey cannot be used here.' })
}
