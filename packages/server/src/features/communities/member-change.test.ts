import { type CommunityRole, communityRoles, type IdTag, profileStatuses, roleLevel } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { noRelation, type Relation, withStatus } from '#features/relations/index.ts'
import { Failure } from '#lib/failure.ts'
import { assertBound, assertMayChange, type MemberChange, roleIn } from './member-change.ts'

const actorTag = 'ann.example.com' as IdTag
const targetTag = 'tom.example.com' as IdTag

function member(role: CommunityRole, change: Partial<Relation> = {}): Relation {
  return { ...noRelation(targetTag), role, connection: 'connected', ...change }
}

/** The code of the failure, or `may`. */
function verdict(work: () => void): string {
  try {
    work()
    return 'may'
  } catch (error) {
    if (error instanceof Failure) return error.code
    throw error
  }
}

const question = (actorRole: CommunityRole, target: Relation, change: MemberChange) => () =>
  assertMayChange({ actorTag, actorRole, target, change })

describe('the right to change a member', () => {
  // The roles whose status moderators may change, and those whose status they may not.
  const lower = communityRoles.slice(0, roleLevel('moderator'))
  const upper = communityRoles.slice(roleLevel('moderator'))

  test.each(communityRoles.flatMap((actor) => communityRoles.map((target) => [actor, target] as const)))(
    'is given to a %s for the status of a %s, or denied',
    (actor, target) => {
      const may = actor === 'leader' || (actor === 'moderator' && lower.includes(target))
      for (const status of profileStatuses)
        expect([status, verdict(question(actor, member(target), { status }))]).toEqual([
          status,
          may ? 'may' : 'E-AUTH-FORBIDDEN',
        ])
      for (const change of [{ banExpiresAt: 1 }, { banReason: 'Spam' }])
        expect(verdict(question(actor, member(target), change))).toBe(may ? 'may' : 'E-AUTH-FORBIDDEN')
    },
  )

  test.each(communityRoles.flatMap((actor) => communityRoles.map((target) => [actor, target] as const)))(
    'is given to a %s for the role of a %s, or denied',
    (actor, target) => {
      for (const role of communityRoles)
        expect(verdict(question(actor, member(target), { roles: [role] }))).toBe(
          actor === 'leader' ? 'may' : 'E-AUTH-FORBIDDEN',
        )
    },
  )

  test.each(upper)('is denied to moderators for a banned %s, who keeps the rank', (role) => {
    const banned = member(role, withStatus('Banned'))
    expect(verdict(question('moderator', banned, { status: 'Active' }))).toBe('E-AUTH-FORBIDDEN')
    expect(verdict(question('leader', banned, { status: 'Active' }))).toBe('may')
  })

  test('is denied for one’s own status, but given to leaders for their own role', () => {
    const self = { ...member('leader'), idTag: actorTag }
    expect(verdict(question('leader', self, { status: 'Muted' }))).toBe('E-VALIDATION')
    expect(verdict(question('leader', self, { roles: ['contributor'] }))).toBe('may')
    expect(verdict(question('moderator', { ...self, role: 'moderator' }, { status: 'Trusted' }))).toBe(
      'E-AUTH-FORBIDDEN',
    )
  })

  test('is given to moderators only for the status of contributors by connection', () => {
    const connected = member('contributor', { role: undefined })
    expect(verdict(question('moderator', connected, { status: 'Banned' }))).toBe('may')
    expect(verdict(question('moderator', connected, { status: 'Banned', roles: [] }))).toBe(
      'E-AUTH-FORBIDDEN',
    )
  })
})

describe('a list of roles', () => {
  test.each<[readonly string[], CommunityRole]>([
    [[], 'public'],
    [['public'], 'public'],
    [['user'], 'public'],
    [['follower'], 'follower'],
    [['follower', 'supporter', 'contributor', 'moderator'], 'moderator'],
    [['leader', 'follower'], 'leader'],
    [['user', 'contributor'], 'contributor'],
  ])('%j makes %s', (roles, role) => {
    expect(roleIn(roles)).toBe(role)
  })

  test.each([['SADM'], ['Leader'], ['owner'], ['']])('%j is refused', (role) => {
    expect(verdict(() => roleIn([role]))).toBe('E-VALIDATION')
  })
})

describe('a role is given', () => {
  const follower: Partial<Relation> = { connection: 'disconnected', isFollower: true }
  const stranger: Partial<Relation> = { connection: 'disconnected' }
  const asking: Partial<Relation> = { connection: 'asked' }
  test.each<[string, Partial<Relation>, CommunityRole[]]>([
    ['the connected', {}, ['follower', 'supporter', 'contributor', 'moderator', 'leader']],
    ['followers', follower, ['follower', 'supporter']],
    ['strangers', stranger, []],
    ['who has only asked', asking, []],
  ])('to %s, as far as their relation allows: %o', (_, bond, possible) => {
    for (const role of communityRoles.slice(1))
      expect([role, verdict(() => assertBound(member('public', bond), role))]).toEqual([
        role,
        possible.includes(role) ? 'may' : 'E-STATE',
      ])
  })
})
