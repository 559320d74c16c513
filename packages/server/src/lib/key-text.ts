const hex = /^[0-9a-f]{64}$/i
const base64 = /^[A-Za-z0-9+/_-]{43}=?$/

/** The 32 bytes that a text spells in hexadecimal, base64 or base64url; undefined when it spells anything else. */
export function parseKeyText(text: string): Uint8Array | undefined {
  const trimmed = text.trim()
  if (hex.test(trimmed)) return Buffer.from(trimmed, 'hex')
  // Buffer reads both alphabets of base64.
  return base64.test(trimmed) ? Buffer.from(trimmed, 'base64') : undefined
}
