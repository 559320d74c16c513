import { type Contract, parseScope } from '@kith/protocol'
import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { callers, idTag } from '#harness/http-site.ts'
import type { AnyCaller, Caller, Identified, KeyHolder } from '#infra/caller/index.ts'
import { authorize } from './authorize.ts'

const open: Contract = {
  name: 'doThing',
  method: 'POST',
  path: '/api/thing',
  tag: 'Things',
  summary: 'Do a thing',
  auth: 'none',
  reply: { kind: 'data', status: 200, schema: Type.String() },
  errors: [],
}
const required: Contract = { ...open, auth: 'required' }
const optional: Contract = { ...open, auth: 'optional' }
const owner = callers.owner as Identified
const scoped = (scope: string): Caller => ({ ...owner, scope: parseScope(scope) ?? [] })
const reference = (scope: string): Caller => ({
  ...(callers.reference as Extract<Caller, { kind: 'reference' }>),
  scope: parseScope(scope) ?? [],
})
const nobody: Caller = { kind: 'guest' }
const key: KeyHolder = { kind: 'key', idTag: owner.idTag, keyId: 1 }
const fileRead = `file:b1~${'A'.repeat(43)}:read`
const fileWrite = `file:b1~${'A'.repeat(43)}:write`
const unauth = 'E-AUTH-UNAUTH'
const forbidden = 'E-AUTH-FORBIDDEN'

describe('authorize', () => {
  test.each<[string, Contract, AnyCaller, string | undefined]>([
    ['a key of an identity where nothing is asked', open, key, undefined],
    ['a key of an identity', required, key, forbidden],
    ['a key of an identity, optional', { ...optional, guests: true }, key, forbidden],
    ['a key of an identity where they are taken', { ...required, identityKeys: true }, key, undefined],
    ['nobody where nothing is asked', open, nobody, undefined],
    ['a narrowed token where nothing is asked', open, scoped('read:refs'), undefined],
    ['nobody where a credential is optional', optional, nobody, undefined],
    ['nobody where one is required', required, nobody, unauth],
    ['nobody where a role is required', { ...optional, role: 'follower' }, nobody, unauth],
    ['an identity', required, owner, undefined],
    ['a full token where a scope is asked', { ...required, scope: 'write:files' }, owner, undefined],
    ['the scope that is asked', { ...required, scope: 'write:files' }, scoped('write:files'), undefined],
    ['a higher level', { ...required, scope: 'read:files' }, scoped('admin'), undefined],
    ['a lower level', { ...required, scope: 'write:files' }, scoped('read:files'), forbidden],
    ['another area', { ...required, scope: 'read:files' }, scoped('read:actions'), forbidden],
    ['another area, optional', { ...optional, scope: 'read:files' }, scoped('read:actions'), forbidden],
    ['any scope where none is asked', required, scoped('read:actions'), undefined],
    ['a full token on an unscoped endpoint', { ...required, unscoped: true }, owner, undefined],
    ['admin on an unscoped endpoint', { ...required, unscoped: true }, scoped('admin'), undefined],
    [
      'admin among others on an unscoped endpoint',
      { ...required, unscoped: true },
      scoped(`read:actions,admin,${fileRead}`),
      undefined,
    ],
    [
      'the file among others where guests may',
      { ...required, guests: true, scope: 'write:files' },
      scoped(`read:actions,${fileRead},${fileWrite}`),
      undefined,
    ],
    ['write on an unscoped endpoint', { ...required, unscoped: true }, scoped('write'), forbidden],
    [
      'admin of one area on an unscoped endpoint',
      { ...required, unscoped: true },
      scoped('admin:keys'),
      forbidden,
    ],
    [
      'an API key’s file scope on an unscoped endpoint',
      { ...required, unscoped: true, guests: true },
      scoped(fileWrite),
      forbidden,
    ],
    ['a reference guest by default', optional, reference(fileRead), forbidden],
    ['a reference guest on a required endpoint by default', required, reference(fileRead), forbidden],
    ['a reference guest where guests may', { ...optional, guests: true }, reference(fileRead), undefined],
    [
      'a reference guest with its file',
      { ...optional, guests: true, scope: 'read:files' },
      reference(fileRead),
      undefined,
    ],
    [
      'a reference guest that may only read',
      { ...optional, guests: true, scope: 'write:files' },
      reference(fileRead),
      forbidden,
    ],
    [
      'a reference guest that may write',
      { ...required, guests: true, scope: 'write:files' },
      reference(fileWrite),
      undefined,
    ],
    [
      'writing includes reading',
      { ...required, guests: true, scope: 'read:files' },
      reference(fileWrite),
      undefined,
    ],
    [
      'a file scope never administers',
      { ...required, guests: true, scope: 'admin:files' },
      reference(fileWrite),
      forbidden,
    ],
    [
      'a file scope in another area',
      { ...optional, guests: true, scope: 'read:actions' },
      reference(fileRead),
      forbidden,
    ],
    ['a file scope where guests may not', { ...required, scope: 'read:files' }, scoped(fileRead), forbidden],
    [
      'a reference guest where a role is asked',
      { ...optional, guests: true, role: 'public' },
      reference(fileRead),
      forbidden,
    ],
    [
      'the role that is asked',
      { ...required, role: 'moderator' },
      { ...owner, role: 'moderator' },
      undefined,
    ],
    ['a higher role', { ...required, role: 'moderator' }, owner, undefined],
    ['a lower role', { ...required, role: 'moderator' }, { ...owner, role: 'contributor' }, forbidden],
    ['the leader where SADM is asked', { ...required, role: 'SADM' }, owner, forbidden],
    ['SADM', { ...required, role: 'SADM' }, { ...owner, isAdmin: true, role: 'public' }, undefined],
    [
      'SADM without the scope',
      { ...required, role: 'SADM', scope: 'admin:apps' },
      { ...owner, isAdmin: true, scope: [] },
      forbidden,
    ],
    [
      'a stranger with the scope but not the role',
      { ...required, role: 'leader', scope: 'read:files' },
      { ...owner, idTag: idTag('bob.example'), role: 'public', isOwner: false, scope: parseScope('admin') },
      forbidden,
    ],
  ])('%s: %#', (_, contract, caller, refusal) => {
    expect(authorize(contract, caller)).toBe(refusal)
  })
})
