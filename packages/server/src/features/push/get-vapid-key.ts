import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { encodeBase64Url } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import type { SealedColumn, Vault } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { findStoredVapidKey, insertVapidKey } from './vapid-key-store.ts'

export interface VapidKeyDeps {
  readonly db: Database
  readonly vault: Vault
  readonly clock: Clock
}

const purpose = 'push.vapid-key'

/** A key whose private half is lost is useless: another is made with the next request. */
export const vapidKeysSealed: SealedColumn = {
  table: 'vapid_keys',
  column: 'private_key_sealed',
  purpose,
  withoutSecret: 'no row',
}

/** The public key of a tenant, the same for ever: browsers bind their subscriptions to it. Of two first requests at the
 * same time both get the key that was stored. */
export async function getVapidKey({ db, vault, clock }: VapidKeyDeps, { tenantId }: Tenant): Promise<string> {
  const known = await findStoredVapidKey(db.reader(tenantId))
  if (known) return known.publicKey
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const made = {
    publicKey: pointOf(publicKey),
    privateKeySealed: vault.seal(purpose, tenantId, privateKey.export({ type: 'pkcs8', format: 'der' })),
    createdAt: nowSecs(clock),
  }
  return db.transact(tenantId, async (tx) => {
    await insertVapidKey(tx, made)
    return (await findStoredVapidKey(tx))?.publicKey ?? made.publicKey
  })
}

/** With its private half (PKCS #8, DER), for signing. */
export interface VapidKeyPair {
  readonly publicKey: string
  readonly privateKey: Buffer
}

/** The key pair of a tenant that has subscriptions; undefined when it was lost with the master key. */
export async function findVapidKeyPair(
  { db, vault }: Pick<VapidKeyDeps, 'db' | 'vault'>,
  tenantId: TenantId,
): Promise<VapidKeyPair | undefined> {
  const stored = await findStoredVapidKey(db.reader(tenantId))
  if (!stored) return undefined
  const privateKey = Buffer.from(vault.unseal(purpose, tenantId, stored.privateKeySealed))
  return { publicKey: stored.publicKey, privateKey }
}

/** The uncompressed point, as `applicationServerKey` of the Push API wants it (RFC 8292 section 3.2). */
function pointOf(publicKey: KeyObject): string {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const parts = [Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]
  return encodeBase64Url(Buffer.concat(parts))
}
