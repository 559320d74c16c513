import { communityRoles, parseScope, type Requirements } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { type Holder, refusalOf, scopesOfOneItem } from '#harness/contract-authority.ts'
import { idTag } from '#harness/http-site.ts'
import { type AnyCaller, type Identified, ownerOf } from '#infra/caller/index.ts'
import { authorize } from './authorize.ts'

interface Kind extends Holder {
  readonly caller: AnyCaller
}

const fileId = `b1~${'A'.repeat(43)}`
const alice = idTag('alice.example')
const bob = idTag('bob.example')
const person = { ...ownerOf({ idTag: alice }), sessionId: 'session', signedInAt: 1 }
const { signedInAt: _, ...unsigned } = person
const keyed: Identified = { ...unsigned, tokenUse: 'apikey' }
const visitor: Identified = { ...unsigned, idTag: bob, tokenUse: 'proxy', role: 'public', isOwner: false }

const scopes = scopesOfOneItem(fileId)

const scoped = <Caller extends AnyCaller>(caller: Caller, scope: string): Caller => ({
  ...caller,
  scope: parseScope(scope) ?? [],
})

const kinds: Record<string, Kind> = {}
const owners = { role: 'leader', isAdmin: false } as const
for (const [name, caller, isPersonal] of [
  ['a login token', person, true],
  ['an access token', { ...person, tokenUse: 'access' }, true],
  ['an API key, or a token made from it', keyed, false],
] as const) {
  kinds[name] = { caller, grants: 'all', isPersonal, ...owners }
  for (const [scope, grants] of scopes)
    kinds[`${name} with ${scope}`] = { caller: scoped(caller, scope), grants, isPersonal, ...owners }
}
for (const role of communityRoles) {
  const caller = { ...visitor, role }
  kinds[`a proxy token of a ${role}`] = { caller, grants: 'all', isPersonal: false, role, isAdmin: false }
  for (const [scope, grants] of scopes)
    kinds[`an access token of a ${role} with ${scope}`] = {
      caller: scoped({ ...caller, tokenUse: 'access' }, scope),
      grants,
      isPersonal: false,
      role,
      isAdmin: false,
    }
}
const admin = { grants: 'all', isAdmin: true } as const
kinds['the base tenant’s owner'] = {
  ...admin,
  caller: { ...person, isAdmin: true },
  isPersonal: true,
  role: 'leader',
}
kinds['an appointed administrator'] = {
  ...admin,
  caller: { ...visitor, isAdmin: true },
  isPersonal: false,
  role: 'public',
}

/** All that an endpoint may ask of a caller, each with each. */
const every: Requirements[] = []
const scopesAsked = ['read:files', 'write:files', 'admin:files', 'write:actions', 'admin:keys'] as const
const needs: Partial<Requirements>[] = [
  {},
  { unscoped: true },
  { unscoped: 'strictly' },
  ...scopesAsked.map((scope) => ({ scope })),
]
const asRoles: Partial<Requirements>[] = [
  {},
  ...[...communityRoles, 'SADM' as const].flatMap((role) => [{ role }, { role, orAdmin: true as const }]),
]
for (const auth of ['none', 'optional', 'required', 'personal'] as const)
  for (const need of needs)
    for (const asRole of asRoles)
      for (const guests of [{}, { guests: true as const }])
        for (const keys of [{}, { identityKeys: true as const }])
          every.push({ auth, ...need, ...asRole, ...guests, ...keys })

/** Where the decision is another than the rules say. */
function wrongFor(caller: AnyCaller, refusal: (requirements: Requirements) => string | undefined) {
  return every.filter((requirements) => authorize(requirements, caller) !== refusal(requirements))
}

describe('whatever is asked', () => {
  test.each(Object.entries(kinds))('of %s', (_, kind) => {
    expect(wrongFor(kind.caller, (requirements) => refusalOf(requirements, kind))).toEqual([])
  })

  test('of nobody', () => {
    expect(
      wrongFor({ kind: 'guest' }, ({ auth, role }) =>
        auth === 'none' || (auth === 'optional' && !role) ? undefined : 'E-AUTH-UNAUTH',
      ),
    ).toEqual([])
  })

  test.each(['read', 'write'] as const)('of a reference to %s a file', (level) => {
    const caller = {
      kind: 'reference',
      refId: '0123456789ABCDEFabcdefgh' as never,
      scope: parseScope(`file:${fileId}:${level}`) ?? [],
    } as const
    const open = ({ auth, guests, role, scope, unscoped }: Requirements) => {
      if (auth === 'none') return true
      if (!guests || role || unscoped || auth === 'personal') return false
      return scope === undefined || scope === 'read:files' || (scope === 'write:files' && level === 'write')
    }
    expect(wrongFor(caller, (asked) => (open(asked) ? undefined : 'E-AUTH-FORBIDDEN'))).toEqual([])
  })

  test('of a key of a managed identity', () => {
    expect(
      wrongFor({ kind: 'key', idTag: alice, keyId: 1 }, ({ auth, identityKeys }) =>
        auth === 'none' || identityKeys ? undefined : 'E-AUTH-FORBIDDEN',
      ),
    ).toEqual([])
  })
})
