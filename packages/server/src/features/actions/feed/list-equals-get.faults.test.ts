import { type ActionId, communityRoles, type IdTag, profileStatuses } from '@kith/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changeRelation, withStatus } from '#features/relations/index.ts'
import { type ActionLab, type Actor, actionLab, guest, identity } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import type { Caller } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import { ownActionId } from '../action-id.ts'
import { insertAction } from '../action-store.ts'
import { findForNotification } from './find-for-notification.ts'

const people = ['alice.example.com', 'bob.example.com', 'carol.example.com'] as IdTag[]
const [alice = '' as IdTag, bob = '' as IdTag, carol = '' as IdTag] = people
const ids = Array.from({ length: 12 }, (_, at) => ownActionId(alice, `nonce ${at}`))
const now = 1_767_225_600

const anyAction = fc.record({
  issuerTag: fc.constantFrom(...people),
  authorTag: fc.option(fc.constantFrom(bob, carol), { nil: undefined, freq: 5 }),
  audienceTag: fc.option(fc.constantFrom(...people), { nil: undefined }),
  audience: fc.uniqueArray(fc.constantFrom(...people), { maxLength: 2 }),
  subject: fc.option(fc.constantFrom(...people), { nil: undefined, freq: 3 }),
  tag: fc.option(fc.constantFrom('one', 'other'), { nil: undefined }),
  visibility: fc.constantFrom('P' as const, 'V' as const, 'F' as const, 'C' as const, null),
  status: fc.constantFrom(
    'A' as const,
    'A' as const,
    'C' as const,
    'R' as const,
    'S' as const,
    'D' as const,
    'P' as const,
    'T' as const,
  ),
  isMarked: fc.boolean(),
  expiresAt: fc.constantFrom(undefined, undefined, now, now + 1),
  within: fc.option(fc.nat({ max: 12 }), { nil: undefined }),
})
const anyCaller: fc.Arbitrary<Caller> = fc.oneof(
  fc.constant(guest),
  fc.constant(identity(alice, { isOwner: true, role: 'leader' })),
  fc
    .record({ idTag: fc.constantFrom(bob, carol), role: fc.constantFrom(...communityRoles) })
    .map(({ idTag, role }) => identity(idTag, { role, isOwner: role === 'leader' })),
)
const anyStatus = fc.oneof(fc.constant('Active' as const), fc.constantFrom(...profileStatuses))
const anyWorld = fc.record({
  type: fc.constantFrom('person' as const, 'community' as const),
  actions: fc.array(anyAction, { minLength: 1, maxLength: 12 }),
  callers: fc.array(anyCaller, { minLength: 1, maxLength: 4 }),
  follows: fc.boolean(),
  connected: fc.boolean(),
  /** For Bob and Carol here, and for Carol on the whole server. */
  statuses: fc.tuple(anyStatus, anyStatus, anyStatus),
})

eachDialect('what lists show', (open) => {
  const openLab = actionLab(open)

  interface Look {
    readonly lab: ActionLab
    readonly world: World
    readonly home: Actor
    readonly who: Actor
  }

  /** Looks at random graphs, as each of their callers. */
  async function overWorlds(runs: number, look: (seen: Look) => Promise<void>): Promise<void> {
    const lab = await openLab()
    let worlds = 0
    await fc.assert(
      fc.asyncProperty(anyWorld, async (world) => {
        worlds += 1
        const home = await draw(lab, `w${worlds}.example.com`, world)
        for (const caller of world.callers) await look({ lab, world, home, who: asDrawn(home, caller) })
      }),
      { numRuns: open.runs(runs), verbose: true },
    )
  }

  test('is what single reads allow, page by page, over random graphs', async () => {
    await overWorlds(10, async ({ who, world }) => {
      const listed = [
        ...(await allPages(who, ['A', 'C', 'N', 'P', 'R', 'S'])),
        ...(who.caller.kind === 'identity' ? [] : await allPages(who, ['A', 'C'])),
        // Muted identities are listed when their issuer is asked for.
        ...(await allPages(who, ['A', 'C', 'N', 'P'], bob)),
        ...(await allPages(who, ['A', 'C', 'N', 'P'], carol)),
      ]
      for (const actionId of ids.slice(0, world.actions.length)) {
        const shown = await who.get(actionId).then(
          ({ status }) => status,
          () => undefined,
        )
        // Lists leave out requests that do not await the caller's answer; single reads show them.
        if (shown === 'C' && !listed.includes(actionId)) continue
        expect([actionId, shown !== undefined]).toEqual([actionId, listed.includes(actionId)])
      }
    })
  })

  test('is, with a filter, the part of the whole list that meets it', async () => {
    await overWorlds(7, async ({ who, home }) => {
      const status: ListedStatus[] = ['A', 'C']
      const all = await allItems(who, { status })
      for (const [filter, meets] of filtersOf(home.idTag)) {
        const expected = all.filter(meets).map(({ actionId }) => actionId)
        const listed = (await allItems(who, { status, ...filter })).map(({ actionId }) => actionId)
        // Muted identities are listed when their issuer is asked for.
        const shown = 'issuer' in filter ? listed.filter((id) => expected.includes(id)) : listed
        expect([filter, shown]).toEqual([filter, expected])
      }
    })
  })

  test('is also what notifications show, but for muted identities, over random graphs', async () => {
    await overWorlds(7, async ({ who, world, lab }) => {
      const listed = await allPages(
        who,
        who.caller.kind === 'identity' ? ['A', 'C', 'N', 'P', 'R', 'S'] : ['A', 'C'],
      )
      for (const actionId of ids.slice(0, world.actions.length)) {
        const told = await findForNotification(lab, { tenant: who.tenant, caller: who.caller, actionId })
        const shown = await who.get(actionId).catch(() => undefined)
        // Lists leave out requests that do not await the caller's answer; single reads show them.
        const isListed = listed.includes(actionId) || (told !== undefined && shown?.status === 'C')
        expect([actionId, told !== undefined]).toEqual([actionId, isListed])
        if (told) expect(told.status).toBe(shown?.status)
      }
    })
  })
})

type World = typeof anyWorld extends fc.Arbitrary<infer Value> ? Value : never

/** Stores a world. Its graph is drawn around Alice; here each world has a tenant of its own in her place. */
async function draw(lab: ActionLab, idTag: string, world: World): Promise<Actor> {
  const home = await lab.makeTenant(idTag, world.type)
  const named = (tag: IdTag | undefined) => (tag === alice ? home.idTag : tag)
  await lab.db.transact(home.tenant.tenantId, async (tx) => {
    const [ofBob, ofCarol, byServer] = world.statuses.map(withStatus)
    await changeRelation(tx, bob, { isFollower: world.follows, ...ofBob, at: 1 })
    const connection = world.connected ? 'connected' : 'disconnected'
    await changeRelation(tx, carol, { connection, ...ofCarol, at: 1 })
    await changeRelation(tx.as(serverTenant), carol, { ...byServer, at: 1 })
    const stored = world.actions.map((drawn, at) => storedAction(at, drawn, named))
    for (const action of stored)
      await insertAction(tx, { ...action, isFeedOnly: isFeedOnly(home, action, stored) })
  })
  return home
}

/** As set on reception. */
function isFeedOnly({ idTag, tenant }: Actor, action: StoredAction, all: readonly StoredAction[]): boolean {
  if (tenant.type === 'community' || action.issuerTag === idTag) return false
  if (action.audienceTag === idTag || action.audience.includes(idTag)) return false
  return all.find(({ actionId }) => actionId === action.withinId)?.issuerTag !== idTag
}

function asDrawn(home: Actor, caller: Caller): Actor {
  const isHome = caller.kind === 'identity' && caller.idTag === alice
  return home.as(isHome ? { ...caller, idTag: home.idTag } : caller)
}

type ListedStatus = 'A' | 'C' | 'N' | 'P' | 'R' | 'S'
type Item = Awaited<ReturnType<Actor['page']>>['items'][number]
type Query = Parameters<Actor['page']>[0]

/** Every filter of a list, with its meaning. */
function filtersOf(home: IdTag): [Query & object, (item: Item) => boolean][] {
  const isTo = (idTag: IdTag) => (item: Item) =>
    item.audienceTag === idTag || item.audience?.includes(idTag) === true
  const ofTag = ({ content }: Item) => (content as { tags?: string[] }).tags?.includes('one') === true
  return [home, bob, carol].flatMap((idTag): ReturnType<typeof filtersOf> => {
    const isOf = (item: Item) => item.issuer.idTag === idTag
    const isAbout = (item: Item) => item.subject === idTag
    const involves = (item: Item) => isOf(item) || isAbout(item) || isTo(idTag)(item)
    return [
      [{ issuer: idTag }, isOf],
      [{ audience: idTag }, isTo(idTag)],
      [{ involved: idTag }, involves],
      [{ subject: idTag }, isAbout],
      [{ tag: 'one' }, ofTag],
      [{ search: 'word' }, () => true],
      [{ involved: idTag, tag: 'one' }, (item) => involves(item) && ofTag(item)],
      [{ subject: idTag, tag: 'one' }, (item) => isAbout(item) && ofTag(item)],
      [{ search: 'word', issuer: idTag }, isOf],
      [{ audience: idTag, type: ['POST'] }, isTo(idTag)],
    ]
  })
}

async function allPages(who: Actor, status: ListedStatus[], issuer?: IdTag): Promise<string[]> {
  const items = await allItems(who, { status, ...(issuer ? { issuer } : {}) })
  return items.map(({ actionId }) => actionId)
}

async function allItems(who: Actor, query: Query): Promise<Item[]> {
  const found: Item[] = []
  let cursor: string | null | undefined
  do {
    const page = await who.page({ ...query, limit: 2, ...(cursor ? { cursor } : {}) })
    found.push(...page.items)
    if (page.nextCursor) expect(page.items).toHaveLength(2)
    cursor = page.nextCursor
  } while (cursor)
  expect(new Set(found.map(({ actionId }) => actionId)).size).toBe(found.length)
  return found
}

type Drawn = typeof anyAction extends fc.Arbitrary<infer Value> ? Value : never

function storedAction(
  at: number,
  drawn: Drawn,
  named: (tag: IdTag | undefined) => IdTag | undefined,
): StoredAction {
  const { within, tag, ...rest } = drawn
  const isOwnStatus = drawn.status === 'R' || drawn.status === 'S'
  const issuerTag = isOwnStatus ? named(alice) : named(drawn.issuerTag)
  return {
    ...rest,
    type: 'POST',
    issuerTag: issuerTag ?? drawn.issuerTag,
    authorTag: issuerTag === named(alice) ? drawn.authorTag : undefined,
    audienceTag: named(drawn.audienceTag),
    audience: drawn.audience.map((tag) => named(tag) ?? tag),
    actionId: ids[at] as ActionId,
    withinId: within === undefined || within === at ? undefined : ids[within],
    subType: undefined,
    parentId: undefined,
    rootId: undefined,
    content: { text: `word ${at}`, ...(tag ? { tags: [tag] } : {}) },
    attachments: [],
    subject: named(drawn.subject as IdTag | undefined),
    flags: undefined,
    x: undefined,
    createdAt: now - (at % 3),
    issuedAt: now,
    publishedAt: now,
    publishAt: undefined,
    nonce: undefined,
    token: undefined,
  }
}
