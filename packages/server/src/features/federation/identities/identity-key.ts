import { createPublicKey, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Identity, PublishedIdentity } from './identity.ts'

// One block and nothing else: `createPublicKey` would also accept a private key or a certificate and derive a key from
// it.
const publicKeyPem = /^-----BEGIN PUBLIC KEY-----\r?\n[A-Za-z0-9+/=\r\n]+-----END PUBLIC KEY-----\s*$/
// A P-384 key has 215 characters; an RSA key of a size that takes long to parse has many more.
const maxPemLength = 1024

/** The P-384 key in a PEM text (SPKI), or undefined for anything else. */
export function importSigningKey(pem: string): KeyObject | undefined {
  if (pem.length > maxPemLength || !publicKeyPem.test(pem)) return undefined
  try {
    const key = createPublicKey(pem)
    return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'secp384r1'
      ? key
      : undefined
  } catch {
    return undefined
  }
}

// An entry takes some kilobytes of OpenSSL's memory.
const imported = new LRUCache<string, KeyObject>({ max: 2000 })

/** The identity with its keys ready for use. Throws on a key that `importSigningKey` refuses; such keys are never
 * stored. */
export function withKeys(published: PublishedIdentity): Identity {
  return { ...published, keys: published.keys.map((key) => ({ ...key, key: importOnce(key.publicKey) })) }
}

function importOnce(pem: string): KeyObject {
  const known = imported.get(pem)
  if (known) return known
  const key = importSigningKey(pem)
  if (!key) throw new TypeError('a stored key is no P-384 public key')
  imported.set(pem, key)
  return key
}
