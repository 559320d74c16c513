import { createSecretKey, type KeyObject } from 'node:crypto'
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { TestClock } from '#harness/test-clock.ts'
import { serverTenant } from '#infra/db/index.ts'
import { keysMigrations, openTokenSecrets, openVault } from './index.ts'

const daySecs = 86_400
const startMs = Date.UTC(2026, 1, 3)
const vault = openVault({ masterKey: createSecretKey(Buffer.alloc(32, 1)) })

interface KeyTables {
  token_secrets: { tenant_id: number; kid: string; sealed_secret: Uint8Array }
}

eachDialect('token secrets', (open) => {
  const mint = async ({ kid, key }: { kid: string; key: KeyObject }) =>
    new SignJWT({ sub: 'alice.example' }).setProtectedHeader({ alg: 'HS256', kid }).sign(key)

  test('the first is made when it is asked for, and stays', async () => {
    const db = await open({ migrations: keysMigrations })
    const clock = new TestClock(startMs)
    const secrets = openTokenSecrets({ db, vault, clock })
    const first = await secrets.current()
    expect(first.kid).toMatch(/^20260203[0-9a-z]{4}$/)
    expect(first.key.symmetricKeySize).toBe(48)
    expect((await openTokenSecrets({ db, vault, clock }).current()).key.equals(first.key)).toBe(true)
  })

  test('all who ask first at the same time get the same', async () => {
    const db = await open({ migrations: keysMigrations })
    const clock = new TestClock(startMs)
    const nodes = [openTokenSecrets({ db, vault, clock }), openTokenSecrets({ db, vault, clock })]
    const asked = await Promise.all(Array.from({ length: 20 }, (_, at) => nodes[at % 2]?.current()))
    expect(new Set(asked.map((secret) => secret?.kid)).size).toBe(1)
  })

  test('a token verifies by its kid, with jose', async () => {
    const db = await open({ migrations: keysMigrations })
    const secrets = openTokenSecrets({ db, vault, clock: new TestClock(startMs) })
    const token = await mint(await secrets.current())
    const key = await secrets.find(decodeProtectedHeader(token).kid ?? '')
    const { payload } = await jwtVerify(token, key ?? new Uint8Array(), { algorithms: ['HS256'] })
    expect(payload.sub).toBe('alice.example')
  })

  test('after a rotation both verify, the old one until its tokens have expired', async () => {
    const clock = new TestClock(startMs)
    const secrets = openTokenSecrets({ db: await open({ migrations: keysMigrations }), vault, clock })
    const old = await secrets.current()
    await secrets.rotate()
    const next = await secrets.current()
    expect(next.kid).not.toBe(old.kid)
    clock.advance((30 * daySecs - 1) * 1000)
    expect((await secrets.find(old.kid))?.equals(old.key)).toBe(true)
    clock.advance(1000)
    expect(await secrets.find(old.kid)).toBeUndefined()
    expect((await secrets.find(next.kid))?.equals(next.key)).toBe(true)
  })

  test('a rotation removes what no token needs any more', async () => {
    const db = await open({ migrations: keysMigrations })
    const clock = new TestClock(startMs)
    const secrets = openTokenSecrets({ db, vault, clock })
    await secrets.current()
    for (let round = 0; round < 4; round += 1) {
      await secrets.rotate()
      clock.advance(20 * daySecs * 1000)
    }
    await secrets.rotate()
    const rows = await db
      .reader(serverTenant)
      .tables<KeyTables>()
      .selectFrom('token_secrets')
      .selectAll()
      .execute()
    expect(rows).toHaveLength(3)
  })

  test('another node knows the next secret at once and uses it within a minute', async () => {
    const db = await open({ migrations: keysMigrations })
    const clock = new TestClock(startMs)
    const [here, there] = [openTokenSecrets({ db, vault, clock }), openTokenSecrets({ db, vault, clock })]
    const old = await here.current()
    await there.current()
    await here.rotate()
    const next = await here.current()
    expect((await there.find(next.kid))?.equals(next.key)).toBe(true)
    expect((await there.current()).kid).toBe(old.kid)
    clock.advance(60_000)
    expect((await there.current()).kid).toBe(next.kid)
  })

  test('the end of a retired secret counts on a node that had it in memory', async () => {
    const db = await open({ migrations: keysMigrations })
    const clock = new TestClock(startMs)
    const [here, there] = [openTokenSecrets({ db, vault, clock }), openTokenSecrets({ db, vault, clock })]
    const old = await there.current()
    await here.rotate()
    clock.advance(30 * daySecs * 1000)
    expect(await there.find(old.kid)).toBeUndefined()
  })

  test.each([
    '',
    '20260203',
    '20260203abcd',
    '20260203ABCD',
    '../etc/passwd',
    "x' or 1=1",
    'k'.repeat(10_000),
  ])('the kid %j is nobody’s', async (kid) => {
    const secrets = openTokenSecrets({
      db: await open({ migrations: keysMigrations }),
      vault,
      clock: new TestClock(),
    })
    expect(await secrets.find(kid)).toBeUndefined()
  })

  test('secrets are sealed in the database', async () => {
    const db = await open({ migrations: keysMigrations })
    const { key } = await openTokenSecrets({ db, vault, clock: new TestClock(startMs) }).current()
    const rows = await db
      .reader(serverTenant)
      .tables<KeyTables>()
      .selectFrom('token_secrets')
      .selectAll()
      .execute()
    expect(Buffer.from(rows[0]?.sealed_secret ?? []).includes(key.export())).toBe(false)
    const stranger = openVault({ masterKey: createSecretKey(Buffer.alloc(32, 2)) })
    const elsewhere = openTokenSecrets({ db, vault: stranger, clock: new TestClock(startMs) })
    await expect(elsewhere.current()).rejects.toThrow('another master key')
  })
})
