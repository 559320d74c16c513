import { createHmac, randomBytes } from 'node:crypto'
import { secretHash } from '../sessions/session.ts'

/** What the cookie of a browser stands for: the session that it gives login tokens of. Times are Unix seconds. */
export interface BrowserSession {
  /** The part of the cookie that stays the same. */
  readonly cookieId: string
  readonly sid: string
  /** Of the part that each use replaces; empty when the cookie was taken away: then no secret is good. */
  readonly secretHash: string
  /** Those that were replaced a moment ago, oldest first, and the one before the present one, however old. */
  readonly former: readonly FormerSecret[]
  readonly expiresAt: number
}

/** A secret that was replaced. A browser that still has it can be told its successor, the database alone tells neither: the
 * successor is made from the secret and the salt, or, where the secret was not at hand, sealed with the master key. */
type FormerSecret = {
  readonly hash: string
  /** Half a minute after it was replaced, or, if that was shown, after its successor was. */
  readonly until: number
} & ({ readonly salt: string } | { readonly sealed: string })

/** Opens the successor of a former secret. */
type Unseal = (sealed: string) => string

export const browserSessionSecs = 30 * 86_400
// Tabs that were opened together, and an answer that was lost and is asked for again.
export const formerSecs = 30
// A browser that restores that many tabs in half a minute keeps its cookie for the rest of it.
const maxFormer = 64

const idBytes = 16
const secretBytes = 32
const cookieForm = /^([A-Za-z0-9_-]{22})([A-Za-z0-9_-]{43})$/

export function newCookieId(): string {
  return randomBytes(idBytes).toString('base64url')
}

export function newCookieSecret(): string {
  return randomBytes(secretBytes).toString('base64url')
}

/** The two parts of a cookie's value. */
export function parseCookieValue(value: string): { cookieId: string; secret: string } | undefined {
  const [, cookieId, secret] = cookieForm.exec(value) ?? []
  return cookieId === undefined || secret === undefined ? undefined : { cookieId, secret }
}

/** What the use of a secret comes to: the one to go on with, and what is to be stored when it is a new one. `repeated`: nobody
 * has shown its successor, so the answer with it was lost, or went to somebody else: what was given out with it must end.
 * `reused`: its successor was shown, or it is such a lost one, so two parties have had it. */
type SecretUse =
  | { readonly kind: 'current'; readonly secret: string }
  | {
      readonly kind: 'rotated' | 'repeated'
      readonly secret: string
      readonly former: readonly FormerSecret[]
    }
  | { readonly kind: 'reused' }

export function useSecret(kept: BrowserSession, secret: string, now: number, unseal: Unseal): SecretUse {
  const recent = recentOf(kept, now)
  const shown = { hash: secretHash(secret), salt: newCookieSecret(), until: now + formerSecs }
  const next = successor(secret, shown.salt)
  const last = kept.former.at(-1)
  if (shown.hash === kept.secretHash) {
    if (recent.length >= maxFormer) return { kind: 'current', secret }
    // The last one's successor arrived: it is shown here.
    const retired = last && 'salt' in last ? [{ ...last, until: shown.until }] : []
    const others = recent.filter((one) => one !== last || retired.length === 0)
    return { kind: 'rotated', secret: next, former: [...others, ...retired, shown] }
  }
  // NOTE: with another successor than before. With the same one, a thief who shows the last secret over and over would
  // have the owner's, however often that is replaced.
  if (last && last.hash === shown.hash && 'salt' in last && !isRecent(last, now))
    return { kind: 'repeated', secret: next, former: [...recent, shown] }
  return useFormer({ ...kept, former: recent }, secret, unseal)
}

/** The former secrets after the present one was replaced by a new one, given sealed, without being shown. */
export function retireSecret(kept: BrowserSession, sealed: string, now: number): readonly FormerSecret[] {
  if (kept.secretHash === '') return []
  const present = { hash: kept.secretHash, sealed, until: now + formerSecs }
  return [...recentOf(kept, now), present].slice(-maxFormer)
}

function recentOf({ former }: BrowserSession, now: number): readonly FormerSecret[] {
  return former.filter((one) => isRecent(one, now))
}

/** A time half a minute ahead is another process's clock, or this one was set back. */
function isRecent({ until }: FormerSecret, now: number): boolean {
  return Math.abs(until - formerSecs - now) < formerSecs
}

/** Goes from a former secret to the current one, whatever replaced it meanwhile. */
function useFormer(kept: BrowserSession, shown: string, unseal: Unseal): SecretUse {
  let secret = shown
  for (const _ of kept.former) {
    const hash = secretHash(secret)
    const replaced = kept.former.find((one) => one.hash === hash)
    if (!replaced) return { kind: 'reused' }
    secret = 'salt' in replaced ? successor(secret, replaced.salt) : unseal(replaced.sealed)
    if (secretHash(secret) === kept.secretHash) return { kind: 'current', secret }
  }
  return { kind: 'reused' }
}

function successor(secret: string, salt: string): string {
  return createHmac('sha256', secret).update(salt).digest('base64url')
}
