import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

interface Ceremony {
  readonly challenge: string
  readonly origin?: string
  readonly rpId?: string
  /** Person verified, by PIN or finger. */
  readonly isVerified?: boolean
}

// Flags of authenticator data (WebAuthn, section 6.1).
const present = 0x01
const verified = 0x04
const withCredential = 0x40

/** An authenticator in software: one ES256 credential with a counter, and a browser that says what a test wants. */
export class TestAuthenticator {
  readonly id = randomBytes(16).toString('base64url')
  counter = 0
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
  })
  readonly #host: string

  constructor(host: string) {
    this.#host = host
  }

  /** What `navigator.credentials.create` would answer. */
  register(ceremony: Ceremony) {
    const credentialId = Buffer.from(this.id, 'base64url')
    const length = Buffer.alloc(2)
    length.writeUInt16BE(credentialId.length)
    const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, this.#coseKey()])
    const authData = Buffer.concat([this.#authData(ceremony, withCredential), attested])
    const attestation = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', new Uint8Array(authData)],
    ])
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key' as const,
      response: {
        clientDataJSON: this.#clientData('webauthn.create', ceremony),
        attestationObject: Buffer.from(isoCBOR.encode(attestation as never)).toString('base64url'),
        transports: ['internal'],
      },
    }
  }

  /** What `navigator.credentials.get` would answer; counts the use. */
  authenticate(ceremony: Ceremony & { readonly userHandle?: string }) {
    this.counter += 1
    const clientDataJSON = this.#clientData('webauthn.get', ceremony)
    const authData = this.#authData(ceremony, 0)
    const hash = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest()
    const signature = sign('sha256', Buffer.concat([authData, hash]), this.#keys.privateKey)
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key' as const,
      response: {
        clientDataJSON,
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
        ...(ceremony.userHandle === undefined ? {} : { userHandle: ceremony.userHandle }),
      },
    }
  }

  #clientData(type: string, { challenge, origin = `https://${this.#host}` }: Ceremony): string {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })).toString('base64url')
  }

  #authData({ rpId = this.#host, isVerified = true }: Ceremony, flags: number): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.counter)
    const bits = flags | present | (isVerified ? verified : 0)
    return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.of(bits), counter])
  }

  #coseKey(): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' })
    // kty EC2, alg ES256, crv P-256 (RFC 9053).
    const key = new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
      [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
    ])
    return Buffer.from(isoCBOR.encode(key as never))
  }
}
