import { createSecretKey, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { openVault } from './index.ts'

const masterKey = createSecretKey(Buffer.alloc(32, 7))
const vault = openVault({ masterKey })
const [alice, bob] = [1 as TenantId, 2 as TenantId]
const secret = Buffer.from('a private key')

test('gives back what was sealed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), fc.nat(), (bytes, owner) => {
      const sealed = vault.seal('signing-key', owner as TenantId, bytes)
      expect(vault.unseal('signing-key', owner as TenantId, sealed)).toEqual(Buffer.from(bytes))
    }),
  )
})

test('the same secret is never sealed in the same way twice, nor readable', () => {
  const sealed = Array.from({ length: 100 }, () =>
    Buffer.from(vault.seal('p', alice, secret)).toString('hex'),
  )
  expect(new Set(sealed).size).toBe(100)
  expect(sealed.join()).not.toContain(secret.toString('hex'))
})

test('opens in another process with the same master key', () => {
  const again = openVault({ masterKey: createSecretKey(Buffer.alloc(32, 7)) })
  expect(again.unseal('p', alice, vault.seal('p', alice, secret))).toEqual(secret)
})

test.each<[string, () => Uint8Array]>([
  ['another owner', () => vault.unseal('p', bob, vault.seal('p', alice, secret))],
  ['the server in place of a tenant', () => vault.unseal('p', serverTenant, vault.seal('p', alice, secret))],
  ['another purpose', () => vault.unseal('q', alice, vault.seal('p', alice, secret))],
  [
    'an owner moved into the purpose',
    () => vault.unseal('p1', 1 as TenantId, vault.seal('p', 11 as TenantId, secret)),
  ],
  [
    'another master key',
    () =>
      openVault({ masterKey: createSecretKey(randomBytes(32)) }).unseal(
        'p',
        alice,
        vault.seal('p', alice, secret),
      ),
  ],
  ['nothing', () => vault.unseal('p', alice, new Uint8Array())],
  ['the plain text', () => vault.unseal('p', alice, secret)],
  [
    'a scheme of the future',
    () => vault.unseal('p', alice, Uint8Array.from([2, ...vault.seal('p', alice, secret).subarray(1)])),
  ],
])('refuses %s', (_, unseal) => {
  expect(unseal).toThrow(/sealed/)
})

test('refuses whatever was changed or cut, at any byte', () => {
  const sealed = vault.seal('p', alice, secret)
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Uint8Array.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(() => vault.unseal('p', alice, changed)).toThrow(/sealed/)
    expect(() => vault.unseal('p', alice, sealed.subarray(0, at))).toThrow(/sealed/)
  }
})

test('reads what the first version wrote', () => {
  // Made once with the key above; whoever changes the scheme has to keep reading this.
  const stored = 'Ae6HijhGrU74JLuvMCBdFqwX3n8uwyF5IkmpXuBkVPAr6PXEmqIMU8dL'
  expect(vault.unseal('signing-key', alice, Buffer.from(stored, 'base64'))).toEqual(secret)
})

test('takes only master keys of 32 bytes and purposes that are words', () => {
  expect(() => openVault({ masterKey: createSecretKey(randomBytes(16)) })).toThrow('32 bytes')
  expect(() => vault.seal('two\nlines', alice, secret)).toThrow('purpose')
  expect(() => vault.seal('', alice, secret)).toThrow('purpose')
})

test('has room for a bounded number of purposes', () => {
  const busy = openVault({ masterKey })
  for (let at = 0; at < 200; at += 1) busy.seal(`purpose ${at}`, alice, secret)
  expect(() => busy.seal('one more', alice, secret)).toThrow('purpose')
  busy.seal('purpose 0', alice, secret)
})

test('shows who has the master key, for one purpose and one text', () => {
  const again = openVault({ masterKey: createSecretKey(Buffer.alloc(32, 7)) })
  const other = openVault({ masterKey: createSecretKey(Buffer.alloc(32, 8)) })
  const mac = vault.mac('p', 'text')
  expect(mac).toHaveLength(32)
  expect(again.mac('p', 'text')).toEqual(mac)
  for (const another of [vault.mac('q', 'text'), vault.mac('p', 'texts'), other.mac('p', 'text')])
    expect(another).not.toEqual(mac)
})
