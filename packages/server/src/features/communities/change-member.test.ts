import {
  type AuditEntryView,
  type CommunityRole,
  communityRoles,
  getAuditLog,
  type IdTag,
  profileStatuses,
} from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { createAction, makeAction, storeMade } from '#features/actions/index.ts'
import { auditEndpoints } from '#features/audit/index.ts'
import {
  changeRelation,
  findRelation,
  listLeaders,
  type Relation,
  roleOf,
  statusOf,
} from '#features/relations/index.ts'
import { type Actor, actionLab, identity } from '#harness/action-lab.ts'
import { callEndpoint } from '#harness/call-endpoint.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { changeMember } from './change-member.ts'
import type { MemberChange } from './member-change.ts'

const fails = (code: string) => expect.objectContaining({ code })
const tag = (name: string) => `${name}.example.com` as IdTag

/** A community of Lea, Max and Carl; Finn follows it, and Sam is a stranger. */
async function openClub(openLab: ReturnType<typeof actionLab>) {
  const lab = await openLab()
  const club = await lab.makeTenant('club.example.com', 'community')
  const carl = await lab.makeTenant('carl.example.com')
  const ended: string[] = []
  const revoked: string[] = []
  const deps = {
    db: lab.db,
    clock: lab.clock,
    jobs: lab.jobs,
    async prepareEnd(community: Actor['tenant'] | { idTag: IdTag }, audienceTag: IdTag) {
      const input = { type: 'CONN', subType: 'DEL', audienceTag }
      const owner = identity(community.idTag, { isOwner: true, role: 'leader' })
      const made = await makeAction(lab.ports, { tenant: club.tenant, caller: owner, input })
      return async (tx: Parameters<typeof storeMade>[1]) => {
        ended.push(audienceTag)
        await storeMade(lab.ports, tx, made)
      }
    },
    revokeSessions: async (_: unknown, callerTag: IdTag) => void revoked.push(callerTag),
    emit: async () => undefined,
  }
  const put = (idTag: IdTag, relation: Partial<Relation>) =>
    lab.db.transact(club.tenant.tenantId, (tx) => changeRelation(tx, idTag, { ...relation, at: 1 }))
  const member = { connection: 'connected' } as const
  await put(tag('lea'), { ...member, role: 'leader' })
  await put(tag('max'), { ...member, role: 'moderator' })
  await put(tag('carl'), { ...member, role: 'contributor' })
  await put(tag('finn'), { isFollower: true, role: 'follower' })
  const of = async (name: string) => {
    const relation = await findRelation(club.reader, tag(name))
    return relation && { role: roleOf(relation), status: statusOf(relation) }
  }
  const change = async (by: string, of: string, change: MemberChange) => {
    const relation = await findRelation(club.reader, tag(by))
    const role = relation ? roleOf(relation) : 'public'
    const caller = identity(tag(by), { role })
    return changeMember(deps, { tenant: club.tenant, caller, idTag: tag(of), change, ip: '192.0.2.1' })
  }
  return { ...lab, club, carl, deps, put, of, change, ended, revoked }
}

eachDialect('a community’s leaders and moderators', (open) => {
  const openLab = actionLab(open)
  const start = () => openClub(openLab)

  describe('give and take roles', () => {
    test('leaders only, to members of any role', async () => {
      const { change, of } = await start()
      for (const role of ['supporter', 'moderator', 'leader', 'contributor'] as const) {
        expect(await change('lea', 'carl', { roles: [role] })).toMatchObject({ role })
        expect(await of('carl')).toEqual({ role, status: 'Active' })
      }
      await expect(change('max', 'carl', { roles: ['supporter'] })).rejects.toEqual(fails('E-AUTH-FORBIDDEN'))
      await expect(change('carl', 'finn', { roles: ['supporter'] })).rejects.toEqual(
        fails('E-AUTH-FORBIDDEN'),
      )
      await expect(change('lea', 'finn', { roles: ['moderator'] })).rejects.toEqual(fails('E-STATE'))
      await expect(change('lea', 'sam', { roles: ['follower'] })).rejects.toEqual(fails('E-STATE'))
      await expect(change('lea', 'carl', { roles: ['SADM'] })).rejects.toEqual(fails('E-VALIDATION'))
    })

    test('a member without a role is out, and told so', async () => {
      const { change, of, ended, carl, club, settle } = await start()
      await change('lea', 'carl', { roles: [] })
      expect(ended).toEqual([tag('carl')])
      expect(await of('carl')).toEqual({ role: 'public', status: 'Active' })
      await settle()
      expect(await carl.list({ type: ['CONN'] })).toMatchObject([{ issuerTag: club.idTag, subType: 'DEL' }])
      await change('lea', 'finn', { roles: ['public'] })
      expect(await findRelation(club.reader, tag('finn'))).toMatchObject({
        isFollower: false,
        role: undefined,
      })
      expect(ended).toEqual([tag('carl')])
    })

    test('the last leader keeps the role in every case', async () => {
      const { change, of, put } = await start()
      for (const roles of [['moderator'], ['public'], []])
        await expect(change('lea', 'lea', { roles })).rejects.toEqual(fails('E-STATE'))
      await put(tag('max'), { role: 'leader' })
      await change('lea', 'lea', { roles: ['contributor'] })
      expect([await of('lea'), await of('max')]).toMatchObject([{ role: 'contributor' }, { role: 'leader' }])
      await expect(change('max', 'max', { roles: [] })).rejects.toEqual(fails('E-STATE'))
    })
  })

  describe('give statuses', () => {
    const blockedStates: Record<string, Partial<Relation>> = {
      Active: { isBlocked: false, isMuted: false },
      Trusted: { isBlocked: false, isMuted: false },
      Blocked: { isBlocked: true, isMuted: false },
      Muted: { isBlocked: false, isMuted: true },
      Suspended: { isBlocked: true, isMuted: true },
      Banned: { isBlocked: true, isMuted: true },
    }

    test('from any to any, and the role returns afterwards', async () => {
      const { change, of, club } = await start()
      for (const from of profileStatuses)
        for (const to of profileStatuses) {
          await change('max', 'carl', { status: from })
          await change('lea', 'carl', { status: to })
          const isOut = blockedStates[to]?.isBlocked
          expect(await of('carl')).toEqual({ role: isOut ? 'public' : 'contributor', status: to })
          expect(await findRelation(club.reader, tag('carl'))).toMatchObject({
            ...blockedStates[to],
            role: 'contributor',
          })
        }
    })

    test('to strangers too', async () => {
      const { change, of } = await start()
      await change('max', 'sam', { status: 'Banned', banReason: 'Spam' })
      expect(await of('sam')).toEqual({ role: 'public', status: 'Banned' })
    })

    test('that end by themselves', async () => {
      const { change, of, clock, settle } = await start()
      const now = clock.now() / 1000
      const banned = await change('max', 'carl', {
        status: 'Banned',
        banExpiresAt: now + 60,
        banReason: 'Spam',
      })
      expect(banned).toMatchObject({ standing: 'Banned', standingUntil: now + 60, standingReason: 'Spam' })
      clock.advance(59_000)
      await settle()
      expect(await of('carl')).toEqual({ role: 'public', status: 'Banned' })
      clock.advance(2_000)
      await settle()
      expect(await of('carl')).toEqual({ role: 'contributor', status: 'Active' })
    })

    test('that end only at the new time when it was changed', async () => {
      const { change, of, clock, settle } = await start()
      const now = clock.now() / 1000
      await change('max', 'carl', { status: 'Suspended', banExpiresAt: now + 60 })
      await change('lea', 'carl', { banExpiresAt: now + 120, banReason: 'Longer' })
      clock.advance(61_000)
      await settle()
      expect(await of('carl')).toMatchObject({ status: 'Suspended' })
      clock.advance(60_000)
      await settle()
      expect(await of('carl')).toMatchObject({ status: 'Active' })
      await change('max', 'carl', { status: 'Banned', banExpiresAt: now + 200 })
      await change('lea', 'carl', { status: 'Banned' })
      clock.advance(100_000)
      await settle()
      expect(await of('carl')).toMatchObject({ status: 'Banned' })
    })

    test('with an end only for restrictions, and only in the future', async () => {
      const { change, clock } = await start()
      const now = clock.now() / 1000
      for (const wrong of [
        { status: 'Banned' as const, banExpiresAt: now },
        { status: 'Active' as const, banExpiresAt: now + 60 },
        { status: 'Trusted' as const, banReason: 'Nice' },
        { banExpiresAt: now + 60 },
        { banReason: 'Spam' },
      ])
        await expect(change('max', 'carl', wrong)).rejects.toEqual(fails('E-VALIDATION'))
    })

    test('moderators only to members below them, and nobody to themselves', async () => {
      const { change, put } = await start()
      await put(tag('mia'), { connection: 'connected', role: 'moderator' })
      for (const target of ['mia', 'lea', 'max'])
        await expect(change('max', target, { status: 'Muted' })).rejects.toEqual(fails('E-AUTH-FORBIDDEN'))
      await expect(change('lea', 'lea', { status: 'Muted' })).rejects.toEqual(fails('E-VALIDATION'))
      for (const by of ['carl', 'finn', 'sam'])
        await expect(change(by, 'finn', { status: 'Muted' })).rejects.toEqual(fails('E-AUTH-FORBIDDEN'))
    })

    test('and end the sessions of suspended and banned members', async () => {
      const { change, revoked } = await start()
      for (const status of ['Muted', 'Blocked', 'Trusted', 'Active'] as const)
        await change('max', 'carl', { status })
      expect(revoked).toEqual([])
      for (const status of ['Suspended', 'Banned'] as const) await change('max', 'carl', { status })
      expect(revoked).toEqual([tag('carl'), tag('carl')])
    })

    test('and role together, or neither', async () => {
      const { change, of } = await start()
      await change('lea', 'carl', { roles: ['moderator'], status: 'Trusted' })
      expect(await of('carl')).toEqual({ role: 'moderator', status: 'Trusted' })
      const wrong = { roles: ['supporter'], status: 'Banned' as const, banExpiresAt: 1 }
      await expect(change('lea', 'carl', wrong)).rejects.toEqual(fails('E-VALIDATION'))
      expect(await of('carl')).toEqual({ role: 'moderator', status: 'Trusted' })
    })
  })

  test('are recorded in the audit trail', async () => {
    const { change, db, clock, club } = await start()
    await change('lea', 'carl', { roles: ['moderator'] })
    await change('lea', 'carl', { status: 'Muted', banReason: 'Loud' })
    const page = await callEndpoint(auditEndpoints({ db, clock }), getAuditLog, {
      tenant: club.tenant,
      caller: club.caller,
      query: {},
    })
    const items = page.items as unknown as AuditEntryView[]
    const events = items.map(({ event, actorTag, details }) => ({ event, actorTag, details }))
    const actorTag = tag('lea')
    expect(events).toHaveLength(2)
    expect(events).toEqual(
      expect.arrayContaining([
        {
          event: 'member.role-changed',
          actorTag,
          details: { idTag: tag('carl'), from: 'contributor', to: 'moderator' },
        },
        {
          event: 'member.status-changed',
          actorTag,
          details: { idTag: tag('carl'), status: 'Muted', banReason: 'Loud' },
        },
      ]),
    )
  })

  test.each<[string, CommunityRole]>(communityRoles.map((role) => [role, role]))(
    'a %s leaves by ending the connection',
    async (_, role) => {
      const { carl, club, put, of, ports, settle } = await start()
      await put(tag('carl'), { role, connection: 'connected' })
      const leave = { type: 'CONN', subType: 'DEL', audienceTag: club.idTag }
      await createAction(ports, { tenant: carl.tenant, caller: carl.caller, input: leave })
      await settle()
      // A follower was never connected, and continues to follow.
      expect(await of('carl')).toMatchObject({ role: role === 'follower' ? 'follower' : 'public' })
    },
  )
})

eachDialect('two leaders at the same time', (open) => {
  const openLab = actionLab(open)
  const start = () => openClub(openLab)

  test('who demote each other: one stays', async () => {
    const { change, put, club } = await start()
    await put(tag('max'), { role: 'leader' })
    const outcomes = await Promise.allSettled([
      change('lea', 'max', { roles: ['contributor'] }),
      change('max', 'lea', { roles: ['contributor'] }),
    ])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await listLeaders(club.reader)).toHaveLength(1)
  })

  test('who step down: one stays', async () => {
    const { change, put, club } = await start()
    await put(tag('max'), { role: 'leader' })
    const outcomes = await Promise.allSettled(
      ['lea', 'max'].map((name) => change(name, name, { roles: ['contributor'] })),
    )
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await listLeaders(club.reader)).toHaveLength(1)
  })

  test('who ban each other: one stays', async () => {
    const { change, put, club } = await start()
    await put(tag('max'), { role: 'leader' })
    const outcomes = await Promise.allSettled([
      change('lea', 'max', { status: 'Banned' }),
      change('max', 'lea', { status: 'Banned' }),
    ])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await listLeaders(club.reader)).toHaveLength(1)
  })
})
