import { allContracts, type Contract, parseScope } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { type Holder, refusalOf, scopesOfOneItem } from '#harness/contract-authority.ts'
import { idTag } from '#harness/http-site.ts'
import type { AnyCaller, Identified } from '#infra/caller/index.ts'
import { authorize } from './authorize.ts'

interface Kind extends Holder {
  readonly caller: AnyCaller
}

const fileId = `b1~${'A'.repeat(43)}`
const alice = idTag('alice.example')
const bob = idTag('bob.example')
const person: Identified = {
  kind: 'identity',
  idTag: alice,
  tokenUse: 'login',
  scope: undefined,
  role: 'leader',
  isOwner: true,
  isAdmin: false,
  sessionId: 'session',
  signedInAt: 1,
}
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
for (const role of ['public', 'follower', 'contributor', 'moderator', 'leader'] as const) {
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

function judge(caller: AnyCaller): Record<string, string | undefined> {
  return Object.fromEntries(allContracts.map((contract) => [contract.name, authorize(contract, caller)]))
}

function expectedOf(refusal: (contract: Contract) => string | undefined) {
  return Object.fromEntries(allContracts.map((contract) => [contract.name, refusal(contract)]))
}

describe('every contract', () => {
  test.each(Object.entries(kinds))('with %s', (_, kind) => {
    expect(judge(kind.caller)).toEqual(expectedOf((contract) => refusalOf(contract, kind)))
  })

  test('with nothing', () => {
    expect(judge({ kind: 'guest' })).toEqual(
      expectedOf(({ auth, role }) =>
        auth === 'none' || (auth === 'optional' && !role) ? undefined : 'E-AUTH-UNAUTH',
      ),
    )
  })

  test.each(['read', 'write'] as const)('with a reference to %s a file', (level) => {
    const caller = {
      kind: 'reference',
      refId: '0123456789ABCDEFabcdefgh' as never,
      scope: parseScope(`file:${fileId}:${level}`) ?? [],
    } as const
    const open = ({ auth, guests, role, scope, unscoped }: Contract) => {
      if (auth === 'none') return true
      if (!guests || role || unscoped || auth === 'personal') return false
      return scope === undefined || scope === 'read:files' || (scope === 'write:files' && level === 'write')
    }
    expect(judge(caller)).toEqual(expectedOf((contract) => (open(contract) ? undefined : 'E-AUTH-FORBIDDEN')))
  })

  test('with a key of a managed identity', () => {
    const open = ['getManagedIdentity', 'setIdentityAddress']
    expect(judge({ kind: 'key', idTag: alice, keyId: 1 })).toEqual(
      expectedOf(({ auth, name }) =>
        auth === 'none' || open.includes(name) ? undefined : 'E-AUTH-FORBIDDEN',
      ),
    )
  })
})

describe('contracts about credentials', () => {
  // By hand, so that none is declared more openly by mistake.
  const wanted: Record<string, string> = {
    createApiKey: 'personal',
    updateApiKey: 'personal',
    listApiKeys: 'personal admin:keys',
    getApiKey: 'personal admin:keys',
    deleteApiKey: 'personal admin:keys',
    listPasskeys: 'personal admin',
    getPasskeyChallenge: 'personal',
    addPasskey: 'personal',
    deletePasskey: 'personal',
    changePassword: 'personal',
    getQrLoginDetails: 'personal',
    answerQrLogin: 'personal',
    listSessions: 'required admin',
    revokeSession: 'personal',
    refreshLogin: 'required admin',
    getProxyToken: 'required unscoped',
    logout: 'required unscoped',
    listReferences: 'required admin:refs',
    createReference: 'required admin:refs',
    deleteReference: 'required admin:refs',
    getReference: 'optional',
    listFileShares: 'required admin:files',
    listShares: 'required admin:files',
    createShare: 'required admin:files',
    deleteShare: 'required admin:files',
    getAccessToken: 'optional',
    initLogin: 'optional',
    getVapidKey: 'required read:notifications',
  }
  const isAbout = ({ path, auth }: Contract) =>
    auth !== 'none' && /^\/api\/(auth|refs|shares)\b|\/shares\b/.test(path)

  test('ask for what the table says', () => {
    const asked = allContracts
      .filter(isAbout)
      .map(({ name, auth, scope, unscoped }): [string, string] => [
        name,
        [auth, unscoped === 'strictly' ? 'unscoped' : unscoped ? 'admin' : scope].filter(Boolean).join(' '),
      ])
    expect(Object.fromEntries(asked)).toEqual(wanted)
  })

  test('take no right to read or write for one to administer', () => {
    const asked: string[] = allContracts.map(({ scope }) => scope ?? '')
    for (const area of ['refs', 'keys'])
      for (const level of ['read', 'write']) expect(asked).not.toContain(`${level}:${area}`)
  })
})
