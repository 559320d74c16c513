import { hashOfToken } from '../action-id.ts'

// The order of P-384 (FIPS 186-5).
const order = BigInt(
  '0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973',
)
const halfLength = 48

/** By which others may name a token that is held: its hash, and that of the same token with the other form of its
 * signature. Whoever has a signature (r, s) has (r, n - s) too, which is as good: else anybody who passes a token on could
 * make it another one. */
export function hashesOfToken(token: string): readonly [string, string] {
  return [hashOfToken(token), hashOfToken(withOtherSignature(token))]
}

function withOtherSignature(token: string): string {
  const cut = token.lastIndexOf('.') + 1
  const signature = Buffer.from(token.slice(cut), 'base64url')
  const s = BigInt(`0x0${signature.subarray(halfLength).toString('hex')}`)
  const other = (order - s).toString(16).padStart(2 * halfLength, '0')
  const r = signature.subarray(0, halfLength)
  return token.slice(0, cut) + Buffer.concat([r, Buffer.from(other, 'hex')]).toString('base64url')
}
