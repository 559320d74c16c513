import type { SigningKeyInfo } from './keys.ts'

/** Does a key speak for its owner in what was signed at this time (Unix seconds)? Not after its retirement, and not from
 * the time on since when it is distrusted. */
export function wasInForce(
  { expiresAt, revokedAt }: Pick<SigningKeyInfo, 'expiresAt' | 'revokedAt'>,
  issuedAt: number,
): boolean {
  if (revokedAt !== undefined && issuedAt >= revokedAt) return false
  return expiresAt === undefined || issuedAt <= expiresAt
}
