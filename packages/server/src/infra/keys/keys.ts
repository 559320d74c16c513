import type { KeyObject } from 'node:crypto'
import type { TenantId, Writer } from '#infra/db/index.ts'

/** Encrypts secrets at rest with the master key: AES-256-GCM, one derived key per purpose, purpose and owner authenticated. */
export interface Vault {
  seal(purpose: string, owner: TenantId, secret: Uint8Array): Uint8Array
  /** Throws when the text was not sealed for this purpose and owner with this master key. */
  unseal(purpose: string, owner: TenantId, sealed: Uint8Array): Uint8Array
}

/** A tenant's P-384 key pair for ES384, without the private half. */
export interface SigningKeyInfo {
  /** `yyyymmdd` and 4 random characters. */
  readonly kid: string
  /** PEM, SPKI. */
  readonly publicKey: string
  /** Unix seconds; set when the key is retired: it verifies only what was signed before. */
  readonly expiresAt?: number
}

export interface SigningKeys {
  /** Makes the tenant's first key. */
  create(tx: Writer): Promise<SigningKeyInfo>
  /** Retires the current key and makes the next one current. */
  rotate(tx: Writer): Promise<SigningKeyInfo>
  /** Current first, then the retired ones that still verify. */
  list(tenantId: TenantId): Promise<SigningKeyInfo[]>
  /** A compact JWS (ES384) over the payload with the current key; signs off the main thread. */
  sign(tenantId: TenantId, payload: Readonly<Record<string, unknown>>): Promise<string>
}

/** The secret of the server's own tokens (HS256), rotated by `kid`. */
export interface TokenSecrets {
  current(): Promise<{ kid: string; key: KeyObject }>
  find(kid: string): Promise<KeyObject | undefined>
  rotate(): Promise<void>
}
