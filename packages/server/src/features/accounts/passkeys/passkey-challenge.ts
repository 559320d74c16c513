import { randomBytes } from 'node:crypto'
import type { HostedTenant } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { secretHash } from '../sessions/session.ts'
import { deleteOldestChallenge, insertChallenge, sweepChallenges, takeChallenge } from './passkey-store.ts'

interface ChallengeDeps {
  readonly db: Database
  readonly clock: Clock
}

/** What a challenge may be used for: one for signing in adds no passkey, nor does one of another session. */
type ChallengePurpose = 'sign-in' | `register ${string}`

export const challengeLifeSecs = 120
// A challenge is a row of some 100 bytes. Beyond this the oldest is removed, so that others cannot block a sign-in.
const maxOpenOfTenant = 20_000

export async function makeChallenge(
  { db, clock }: ChallengeDeps,
  tenant: Tenant,
  purpose: ChallengePurpose,
): Promise<string> {
  const challenge = randomBytes(32).toString('base64url')
  await db.transact(tenant.tenantId, async (tx) => {
    const now = nowSecs(clock)
    if ((await sweepChallenges(tx, now)) >= maxOpenOfTenant) await deleteOldestChallenge(tx)
    await insertChallenge(tx, hashOf(challenge, purpose), now + challengeLifeSecs)
  })
  return challenge
}

/** Uses a challenge up, whether or not the answer with it is valid. */
export async function consumeChallenge(
  { db, clock }: ChallengeDeps,
  tenant: Tenant,
  { challenge, purpose }: { challenge: string; purpose: ChallengePurpose },
): Promise<boolean> {
  return db.transact(tenant.tenantId, (tx) => takeChallenge(tx, hashOf(challenge, purpose), nowSecs(clock)))
}

function hashOf(challenge: string, purpose: ChallengePurpose): string {
  return secretHash(`${purpose}\n${challenge}`)
}

/** The name under which authenticators keep the tenant's keys apart; says nothing about the person. */
export function passkeyUserId(tenant: Tenant): string {
  return secretHash(`passkey user\n${tenant.tenantId}\n${tenant.idTag}`)
}

/** Where a browser may be when it answers: the tenant's own pages, or those of its app domain beside them. */
export function passkeyOrigins(serverUrl: string, { appDomain }: HostedTenant): string[] {
  const own = new URL(serverUrl)
  if (appDomain === undefined) return [own.origin]
  const app = new URL(serverUrl)
  app.hostname = appDomain
  return [own.origin, app.origin]
}
