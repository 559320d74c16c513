import { createSecretKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import type { IdTag } from '@kith/protocol'
import { SignJWT } from 'jose'
import type { TenantId, Writer } from '#infra/db/index.ts'
import type { SigningKeys, TokenSecrets, Vault } from '#infra/keys/index.ts'

/** Keys that live in memory: real signatures without a key store, and a vault that shows whose secret is asked for. */
export class TestKeys implements Pick<SigningKeys, 'create' | 'sign'>, TokenSecrets, Vault {
  readonly #pairs = new Map<TenantId, { kid: string; publicKey: KeyObject; privateKey: KeyObject }>()
  readonly #secrets = new Map<string, KeyObject>()
  #currentSecret = this.#newSecret()

  async create(tx: Pick<Writer, 'tenantId'>) {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-384' })
    const kid = `20260101${String(tx.tenantId).padStart(4, '0')}`
    this.#pairs.set(tx.tenantId, { kid, ...pair })
    return { kid, publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString() }
  }

  async sign(tenantId: TenantId, payload: Readonly<Record<string, unknown>>): Promise<string> {
    const { kid, privateKey } = this.pairOf(tenantId)
    return new SignJWT({ ...payload }).setProtectedHeader({ alg: 'ES384', typ: 'JWT', kid }).sign(privateKey)
  }

  pairOf(tenantId: TenantId) {
    const pair = this.#pairs.get(tenantId)
    if (!pair) throw new Error(`tenant ${tenantId} has no key`)
    return pair
  }

  /** The port by which a proxy token's key is found, over the tenants that `tenantIds` knows. */
  findIdentityKey(tenantIds: ReadonlyMap<IdTag, TenantId>) {
    return async (idTag: IdTag, kid: string) => {
      const tenantId = tenantIds.get(idTag)
      const pair = tenantId === undefined ? undefined : this.pairOf(tenantId)
      return pair?.kid === kid ? { key: pair.publicKey } : undefined
    }
  }

  async current() {
    const kid = this.#currentSecret
    return { kid, key: this.#secrets.get(kid) as KeyObject }
  }

  async find(kid: string) {
    return this.#secrets.get(kid)
  }

  async rotate(): Promise<void> {
    this.#currentSecret = this.#newSecret()
  }

  seal(purpose: string, owner: TenantId, secret: Uint8Array): Uint8Array {
    return Buffer.concat([
      Buffer.from(`${purpose}|${owner}|`),
      Buffer.from(secret).map((byte) => byte ^ 0x5a),
    ])
  }

  unseal(purpose: string, owner: TenantId, sealed: Uint8Array): Uint8Array {
    const label = Buffer.from(`${purpose}|${owner}|`)
    if (!label.equals(sealed.subarray(0, label.length))) throw new Error('sealed for something else')
    return Buffer.from(sealed.subarray(label.length)).map((byte) => byte ^ 0x5a)
  }

  #newSecret(): string {
    const kid = randomBytes(4).toString('hex')
    this.#secrets.set(kid, createSecretKey(randomBytes(32)))
    return kid
  }
}
