import type { LoginSession } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { unauthenticated } from '#lib/failure.ts'
import { type Session, secretHash } from '../sessions/session.ts'
import { findSession } from '../sessions/session-store.ts'
import { renameSession, revokeSession } from '../sessions/start-session.ts'
import { answerLogin, type CompleteLoginDeps } from '../sign-in/complete-login.ts'
import { type BrowserSession, parseCookieValue, useSecret } from './browser-session.ts'
import { findBrowserSession, putBrowserSession } from './browser-session-store.ts'
import { unsealSecret } from './sealed-secret.ts'
import type { KeptCookie } from './start-browser-session.ts'

interface Input {
  readonly tenant: Tenant
  readonly cookieValue: string | undefined
  readonly ip: string
}

interface Used {
  readonly session: Session
  readonly cookie: KeptCookie
}

/** A login token for the browser that shows its cookie, and the cookie to go on with. A cookie whose successor was shown
 * longer than half a minute ago has been copied: it ends the session. */
export async function useBrowserSession(
  deps: CompleteLoginDeps,
  { tenant, cookieValue, ip }: Input,
): Promise<{ login: LoginSession; cookie: KeptCookie }> {
  const shown = cookieValue === undefined ? undefined : parseCookieValue(cookieValue)
  if (!shown) throw unauthenticated(cookieValue === undefined ? 'missing' : 'malformed')
  // Asked for without a transaction first: made-up cookies must not hold up those who write.
  if (!(await findBrowserSession(deps.db.reader(tenant.tenantId), shown.cookieId)))
    throw unauthenticated('revoked')
  const used = await deps.db.transact(tenant.tenantId, (tx) => useCookie(deps, tx, { ...shown, tenant, ip }))
  if (!used) throw unauthenticated('revoked')
  return { login: await answerLogin(deps, tenant, used.session), cookie: used.cookie }
}

async function useCookie(
  deps: CompleteLoginDeps,
  tx: Writer,
  { cookieId, secret, tenant, ip }: { cookieId: string; secret: string; tenant: Tenant; ip: string },
): Promise<Used | undefined> {
  const now = nowSecs(deps.clock)
  const kept = await findBrowserSession(tx, cookieId)
  const session = kept && (await findSession(tx, kept.sid))
  if (!kept || !session || hasEnded(kept, now) || hasEnded(session, now)) return undefined
  const use = useSecret(kept, secret, now, unsealSecret(deps, tenant))
  if (use.kind === 'reused') {
    await revokeSession(deps, tx, { sid: kept.sid })
    const details = { sid: kept.sid }
    await audit(deps, tx, { event: 'browser-session.reused', actorTag: tenant.idTag, ip, details })
    return undefined
  }
  const cookie = { value: cookieId + use.secret, expiresAt: kept.expiresAt }
  if (use.kind === 'current') return { session, cookie }
  const present = use.kind === 'rotated' ? session : await renameSession(deps, tx, session)
  const replaced = { sid: present.sid, secretHash: secretHash(use.secret), former: use.former }
  await putBrowserSession(tx, { ...kept, ...replaced }, now)
  if (use.kind === 'repeated') {
    const details = { sid: present.sid, former: session.sid }
    await audit(deps, tx, { event: 'browser-session.repeated', actorTag: tenant.idTag, ip, details })
  }
  return { session: present, cookie }
}

function hasEnded({ expiresAt }: Pick<Session | BrowserSession, 'expiresAt'>, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now
}
