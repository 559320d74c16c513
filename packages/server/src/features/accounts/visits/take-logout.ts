import type { IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import { assertRate, type RateLimits, rateKeyOf } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { unauthenticated } from '#lib/failure.ts'
import {
  type FindIdentityKey,
  findFault,
  type IdentityTokenDeps,
  readIdentityToken,
} from '../sessions/identity-token.ts'
import { type RevokeDeps, revokeSessions } from '../sessions/start-session.ts'
import { type EndOfVisits, endOf, logoutKeptSecs, nothingEnded, withEnd } from './visitor-logout.ts'
import { findLogout, putLogout } from './visitor-logout-store.ts'

export interface TakeLogoutDeps extends RevokeDeps {
  readonly db: Database
  readonly signatures: IdentityTokenDeps['signatures']
  readonly rateLimits: RateLimits
  /** Also of an identity whose server does not tell its keys any more, as far as they were known before: that of a suspended one
   * does not. */
  readonly findLastKnownKey: FindIdentityKey
}

/** Ends what an identity was given at a tenant for its proxy tokens, as its logout token says. */
export async function takeLogout(
  deps: TakeLogoutDeps,
  { tenant, token, ip }: { readonly tenant: Tenant; readonly token: string; readonly ip: string },
): Promise<void> {
  const { signatures, findLastKnownKey: findIdentityKey } = deps
  const read = readIdentityToken('logout', tenant, { token, now: nowSecs(deps.clock) })
  if (typeof read === 'string') throw unauthenticated(read)
  const end = endOf(read.claimed)
  if (!end) throw unauthenticated('malformed')
  const fault = await findFault({ signatures, findIdentityKey }, read, rateKeyOf(ip))
  if (fault) throw unauthenticated(fault)
  const { issuerTag, issuedAt } = read.claimed
  await assertRate(deps, 'inbox-issuer', issuerTag)
  await deps.db.transact(tenant.tenantId, (tx) => endVisits(deps, tx, { issuerTag, issuedAt, end }))
}

/** Ends what an identity has proved at the tenant of `tx`. `issuedAt`: when that was said, by the clock of the identity's server. */
export async function endVisits(
  deps: RevokeDeps,
  tx: Writer,
  { issuerTag, issuedAt, end }: { issuerTag: IdTag; issuedAt: number; end: EndOfVisits },
): Promise<void> {
  const now = nowSecs(deps.clock)
  const known = (await findLogout(tx, issuerTag)) ?? nothingEnded
  const all = withEnd(known, end, { now, issuedAt })
  const { sid } = end
  const isKnown =
    all.before === known.before && (sid === undefined || known.sessions.some((one) => one.sid === sid))
  if (isKnown) return
  await putLogout(tx, issuerTag, { ...all, keptUntil: now + logoutKeptSecs })
  const visits = { callerTag: issuerTag, methods: ['proxy'] } as const
  if (sid !== undefined) await revokeSessions(deps, tx, { ...visits, homeSids: [sid] })
  if (all.before > known.before) await revokeSessions(deps, tx, { ...visits, signedInUpTo: all.before })
}
