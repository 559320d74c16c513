import {
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'

/** A key of an identity in the vectors. Its private half is the SHA-384 of a text that anybody can write. */
export interface VectorKey {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  readonly expiresAt?: number
}

/** A P-384 key that is always the same for a `kid`. */
export function vectorKey(kid: string, expiresAt?: number): VectorKey {
  const pair = createECDH('secp384r1')
  pair.setPrivateKey(createHash('sha384').update(`kith vectors: ${kid}`).digest())
  const point = pair.getPublicKey()
  const [x, y] = [point.subarray(1, 49), point.subarray(49)].map((half) => half.toString('base64url'))
  const d = Buffer.from(pair.getPrivateKey().toString('hex').padStart(96, '0'), 'hex').toString('base64url')
  const jwk = { kty: 'EC', crv: 'P-384', ...(x && y ? { x, y } : {}) }
  return {
    kid,
    privateKey: createPrivateKey({ key: { ...jwk, d }, format: 'jwk' }),
    publicKey: createPublicKey({ key: jwk, format: 'jwk' }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  }
}

/** A key as a discovery document lists it. */
export function publishedKey({ kid, publicKey, expiresAt }: VectorKey) {
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  return { kid, publicKey: pem, ...(expiresAt === undefined ? {} : { expiresAt }) }
}

/** The number of an issuer's action that is always the same for a name. */
export function nonceOf(name: string): string {
  return createHash('sha256').update(name).digest().subarray(0, 16).toString('base64url')
}

export function actionIdOf(issuerTag: string, nonce: string): string {
  return `a1~${createHash('sha256').update(`${issuerTag}\n${nonce}`).digest('base64url')}`
}

/** By which a token is named in another. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

export function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** ES384 signs differently every time: what is signed already is not signed anew, so that files stay as they are. */
export class Signer {
  readonly #known = new Map<string, string[]>()

  constructor(tokens: readonly string[]) {
    for (const token of tokens.flatMap((it) => [it, ...announcedIn(it)])) {
      const cut = token.lastIndexOf('.')
      this.#keep(token.slice(0, cut), token.slice(cut + 1))
    }
  }

  /** A token with this header and this payload; text stands for itself, anything else is encoded. */
  token(
    key: VectorKey,
    payload: unknown,
    header: unknown = { alg: 'ES384', typ: 'JWT', kid: key.kid },
  ): string {
    const input = [header, payload].map((part) => (typeof part === 'string' ? part : encode(part))).join('.')
    const known = this.#known.get(input)?.find((signature) => isSigned(key, input, signature))
    return `${input}.${known ?? this.#keep(input, signed(key, input))}`
  }

  #keep(input: string, signature: string): string {
    this.#known.set(input, [...(this.#known.get(input) ?? []), signature])
    return signature
  }
}

const dsaEncoding = 'ieee-p1363'

function signed({ privateKey }: VectorKey, input: string): string {
  return sign('sha384', Buffer.from(input), { key: privateKey, dsaEncoding }).toString('base64url')
}

function isSigned({ publicKey }: VectorKey, input: string, text: string): boolean {
  const signature = Buffer.from(text, 'base64url')
  const isWhole = signature.length === 96 && signature.toString('base64url') === text
  return isWhole && verify('sha384', Buffer.from(input), { key: publicKey, dsaEncoding }, signature)
}

/** The token that is passed on by this one. */
function announcedIn(token: string): string[] {
  try {
    const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return typeof payload.content.token === 'string' ? [payload.content.token] : []
  } catch {
    return []
  }
}

/** A text with parts that repeat, told without repeating them. */
export type Parts = readonly (string | { readonly repeat: string; readonly times: number })[]

const repeating = /(.{4})\1{99,}/gs

/** The members that say a token: `token`, or `parts` where that is much shorter. */
export function told(token: string): { token: string } | { parts: Parts } {
  const parts = partsOf(token)
  return parts.length === 1 ? { token } : { parts }
}

export function partsOf(text: string): Parts {
  const parts: Parts[number][] = []
  let from = 0
  for (const { 0: run, 1: repeat = '', index } of text.matchAll(repeating)) {
    parts.push(text.slice(from, index), { repeat, times: run.length / repeat.length })
    from = index + run.length
  }
  return [...parts, text.slice(from)]
}

/** The text that `told` tells. */
export function untold(entry: { readonly token?: string; readonly parts?: Parts }): string {
  const parts = entry.parts ?? []
  return entry.token ?? parts.map((it) => (typeof it === 'string' ? it : it.repeat.repeat(it.times))).join('')
}
