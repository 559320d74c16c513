import { describe, expect, test } from 'vitest'
import { idTag } from '#harness/http-site.ts'
import { type Identified, identified, type KeyHolder, type Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { acceptAddress, assertMayChange, type IdentityRole, roleOnIdentity } from './managed-identity.ts'

const provider: Tenant = { tenantId: 1 as TenantId, idTag: idTag('names.example'), type: 'person' }
const club: Tenant = { ...provider, type: 'community' }
const self = idTag('x.names.example')
const owner = idTag('owner.example')
const registrar = idTag('registrar.example')
const own = { idTag: self, registrarTag: registrar }
const owned = { ...own, ownerTag: owner }

const caller = (name: string, more: Partial<Identified> = {}) =>
  identified(idTag(name), { tokenUse: 'proxy', role: 'public', ...more })
const key = (name: string): KeyHolder => ({ kind: 'key', idTag: idTag(name), keyId: 1 })

test.each<[string, Identified | KeyHolder, Tenant, typeof own, IdentityRole | undefined]>([
  ['the provider’s owner', caller('names.example', { isOwner: true }), provider, owned, 'provider'],
  ['an administrator', caller('root.example', { isAdmin: true }), provider, owned, 'provider'],
  ['a leader of a community', caller('lea.example', { role: 'leader' }), club, owned, 'provider'],
  ['a moderator of a community', caller('mo.example', { role: 'moderator' }), club, owned, undefined],
  ['a leader where nobody leads', caller('lea.example', { role: 'leader' }), provider, owned, undefined],
  ['the owner', caller('owner.example'), provider, owned, 'owner'],
  ['the identity that has an owner', caller('x.names.example'), provider, owned, undefined],
  ['the identity that has none', caller('x.names.example'), provider, own, 'owner'],
  ['the registrar', caller('registrar.example'), provider, owned, 'registrar'],
  ['its key', key('x.names.example'), provider, owned, 'key'],
  ['the key of another', key('y.names.example'), provider, owned, undefined],
  ['a stranger', caller('bob.example'), provider, owned, undefined],
])('%s stands so', (_, who, tenant, identity, ownRole) => {
  expect(roleOnIdentity(who, tenant, identity)).toBe(ownRole)
})

describe('a change', () => {
  test.each([
    ['pending', 'provider', undefined],
    ['pending', 'owner', undefined],
    ['pending', 'registrar', undefined],
    ['pending', 'key', undefined],
    ['active', 'provider', undefined],
    ['active', 'owner', undefined],
    ['active', 'registrar', 'E-AUTH-FORBIDDEN'],
    ['active', 'key', undefined],
    ['suspended', 'provider', undefined],
    ['suspended', 'owner', 'E-STATE'],
    ['suspended', 'registrar', 'E-AUTH-FORBIDDEN'],
    ['suspended', 'key', 'E-STATE'],
  ] as const)('of one that is %s by the %s: %s', (status, ownRole, code) => {
    const change = () => assertMayChange(ownRole, { status })
    if (code === undefined) expect(change).not.toThrow()
    else expect(change).toThrow(expect.objectContaining({ code }))
  })
})

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['2001:DB8:0::7', '2001:db8::7'],
  ['Edge.Example.NET', 'edge.example.net'],
])('the address %s is written %s', (text, expected) => {
  expect(acceptAddress(text, self)).toBe(expected)
})

test.each([
  '',
  'localhost',
  '198.51.100',
  '198.51.100.256',
  'fe80::1%eth0',
  '[::1]',
  'a.example:80',
  'http://a.example',
  'x.names.example',
])('%s is no address', (text) => {
  expect(() => acceptAddress(text, self)).toThrow(expect.objectContaining({ code: 'E-VALIDATION' }))
})
