import type { SigningKeyInfo } from './keys.ts'

/** Whether a key was valid for a signature of this time (Unix seconds): before its retirement, and before the time from
 * which it is revoked. */
export function wasInForce(
  { expiresAt, revokedAt }: Pick<SigningKeyInfo, 'expiresAt' | 'revokedAt'>,
  issuedAt: number,
): boolean {
  if (revokedAt !== undefined && issuedAt >= revokedAt) return false
  return expiresAt === undefined || issuedAt <= expiresAt
}
