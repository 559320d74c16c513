import type { Action, ActionStatus, IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { viewerOf } from '#features/relations/index.ts'
import { type Actor, actionLab, guest, identity } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import type { Caller } from '#infra/caller/index.ts'
import type { StoredAction } from '../action.ts'
import { ownActionId } from '../action-id.ts'
import { insertAction } from '../action-store.ts'
import type { ActionFilter } from './action-filter.ts'
import { listValues } from './feed-query-store.ts'
import { findDrivingFilter } from './feed-store.ts'

const [bob, carol, dora] = ['bob.example.com', 'carol.example.com', 'dora.example.com'] as const as readonly [
  IdTag,
  IdTag,
  IdTag,
]
const now = 1_767_225_600
const types = ['POST', 'MSG', 'ACK'] as const
const statuses: StoredAction['status'][] = ['A', 'A', 'C', 'D', 'R', 'P']

type Query = Parameters<Actor['page']>[0]
type Holds = (action: Action) => boolean

const isFor = (tag: string, { audienceTag, audience }: Action) =>
  audienceTag === tag || (audience?.includes(tag) ?? false)
const involves = (tag: string, action: Action) =>
  action.issuerTag === tag || action.subject === tag || isFor(tag, action)

const filters: [Query, Holds][] = [
  [{ audience: bob }, (action) => isFor(bob, action)],
  [{ audience: dora }, (action) => isFor(dora, action)],
  [{ involved: bob }, (action) => involves(bob, action)],
  [{ type: ['MSG', 'ACK'] }, ({ type }) => type !== 'POST'],
  [{ type: ['ACK', 'POST', 'ACK'] }, ({ type }) => type !== 'MSG'],
  [{ involved: bob, type: ['POST', 'MSG'] }, (it) => involves(bob, it) && it.type !== 'ACK'],
  [{ involved: bob, audience: carol }, (it) => involves(bob, it) && isFor(carol, it)],
  [{ issuer: carol, audience: bob }, (it) => it.issuerTag === carol && isFor(bob, it)],
  [{ tag: 'garden', involved: bob }, (it) => involves(bob, it) && it.type === 'POST'],
  [{ search: 'rose', audience: bob }, (it) => isFor(bob, it) && it.type === 'POST' && it.status !== 'D'],
  [{ involved: bob, createdAfter: now - 3 }, (it) => involves(bob, it) && timeOf(it) > now - 3],
  [{ audience: bob, createdBefore: now - 3 }, (it) => isFor(bob, it) && timeOf(it) < now - 3],
]

const timeOf = ({ createdAt }: Action) => Date.parse(createdAt) / 1000

eachDialect('a filter', (open) => {
  const openLab = actionLab(open)

  test('finds a stranger’s action for visitors once the person reposts it, and not before', async () => {
    const { makeTenant, forge, receive } = await openLab()
    const alice = await makeTenant('alice.example.com')
    const eve = await makeTenant('eve.example.com')
    const members = { type: 'POST', content: { text: 'rose', tags: ['garden'] }, subject: alice.idTag }
    const token = await forge(eve, { ...members, audience: [carol, dora], visibility: 'P' })
    await receive(alice.tenant, token)
    const [held] = await alice.list({ issuer: eve.idTag })
    const queries: Query[] = [
      {},
      ...[{ issuer: eve.idTag }, { audience: carol }, { involved: dora }, { involved: eve.idTag }],
      ...[{ subject: alice.idTag }, { tag: 'garden' }, { search: 'rose' }, { search: 'ro', tag: 'garden' }],
    ]
    const countFor = async (caller: Caller) => {
      const lists = await Promise.all(queries.map((query) => alice.as(caller).list(query)))
      return lists.map((list) => list.filter(({ actionId }) => actionId === held?.actionId).length)
    }
    const everywhere = queries.map(() => 1)
    const nowhere = queries.map(() => 0)
    // Its addressees find it in every list.
    expect(await countFor(identity(carol))).toEqual(everywhere)
    expect([await countFor(guest), await countFor(identity(bob))]).toEqual([nowhere, nowhere])
    await alice.create({ type: 'REPOST', subject: held?.actionId ?? '' })
    expect([await countFor(guest), await countFor(identity(bob))]).toEqual([everywhere, everywhere])
    expect(await countFor(identity(carol))).toEqual(everywhere)
  })

  test('shows the matching part of the whole list, once and in its order, page by page', async () => {
    const { makeTenant, db } = await openLab()
    const alice = await makeTenant('alice.example.com')
    await db.transact(alice.tenant.tenantId, async (tx) => {
      for (const action of everyKind(alice.idTag)) await insertAction(tx, action)
    })
    const callers = [alice, alice.as(guest), alice.as(identity(bob))]
    const asked: ActionStatus[][] = [['A'], ['A', 'C', 'D', 'R', 'P'], ['C', 'N']]
    const ways = callers.flatMap((who) => asked.map((status) => ({ who, status })))
    for (const { who, status } of ways) {
      const whole = await allPages(who, { status, limit: 200 })
      for (const [query, holds] of filters) {
        const ids = whole.filter(holds).map(({ actionId }) => actionId)
        const found = await allPages(who, { ...query, status, limit: 7 })
        expect([query, found.map(({ actionId }) => actionId)]).toEqual([query, ids])
        const back = await allPages(who, { ...query, status, limit: 50, sortDir: 'asc' })
        expect([query, back.map(({ actionId }) => actionId)]).toEqual([query, ids.toReversed()])
        const page = await who.page({ ...query, status, limit: 3, offset: 2 })
        expect(page.items.map(({ actionId }) => actionId)).toEqual(ids.slice(2, 5))
        expect(page.total).toBe(ids.length)
      }
    }
  })
})

eachDialect('of several filters', (open) => {
  const openLab = actionLab(open)

  test('the one that finds the fewest actions leads, for every viewer', async () => {
    const { makeTenant, db } = await openLab()
    const alice = await makeTenant('alice.example.com')
    const { tenant, reader } = alice
    await db.transact(tenant.tenantId, async (tx) => {
      for (const action of everyKind(alice.idTag)) await insertAction(tx, action)
    })
    const leadOf = async (caller: Caller, filter: ActionFilter) => {
      const query = { viewer: viewerOf(tenant, caller, {}), filter, now }
      return findDrivingFilter(reader, query, listValues(reader, query) ?? {})
    }
    const owner = alice.caller
    expect(await leadOf(owner, { tag: 'garden', involved: 'nobody.example.com' as IdTag })).toBe('involved')
    expect(await leadOf(owner, { tag: 'rare', involved: bob })).toBe('tag')
    expect(await leadOf(owner, { issuer: carol, types: ['POST', 'MSG', 'ACK'] })).toBe('issuer')
    expect(await leadOf(owner, { issuer: carol, types: ['FSHR'] })).toBe('types')
    expect(await leadOf(owner, { audience: dora, involved: bob })).toBe('audience')
    expect(await leadOf(guest, { issuer: alice.idTag, types: ['REACT'] })).toBe('types')
    expect(await leadOf(guest, { involved: bob })).toBe('involved')
    expect(await leadOf(guest, { parentId: 'a', types: ['REACT'] })).toBeUndefined()
  })
})

async function allPages(who: Actor, query: Query): Promise<Action[]> {
  const found: Action[] = []
  let cursor: string | null | undefined
  do {
    const page = await who.page({ ...query, ...(cursor ? { cursor } : {}) })
    found.push(...page.items)
    cursor = page.nextCursor
  } while (cursor)
  return found
}

/** Every way to address an action, by two issuers, some within the same second. */
function everyKind(own: IdTag): StoredAction[] {
  const audiences = [[], [bob], [bob, carol], [dora, carol]]
  const kinds = [own, carol].flatMap((issuerTag) =>
    [undefined, bob].flatMap((audienceTag) =>
      audiences.flatMap((audience) =>
        [undefined, bob].map((subject) => ({ issuerTag, audienceTag, audience, subject })),
      ),
    ),
  )
  return kinds.map((kind, at) => {
    const type = types[at % types.length] ?? 'POST'
    return {
      ...kind,
      type,
      actionId: ownActionId(kind.issuerTag, `nonce ${at}`),
      authorTag: undefined,
      withinId: undefined,
      subType: undefined,
      parentId: undefined,
      rootId: undefined,
      content: type === 'POST' ? { text: 'a rose in the #garden' } : { text: 'else' },
      attachments: [],
      expiresAt: undefined,
      visibility: at % 2 === 0 ? 'P' : null,
      flags: undefined,
      x: undefined,
      status: statuses[at % statuses.length] ?? 'A',
      isMarked: at % 5 === 0,
      createdAt: now - (at % 7),
      issuedAt: now,
      publishedAt: now,
      publishAt: undefined,
      nonce: undefined,
      token: undefined,
    }
  })
}
