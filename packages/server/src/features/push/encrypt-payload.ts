import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'

/** The keys of a subscription: the browser's P-256 point (65 bytes) and its secret (16 bytes). */
export interface ReceiverKeys {
  readonly p256dh: Uint8Array
  readonly auth: Uint8Array
}

/** What is random in a message; fixed only for the example of RFC 8291. */
interface Randomness {
  readonly privateKey?: Uint8Array
  readonly salt?: Uint8Array
}

const recordBytes = 4096
// A push service takes 4096 bytes at least (RFC 8030 section 7.2), and some no more.
export const maxEncryptedBytes = 3072
// Salt, record size, length of the key, key; then the delimiter and the tag.
const overheadBytes = 16 + 4 + 1 + 65 + 1 + 16
export const maxPayloadBytes = maxEncryptedBytes - overheadBytes

/** A message as `aes128gcm` in one record (RFC 8188, RFC 8291). The payload has at most `maxPayloadBytes`. */
export function encryptPayload(
  payload: Uint8Array,
  { p256dh, auth }: ReceiverKeys,
  { privateKey, salt = randomBytes(16) }: Randomness = {},
): Buffer {
  if (payload.length > maxPayloadBytes) throw new RangeError(`a payload of ${payload.length} bytes`)
  const ours = createECDH('prime256v1')
  if (privateKey) ours.setPrivateKey(privateKey)
  else ours.generateKeys()
  const publicKey = ours.getPublicKey()
  const derive = (key: Uint8Array, by: Uint8Array, info: Uint8Array, bytes: number) =>
    Buffer.from(hkdfSync('sha256', key, by, info, bytes))
  const about = Buffer.concat([Buffer.from('WebPush: info\0'), p256dh, publicKey])
  const secret = derive(ours.computeSecret(p256dh), auth, about, 32)
  const key = derive(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = derive(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const sizes = Buffer.alloc(5)
  sizes.writeUInt32BE(recordBytes)
  sizes.writeUInt8(publicKey.length, 4)
  // 2 ends the last record.
  const encrypted = [cipher.update(payload), cipher.update(Buffer.of(2)), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat([salt, sizes, publicKey, ...encrypted])
}
