import { type PasskeyView, toIso } from '@kith/protocol'
import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import { audit } from '#features/audit/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { acceptName } from '#lib/accept-name.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { queueAccountMail } from '../mails/queue-account-mail.ts'
import { assertRecentlySignedIn, assertSessionLives } from '../sessions/personal-caller.ts'
import { getActiveTenant } from '../sign-in/complete-login.ts'
import { hasSignInMethod } from '../sign-in/has-sign-in-method.ts'
import type { PasskeyLoginDeps } from './check-passkey.ts'
import { loadWebAuthn } from './load-webauthn.ts'
import {
  challengeLifeSecs,
  consumeChallenge,
  makeChallenge,
  passkeyOrigins,
  passkeyUserId,
} from './passkey-challenge.ts'
import {
  insertPasskey,
  listPasskeys,
  type Passkey,
  removePasskey,
  updatePasskeyName,
} from './passkey-store.ts'

export interface PasskeyDeps extends PasskeyLoginDeps {
  readonly jobs: Pick<Jobs, 'enqueue'>
}

interface Owner {
  readonly tenant: Tenant
  readonly caller: Identified
}

/** The answer of an authenticator that made a passkey, as in the contract. */
interface NewPasskeyAnswer {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly response: {
    readonly clientDataJSON: string
    readonly attestationObject: string
    readonly transports?: string[]
  }
}

const maxPasskeys = 50
// EdDSA, ES256, RS256 (COSE): what authenticators have. The library's default offers every algorithm of the runtime.
const algorithms = [-8, -7, -257]

export async function listOwnPasskeys(
  { db }: Pick<PasskeyDeps, 'db'>,
  { tenant }: Pick<Owner, 'tenant'>,
): Promise<PasskeyView[]> {
  return (await listPasskeys(db.reader(tenant.tenantId))).map(toView)
}

/** What a browser needs to make a passkey. */
export async function challengeNewPasskey(deps: PasskeyDeps, { tenant, caller }: Owner) {
  const known = await listPasskeys(deps.db.reader(tenant.tenantId))
  const profile = await deps.findOwnProfile(tenant)
  const challenge = await makeChallenge(deps, tenant, `register ${caller.sessionId}`)
  const about = {
    rpId: tenant.idTag,
    rpName: tenant.idTag,
    userName: tenant.idTag,
    userId: passkeyUserId(tenant),
  }
  const options = await (await loadWebAuthn()).generateRegistrationOptions({
    rpID: about.rpId,
    rpName: about.rpName,
    userName: about.userName,
    userDisplayName: profile?.name ?? tenant.idTag,
    userID: new Uint8Array(Buffer.from(about.userId, 'base64url')),
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    timeout: challengeLifeSecs * 1000,
    attestationType: 'none',
    supportedAlgorithmIDs: algorithms,
    excludeCredentials: known.map(({ keyId, transports }) => ({ id: keyId, transports: [...transports] })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  })
  return { challenge, ...about, options: { ...options } }
}

/** Adds a passkey to the account of a person who signed in recently, and notifies them by mail. */
export async function addPasskey(
  deps: PasskeyDeps,
  input: Owner & { name: string; answer: NewPasskeyAnswer; ip: string },
): Promise<PasskeyView> {
  const { tenant, caller, ip } = input
  const name = acceptName(input.name)
  assertRecentlySignedIn(deps, caller)
  const made = await verify(deps, input)
  if (!made) throw new Failure('E-AUTH-BADCRED', { message: 'This passkey cannot be added.' })
  const passkey: Passkey = { ...made, name, createdAt: nowSecs(deps.clock) }
  await deps.db.transact(tenant.tenantId, async (tx) => {
    await assertSessionLives(deps, tx, caller)
    if ((await listPasskeys(tx)).length >= maxPasskeys)
      throw new Failure('E-STATE', {
        message: `There are ${maxPasskeys} passkeys already: remove one first.`,
      })
    if (!(await insertPasskey(tx, passkey))) throw new Failure('E-DUPLICATE')
    await queueAccountMail(deps, tx, { template: 'passkey-added' })
    const details = { keyId: passkey.keyId, name }
    await audit(deps, tx, { event: 'passkey.added', actorTag: caller.idTag, ip, details })
  })
  return toView(passkey)
}

/** Names a passkey anew. It stays what it is, so no mail tells of it. */
export async function renamePasskey(
  deps: PasskeyDeps,
  { tenant, caller, keyId, ip, ...asked }: Owner & { keyId: string; name: string; ip: string },
): Promise<PasskeyView> {
  const name = acceptName(asked.name)
  assertRecentlySignedIn(deps, caller)
  return await deps.db.transact(tenant.tenantId, async (tx) => {
    await assertSessionLives(deps, tx, caller)
    const before = (await listPasskeys(tx)).find((passkey) => passkey.keyId === keyId)
    if (!before) throw new Failure('E-NOTFOUND')
    await updatePasskeyName(tx, { keyId, name })
    const details = { keyId, name, before: before.name }
    await audit(deps, tx, { event: 'passkey.renamed', actorTag: caller.idTag, ip, details })
    return toView({ ...before, name })
  })
}

/** Removes a passkey, but never the last way to sign in. */
export async function deletePasskey(
  deps: PasskeyDeps,
  { tenant, caller, keyId, ip }: Owner & { keyId: string; ip: string },
): Promise<void> {
  assertRecentlySignedIn(deps, caller)
  await deps.db.transact(tenant.tenantId, async (tx) => {
    if (!(await removePasskey(tx, keyId))) throw new Failure('E-NOTFOUND')
    if (!(await hasSignInMethod(tx)))
      throw new Failure('E-STATE', { message: 'This is the only way to sign in: set a password first.' })
    await queueAccountMail(deps, tx, { template: 'passkey-removed' })
    await audit(deps, tx, { event: 'passkey.removed', actorTag: caller.idTag, ip, details: { keyId } })
  })
}

async function verify(deps: PasskeyDeps, { tenant, caller, answer }: Owner & { answer: NewPasskeyAnswer }) {
  const hosted = await getActiveTenant(deps, tenant)
  if (answer.id !== answer.rawId) return undefined
  const purpose = `register ${caller.sessionId}` as const
  const { transports = [], ...made } = answer.response
  const response: RegistrationResponseJSON = { ...answer, response: made, clientExtensionResults: {} }
  try {
    const { verified, registrationInfo } = await (await loadWebAuthn()).verifyRegistrationResponse({
      response,
      expectedChallenge: (challenge) => consumeChallenge(deps, tenant, { challenge, purpose }),
      expectedOrigin: passkeyOrigins(deps.serverUrlOf(tenant), hosted),
      expectedRPID: tenant.idTag,
      requireUserVerification: false,
      supportedAlgorithmIDs: algorithms,
    })
    if (!verified) return undefined
    const { id, publicKey, counter } = registrationInfo.credential
    return { keyId: id, publicKey, counter, transports }
  } catch (error) {
    // The library throws plain errors for every refusal; failures of our own are passed on.
    if (error instanceof Failure) throw error
    return undefined
  }
}

function toView({ keyId, name, createdAt, lastUsedAt }: Passkey): PasskeyView {
  return {
    keyId,
    name,
    createdAt: toIso(createdAt),
    ...(lastUsedAt === undefined ? {} : { lastUsedAt: toIso(lastUsedAt) }),
  }
}
