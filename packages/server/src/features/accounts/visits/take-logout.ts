import type { IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { rateKeyOf } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import {
  type IdentityToken,
  type IdentityTokenDeps,
  isGenuine,
  longestLifeSecs,
  readIdentityToken,
  type UnverifiedToken,
} from '../sessions/identity-token.ts'
import { type RevokeDeps, revokeSessions } from '../sessions/start-session.ts'
import type { VisitorLogout } from './visitor-logout.ts'
import { findLogout, putLogout } from './visitor-logout-store.ts'

export interface TakeLogoutDeps extends RevokeDeps, IdentityTokenDeps {
  readonly db: Database
  /** Does the server of an identity say that there is none? `asker`: who is charged for asking. */
  isIdentityGone(idTag: IdTag, asker: string): Promise<boolean>
}

// Beyond them all that an identity has shown so far has ended, and its other sessions show themselves anew.
const maxSids = 16
// A token may have been issued by a clock that is ahead.
const keptSecs = 2 * longestLifeSecs

/** Ends what an identity was given at a tenant for its proxy tokens. */
export async function takeLogout(
  deps: TakeLogoutDeps,
  { tenant, token, ip }: { readonly tenant: Tenant; readonly token: string; readonly ip: string },
): Promise<void> {
  const now = nowSecs(deps.clock)
  const read = readIdentityToken('logout', tenant, { token, now })
  const ended = read && (await endedBy(deps, read, { now, asker: rateKeyOf(ip) }))
  if (!ended) throw new Failure('E-AUTH-UNAUTH')
  const { issuerTag } = read.claimed
  await deps.db.transact(tenant.tenantId, async (tx) => {
    const known = await findLogout(tx, issuerTag)
    if (known && isKnown(known, ended)) return
    const all = joined(known, ended, now)
    await putLogout(tx, issuerTag, { ...all, keptUntil: now + keptSecs })
    const { sid } = ended
    const homeSids = sid === undefined || all.sids.length === 0 ? {} : { homeSids: [sid] }
    await revokeSessions(deps, tx, { callerTag: issuerTag, methods: ['proxy'], ...homeSids })
  })
}

/** What was proved in a session, or up to a time. */
type Ended =
  | { readonly sid: string; readonly before?: never }
  | { readonly sid?: never; readonly before: number }

/** What a logout token ends; undefined for one that nobody vouches for. */
async function endedBy(
  deps: TakeLogoutDeps,
  read: UnverifiedToken,
  { now, asker }: { readonly now: number; readonly asker: string },
): Promise<Ended | undefined> {
  if (await isGenuine(deps, read, asker)) return endOf(read.claimed)
  // A suspended identity has no document at its server, and so no keys that could be asked for now.
  return (await deps.isIdentityGone(read.claimed.issuerTag, asker)) ? { before: now } : undefined
}

/** What a logout token says. */
export function endOf({ sid, issuedAt, claims: { before } }: IdentityToken): Ended {
  if (sid !== undefined) return { sid }
  return { before: Number.isSafeInteger(before) ? Number(before) : issuedAt }
}

function isKnown(known: VisitorLogout, { sid, before }: Ended): boolean {
  return sid === undefined ? before <= known.before : known.sids.includes(sid)
}

function joined(
  known: VisitorLogout = { before: 0, sids: [] },
  { sid, before = 0 }: Ended,
  now: number,
): VisitorLogout {
  if (sid === undefined) return { ...known, before: Math.max(known.before, before) }
  if (known.sids.length >= maxSids) return { before: Math.max(known.before, now), sids: [] }
  return { ...known, sids: [...known.sids, sid] }
}
