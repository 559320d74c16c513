import { actionIdOf, encode, nonceOf, type Signer, type VectorKey, vectorKey } from './signing.ts'

/** When the vectors are judged, Unix seconds. */
export const now = 1_769_860_800
export const tenYears = 10 * 365 * 86_400

export interface Issuer {
  readonly idTag: string
  readonly type: 'person' | 'community'
  /** The current one first. */
  readonly keys: readonly VectorKey[]
}

export type Members = Readonly<Record<string, unknown>>

export interface MadeToken {
  readonly name: string
  readonly token: string
  readonly payload: Members & { readonly actionId: string }
}

/** Whoever signs in the vectors. */
export interface Cast {
  readonly signer: Signer
  readonly alice: Issuer
  readonly club: Issuer
  readonly issuers: readonly Issuer[]
  /** A token as it should be but for these members; those that are undefined are left out. */
  by(issuer: Issuer, name: string, members?: Members, kid?: string): MadeToken
  keyOf(issuer: Issuer, kid?: string): VectorKey
}

export function castOf(signer: Signer): Cast {
  const alice = {
    idTag: 'alice.example.com',
    type: 'person',
    keys: [vectorKey('20260131aB3x'), vectorKey('20250101WxYz', now - 86_400), vectorKey('k'.repeat(64))],
  } as const
  const club = { idTag: 'club.example.org', type: 'community', keys: [vectorKey('20260131cLub')] } as const
  const keyOf = ({ keys }: Issuer, kid?: string) => {
    const key = kid === undefined ? keys[0] : keys.find((it) => it.kid === kid)
    if (!key) throw new Error(`no key ${kid}`)
    return key
  }
  return {
    signer,
    alice,
    club,
    issuers: [alice, club],
    keyOf,
    by(issuer, name, members = {}, kid) {
      const payload = payloadOf(issuer.idTag, name, members)
      return { name, payload, token: signer.token(keyOf(issuer, kid), payload) }
    },
  }
}

/** The payload of a public post but for these members. */
export function payloadOf(issuerTag: string, name: string, members: Members = {}) {
  const nonce = nonceOf(name)
  const whole = {
    actionId: actionIdOf(issuerTag, nonce),
    type: 'POST',
    issuerTag,
    content: { text: 'Hello' },
    visibility: 'P',
    nonce,
    ...issued(now),
    ...members,
  }
  const present = Object.entries(whole).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as Members & { readonly actionId: string }
}

/** The times of a token that was made and signed then. */
export function issued(iat: number) {
  return { createdAt: iat, iat, exp: iat + tenYears }
}

/** A content of this type that makes a token of this length, or the next one that is possible. */
export function textForLength({ idTag, keys }: Issuer, name: string, length: number): Members {
  const header = { alg: 'ES384', typ: 'JWT', kid: keys[0]?.kid }
  const around = encode(header).length + 2 + 128
  const start = Math.floor(((length - around) * 3) / 4) - 1_000
  for (let size = start; ; size += 1) {
    const content = { text: 'Hello', more: 'x'.repeat(size) }
    if (around + encode(payloadOf(idTag, name, { content })).length >= length) return { content }
  }
}
