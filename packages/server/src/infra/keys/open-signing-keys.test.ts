import { createPublicKey, createSecretKey } from 'node:crypto'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { TestClock } from '#harness/test-clock.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import { keysMigrations, openSignatures, openSigningKeys, openVault, type SigningKeyInfo } from './index.ts'

const migrations = keysMigrations

const [alice, bob] = [1 as TenantId, 2 as TenantId]
const daySecs = 86_400
const startMs = Date.UTC(2026, 1, 3)
const vault = openVault({ masterKey: createSecretKey(Buffer.alloc(32, 1)) })

interface KeyTables {
  signing_keys: { tenant_id: number; kid: string; sealed_private_key: Uint8Array }
}

function signingKeys(db: Database, clock = new TestClock(startMs), box = vault) {
  const keys = openSigningKeys({ db, vault: box, signatures: openSignatures(), clock })
  return {
    ...keys,
    create: (tenantId: TenantId) => db.transact(tenantId, (tx) => keys.create(tx)),
    rotate: (tenantId: TenantId) => db.transact(tenantId, (tx) => keys.rotate(tx)),
    revoke: (tenantId: TenantId, revocation: Parameters<typeof keys.revoke>[1]) =>
      db.transact(tenantId, (tx) => keys.revoke(tx, revocation)),
  }
}

const publicKeyOf = ({ publicKey }: SigningKeyInfo) => createPublicKey(publicKey)

eachDialect('signing keys', (open) => {
  test('a new key is named after its day and signs what its public half verifies', async () => {
    const keys = signingKeys(await open({ migrations }))
    const made = await keys.create(alice)
    expect(made.kid).toMatch(/^20260203[0-9a-z]{4}$/)
    expect(made.publicKey).toMatch(/^-----BEGIN PUBLIC KEY-----\n[\s\S]+\n-----END PUBLIC KEY-----\n$/)
    expect(publicKeyOf(made).asymmetricKeyDetails).toEqual({ namedCurve: 'secp384r1' })
    const token = await keys.sign(alice, { iss: 'alice.example', content: { text: 'Ünï ✓' } })
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES384', typ: 'JWT', kid: made.kid })
    const { payload } = await jwtVerify(token, publicKeyOf(made), { algorithms: ['ES384'] })
    expect(payload).toEqual({ iss: 'alice.example', content: { text: 'Ünï ✓' } })
  })

  test('each tenant has keys of its own', async () => {
    const keys = signingKeys(await open({ migrations }))
    const [hers, his] = [await keys.create(alice), await keys.create(bob)]
    expect(await keys.list(alice)).toEqual([hers])
    expect(await keys.list(bob)).toEqual([his])
    const token = await keys.sign(bob, { iss: 'bob.example' })
    await expect(jwtVerify(token, publicKeyOf(hers))).rejects.toThrow('signature')
    await jwtVerify(token, publicKeyOf(his))
  })

  test('a tenant without a key signs nothing', async () => {
    const keys = signingKeys(await open({ migrations }))
    await keys.create(alice)
    await expect(keys.sign(bob, {})).rejects.toThrow('no signing key')
    expect(await keys.list(bob)).toEqual([])
  })

  test('a second first key is refused', async () => {
    const keys = signingKeys(await open({ migrations }))
    const made = await keys.create(alice)
    await expect(keys.create(alice)).rejects.toThrow()
    expect(await keys.list(alice)).toEqual([made])
  })

  test('rotation retires the key shortly after now and signs with the next', async () => {
    const clock = new TestClock(startMs)
    const keys = signingKeys(await open({ migrations }), clock)
    const first = await keys.create(alice)
    await keys.sign(alice, {})
    clock.advance(daySecs * 1000)
    const second = await keys.rotate(alice)
    clock.advance(daySecs * 1000)
    const third = await keys.rotate(alice)
    const retiredAt = startMs / 1000 + 30
    expect(await keys.list(alice)).toEqual([
      third,
      { ...second, expiresAt: retiredAt + 2 * daySecs },
      { ...first, expiresAt: retiredAt + daySecs },
    ])
    expect(third.kid).toMatch(/^20260205/)
    expect(decodeProtectedHeader(await keys.sign(alice, {})).kid).toBe(third.kid)
  })

  test('a revoked key is replaced if it is the current one, and keeps the earliest time', async () => {
    const keys = signingKeys(await open({ migrations }), new TestClock(startMs))
    const first = await keys.create(alice)
    const { current, isRotated } = (await keys.revoke(alice, { kid: first.kid, since: 500 })) ?? {}
    expect(isRotated).toBe(true)
    const retired = { ...first, expiresAt: startMs / 1000 + 30 }
    expect(await keys.list(alice)).toEqual([current, { ...retired, revokedAt: 500 }])
    expect(decodeProtectedHeader(await keys.sign(alice, {})).kid).toBe(current?.kid)
    for (const [since, revokedAt] of [
      [600, 500],
      [400, 400],
    ] as const) {
      const again = await keys.revoke(alice, { kid: first.kid, since })
      expect(again).toEqual({ revoked: { ...retired, revokedAt }, current, isRotated: false })
    }
    await keys.create(bob)
    expect(await keys.revoke(bob, { kid: first.kid, since: 0 })).toBeUndefined()
  })

  test('a rotation that fails leaves the key as it was', async () => {
    const db = await open({ migrations })
    const clock = new TestClock(startMs)
    const keys = openSigningKeys({ db, vault, signatures: openSignatures(), clock })
    const first = await db.transact(alice, (tx) => keys.create(tx))
    const failing = db.transact(alice, async (tx) => {
      await keys.rotate(tx)
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await keys.list(alice)).toEqual([first])
    expect(decodeProtectedHeader(await keys.sign(alice, {})).kid).toBe(first.kid)
  })

  test('a rotation by another process counts at once', async () => {
    const db = await open({ migrations })
    const [server, commandLine] = [signingKeys(db), signingKeys(await open.again(db, { migrations }))]
    await server.create(alice)
    await server.sign(alice, {})
    const second = await commandLine.rotate(alice)
    expect(decodeProtectedHeader(await server.sign(alice, {})).kid).toBe(second.kid)
  })

  test('of two rotations at once both happen, one after the other', async () => {
    const keys = signingKeys(await open({ migrations }))
    await keys.create(alice)
    await Promise.all([keys.rotate(alice), keys.rotate(alice)])
    const listed = await keys.list(alice)
    expect(listed).toHaveLength(3)
    expect(listed.filter(({ expiresAt }) => expiresAt === undefined)).toEqual([listed[0]])
  })

  test('private halves are sealed in the database', async () => {
    const db = await open({ migrations })
    const keys = signingKeys(db)
    const { kid } = await keys.create(alice)
    const rows = await db.reader(alice).tables<KeyTables>().selectFrom('signing_keys').selectAll().execute()
    expect(rows).toHaveLength(1)
    const stored = Buffer.from(rows[0]?.sealed_private_key ?? [])
    expect(stored.toString('latin1')).not.toContain('PRIVATE')
    const der = Buffer.from(vault.unseal('signing-key', alice, stored))
    expect(stored.includes(der.subarray(-20))).toBe(false)
    expect(kid).toBe(rows[0]?.kid)
  })

  test('with another master key, or another tenant’s row, nothing is signed', async () => {
    const db = await open({ migrations })
    await signingKeys(db).create(alice)
    const stranger = openVault({ masterKey: createSecretKey(Buffer.alloc(32, 2)) })
    await expect(signingKeys(db, undefined, stranger).sign(alice, {})).rejects.toThrow('another master key')
    await db.transact(alice, (tx) =>
      tx.tables<KeyTables>().updateTable('signing_keys').set({ tenant_id: bob }).execute(),
    )
    await expect(signingKeys(db).sign(bob, {})).rejects.toThrow('sealed for something else')
  })
})
