import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Database, TenantId, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { newKeyId } from './key-id.ts'
import type { KeyRevocation, Signatures, SigningKeyInfo, SigningKeys, Vault } from './keys.ts'
import type { SealedColumn } from './sealed-column.ts'
import {
  findCurrentSigningKey,
  findSigningKey,
  insertSigningKey,
  listSigningKeys,
  retireSigningKey,
  type StoredSigningKey,
  setRevokedAt,
} from './signing-keys-store.ts'

interface OpenSigningKeysOptions {
  readonly db: Database
  readonly vault: Vault
  readonly signatures: Pick<Signatures, 'sign'>
  readonly clock: Pick<Clock, 'now'>
}

const purpose = 'signing-key'

/** Retired keys verify without their private half. */
export const signingKeysSealed: SealedColumn = {
  table: 'signing_keys',
  column: 'sealed_private_key',
  purpose,
  withoutSecret: 'nothing',
}

// Decrypted keys, about 2 kB each.
const maxCachedKeys = 2000
// A key may be read for signing just before a rotation commits, on a node whose clock is ahead: what it signs then is
// still good. Longer than a transaction may take.
const retirementGraceSecs = 30

/** The keys of the tenants of this server, sealed in its database. */
export function openSigningKeys({ db, vault, signatures, clock }: OpenSigningKeysOptions): SigningKeys {
  const cache = new LRUCache<string, KeyObject>({ max: maxCachedKeys })

  const create = (tx: Writer) => createKey({ vault, clock }, tx)

  const open = (tenantId: TenantId, { kid, sealedPrivateKey }: StoredSigningKey): KeyObject => {
    const id = `${tenantId}/${kid}`
    const known = cache.get(id)
    if (known) return known
    const key = Buffer.from(vault.unseal(purpose, tenantId, sealedPrivateKey))
    const opened = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
    cache.set(id, opened)
    return opened
  }

  const rotate = async (tx: Writer): Promise<SigningKeyInfo> => {
    await retireSigningKey(tx, nowSecs(clock) + retirementGraceSecs)
    return create(tx)
  }

  return {
    create,
    rotate,
    revoke: (tx, revocation) => revokeKey(rotate, tx, revocation),
    list: (tenantId) => listSigningKeys(db.reader(tenantId)),
    async sign(tenantId, payload) {
      // Asked each time, because another process may have rotated: a microsecond beside a millisecond of signing.
      const current = await findCurrentSigningKey(db.reader(tenantId))
      if (!current) throw new Error(`Tenant ${tenantId} has no signing key`)
      const header = { alg: 'ES384', typ: 'JWT', kid: current.kid }
      const signingInput = `${encode(header)}.${encode(payload)}`
      const signature = await signatures.sign(signingInput, open(tenantId, current))
      return `${signingInput}.${Buffer.from(signature).toString('base64url')}`
    },
  }
}

async function createKey(
  { vault, clock }: Pick<OpenSigningKeysOptions, 'vault' | 'clock'>,
  tx: Writer,
): Promise<SigningKeyInfo> {
  // Takes about a millisecond of the main thread. Off it, the transaction would wait for something else than SQL.
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-384' })
  const kid = newKeyId(clock.now())
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const secret = pair.privateKey.export({ type: 'pkcs8', format: 'der' })
  const sealedPrivateKey = vault.seal(purpose, tx.tenantId, secret)
  await insertSigningKey(tx, { kid, publicKey, sealedPrivateKey, createdAt: nowSecs(clock) })
  return { kid, publicKey }
}

async function revokeKey(
  rotate: (tx: Writer) => Promise<SigningKeyInfo>,
  tx: Writer,
  { kid, since }: { readonly kid: string; readonly since: number },
): Promise<KeyRevocation | undefined> {
  const found = await findSigningKey(tx, kid)
  if (!found) return undefined
  const isCurrent = found.expiresAt === undefined
  if (isCurrent) await rotate(tx)
  const revokedAt = Math.min(since, found.revokedAt ?? since)
  await setRevokedAt(tx, kid, revokedAt)
  const [current] = await listSigningKeys(tx)
  if (!current) throw new Error(`Tenant ${tx.tenantId} has no signing key`)
  return { revoked: { ...found, revokedAt }, current, isRotated: isCurrent }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
