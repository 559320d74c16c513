import { createHash, randomBytes } from 'node:crypto'

// `sk_` and 32 bytes: 28 of chance, and 4 of check sum, so that a mistyped or invented key costs no look-up.
const form = /^sk_[A-Za-z0-9_-]{43}$/
const chanceBytes = 28

export function newApiKey(): string {
  const chance = randomBytes(chanceBytes)
  return `sk_${Buffer.concat([chance, checkSum(chance)]).toString('base64url')}`
}

/** Can this be a key at all? */
export function isApiKey(text: string): boolean {
  if (!form.test(text)) return false
  const bytes = Buffer.from(text.slice(3), 'base64url')
  return bytes.length === 32 && checkSum(bytes.subarray(0, chanceBytes)).equals(bytes.subarray(chanceBytes))
}

function checkSum(chance: Uint8Array): Buffer {
  return createHash('sha256').update('kith api key').update(chance).digest().subarray(0, 4)
}
