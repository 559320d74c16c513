import { createHash, randomBytes } from 'node:crypto'

// A prefix and 32 bytes: 28 random ones and a check sum of 4, so that a mistyped or invented key costs no look-up.
const form = /^[A-Za-z0-9_-]{43}$/
const chanceBytes = 28

/** What a key begins with: one of an account, or one of an identity that a provider manages. */
type KeyPrefix = 'sk_' | 'idp_'

export function newApiKey(prefix: KeyPrefix = 'sk_'): string {
  const chance = randomBytes(chanceBytes)
  return `${prefix}${Buffer.concat([chance, checkSum(chance)]).toString('base64url')}`
}

/** Can this be a key at all? */
export function isApiKey(text: string, prefix: KeyPrefix = 'sk_'): boolean {
  const secret = text.slice(prefix.length)
  if (!text.startsWith(prefix) || !form.test(secret)) return false
  const bytes = Buffer.from(secret, 'base64url')
  return bytes.length === 32 && checkSum(bytes.subarray(0, chanceBytes)).equals(bytes.subarray(chanceBytes))
}

function checkSum(chance: Uint8Array): Buffer {
  return createHash('sha256').update('kith api key').update(chance).digest().subarray(0, 4)
}
