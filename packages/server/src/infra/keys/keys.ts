import type { KeyObject } from 'node:crypto'
import type { TenantId, Writer } from '#infra/db/index.ts'

/** Encrypts secrets at rest with the master key: AES-256-GCM, one derived key per purpose, purpose and owner authenticated. */
export interface Vault {
  /** `purpose` is a constant of the program, one for each kind of secret. */
  seal(purpose: string, owner: TenantId, secret: Uint8Array): Uint8Array
  /** Throws when the text was not sealed for this purpose and owner with this master key. */
  unseal(purpose: string, owner: TenantId, sealed: Uint8Array): Uint8Array
  /** 32 bytes that show that a text was written by somebody with this master key, for this purpose. */
  mac(purpose: string, text: string): Uint8Array
}

/** A tenant's P-384 key pair for ES384, without the private half. */
export interface SigningKeyInfo {
  /** `yyyymmdd` and 4 random characters. */
  readonly kid: string
  /** PEM, SPKI. */
  readonly publicKey: string
  /** Unix seconds; set when the key is retired: it verifies only what was signed before. */
  readonly expiresAt?: number
  /** Unix seconds; set when the key was stolen: it verifies nothing that was signed then or later. */
  readonly revokedAt?: number
}

/** What `SigningKeys.revoke` did. */
export interface KeyRevocation {
  readonly revoked: SigningKeyInfo & { readonly revokedAt: number }
  /** The current key now. */
  readonly current: SigningKeyInfo
  /** Was the current key revoked, so that another took its place? */
  readonly isRotated: boolean
}

export interface SigningKeys {
  /** Makes the tenant's first key. */
  create(tx: Writer): Promise<SigningKeyInfo>
  /** Retires the current key and makes the next one current. */
  rotate(tx: Writer): Promise<SigningKeyInfo>
  /** Distrusts what a key has signed since then (Unix seconds); the current one is replaced first. A key that is revoked
   * already keeps the earlier time: others have acted on it. Undefined when the tenant never had such a key. */
  revoke(
    tx: Writer,
    revocation: { readonly kid: string; readonly since: number },
  ): Promise<KeyRevocation | undefined>
  /** Current first, then the retired ones, youngest first; at most 100. */
  list(tenantId: TenantId): Promise<SigningKeyInfo[]>
  /** A compact JWS (ES384) over the payload with the current key; signs off the main thread. Not inside a transaction.
   * NOTE: a payload's `iat` must be taken before the call, so that a rotation in between cannot make it too late. */
  sign(tenantId: TenantId, payload: Readonly<Record<string, unknown>>): Promise<string>
}

/** The secret of the server's own tokens (HS256), rotated by `kid`. Not to be used inside a transaction. */
export interface TokenSecrets {
  current(): Promise<{ kid: string; key: KeyObject }>
  /** Undefined for what is no `kid` of this server, or was retired so long ago that its tokens have expired. */
  find(kid: string): Promise<KeyObject | undefined>
  rotate(): Promise<void>
}

/** ES384 on the thread pool, a few at a time: `E-UNAVAILABLE` when too many wait. */
export interface Signatures {
  /** 96 bytes: r and s. */
  sign(signingInput: string, privateKey: KeyObject): Promise<Uint8Array>
  /** False also when the key is of another kind or curve. With `asker`, the checks of one address wait for each other. */
  verify(signingInput: string, signature: Uint8Array, publicKey: KeyObject, asker?: string): Promise<boolean>
}
