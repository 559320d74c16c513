import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { assertSessionLives } from '../sessions/personal-caller.ts'
import { earliest, secretHash } from '../sessions/session.ts'
import { findSession } from '../sessions/session-store.ts'
import { browserSessionSecs, newCookieId, newCookieSecret, retireSecret } from './browser-session.ts'
import {
  deleteOldestBrowserSessions,
  findBrowserSessionOf,
  putBrowserSession,
} from './browser-session-store.ts'
import { sealSecret } from './sealed-secret.ts'

interface Deps {
  readonly db: Database
  readonly clock: Clock
  readonly vault: Vault
}

interface Input {
  readonly tenant: Tenant
  readonly caller: Identified
}

/** The value of a cookie, and until when it is good, Unix seconds. */
export interface KeptCookie {
  readonly value: string
  readonly expiresAt: number
}

// Browsers in which one person is signed in; the one that was used least recently goes.
const maxOfAccount = 50

/** Makes the cookie with which a browser gets login tokens of the caller's session. One that the session has already is
 * replaced as by a use, so that a copy of it stays known. */
export async function startBrowserSession(deps: Deps, { tenant, caller }: Input): Promise<KeptCookie> {
  const sid = loginSessionOf(caller)
  const secret = newCookieSecret()
  return deps.db.transact(tenant.tenantId, async (tx) => {
    const session = await assertSessionLives(deps, tx, { sessionId: sid })
    const now = nowSecs(deps.clock)
    const expiresAt = earliest(now + browserSessionSecs, session?.expiresAt)
    const kept = await findBrowserSessionOf(tx, sid)
    const cookieId = kept?.cookieId ?? newCookieId()
    const former = kept ? retireSecret(kept, sealSecret(deps, tenant, secret), now) : []
    await putBrowserSession(tx, { cookieId, sid, secretHash: secretHash(secret), former, expiresAt }, now)
    await deleteOldestBrowserSessions(tx, { maxKept: maxOfAccount, putNow: cookieId })
    return { value: cookieId + secret, expiresAt }
  })
}

/** Makes the cookie of the caller's session worthless; the session goes on, until a cookie of it is used again. */
export async function endBrowserSession(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  { tenant, caller: { sessionId } }: Input,
): Promise<void> {
  if (sessionId === undefined) return
  await db.transact(tenant.tenantId, async (tx) => {
    const kept = await findBrowserSessionOf(tx, sessionId)
    if (!kept) return
    const session = await findSession(tx, sessionId)
    const expiresAt = session?.expiresAt ?? kept.expiresAt
    await putBrowserSession(tx, { ...kept, secretHash: '', former: [], expiresAt }, nowSecs(clock))
  })
}

/** Only a login token: what an access token was handed to is not the browser of its owner. */
function loginSessionOf({ tokenUse, sessionId }: Identified): string {
  if (tokenUse !== 'login' || sessionId === undefined) throw new Failure('E-AUTH-FORBIDDEN')
  return sessionId
}
