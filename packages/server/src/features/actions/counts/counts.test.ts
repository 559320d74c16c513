import { describe, expect, test } from 'vitest'
import { type Actor, actionLab, guest, identity } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'

const post = { type: 'POST' as const, content: { text: 'Hello' } }
const fails = (code: string) => expect.objectContaining({ code })

eachDialect('counts', (open) => {
  const openLab = actionLab(open)

  async function start() {
    const lab = await openLab()
    const alice = await lab.makeTenant('alice.example.com')
    const [bob, carol] = [await lab.makeTenant('bob.example.com'), await lab.makeTenant('carol.example.com')]
    for (const follower of [bob, carol]) await follower.create({ type: 'FLLW', audienceTag: alice.idTag })
    await lab.settle()
    const { actionId } = await alice.create(post)
    await lab.settle()
    const statOf = async (who: Actor) => (await who.list({ actionId: [actionId] }))[0]?.stat
    return { ...lab, alice, bob, carol, actionId, statOf }
  }

  describe('of the issuer’s server', () => {
    test('are told to everybody who holds the action, once for several changes', async () => {
      const { alice, bob, carol, actionId, statOf, settle, tick, sent } = await start()
      await bob.react(actionId, 'LIKE')
      await bob.create({ type: 'REPOST', subject: actionId })
      await settle()
      expect(await statOf(carol)).toMatchObject({ reactions: 0, shares: 0 })
      tick(10)
      await settle()
      for (const who of [alice, bob, carol])
        expect(await statOf(who)).toMatchObject({ reactions: 1, shares: 1 })
      tick(60)
      await settle()
      expect(sent).toEqual([])
    })

    test('replace those that others count, but not what a tenant itself just did', async () => {
      const { alice, bob, carol, actionId, statOf, settle, tick } = await start()
      await bob.react(actionId, 'LIKE')
      await settle()
      tick(10)
      await settle()
      await carol.react(actionId, 'WOW')
      expect(await statOf(carol)).toMatchObject({ reactions: 2 })
      await carol.create({ type: 'CMNT', parentId: actionId, content: { text: 'a' } })
      await settle()
      expect(await statOf(bob)).toMatchObject({ reactions: 1, comments: 0 })
      tick(10)
      await settle()
      for (const who of [alice, bob, carol])
        expect(await statOf(who)).toMatchObject({ reactions: 2, comments: 1 })
    })

    test('are never shown as an action', async () => {
      const { alice, bob, actionId, settle, tick } = await start()
      await bob.react(actionId, 'LIKE')
      await settle()
      tick(10)
      await settle()
      for (const who of [alice, bob])
        for (const status of ['A', 'D', 'P', 'N', 'C'] as const)
          expect(
            (await who.list({ status: [status], subject: actionId })).map(({ type }) => type),
          ).not.toContain('STAT')
      await expect(alice.create({ type: 'STAT' as never, subject: actionId, content: {} })).rejects.toEqual(
        fails('E-VALIDATION'),
      )
    })
  })

  test('may be set by an administrator, and continue from there', async () => {
    const { alice, bob, actionId, statOf, settle } = await start()
    expect(await alice.setStat(actionId, { reactions: 100, views: 7 })).toEqual({
      ...{ reactions: 100, comments: 0, views: 7, shares: 0 },
      ownReaction: null,
    })
    await bob.react(actionId, 'LIKE')
    await settle()
    expect(await statOf(alice)).toMatchObject({ reactions: 101, views: 7 })
    await expect(alice.setStat(`a1~${'A'.repeat(43)}`, {})).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
  })

  test('never fall below zero', async () => {
    const { alice, bob, actionId, statOf, settle } = await start()
    await bob.react(actionId, 'LIKE')
    await settle()
    await alice.setStat(actionId, { reactions: 0 })
    await bob.react(actionId, null)
    await settle()
    expect(await statOf(alice)).toMatchObject({ reactions: 0 })
  })

  describe('views', () => {
    test('count each reader once a day, and never the issuer', async () => {
      const { alice, actionId, tick } = await start()
      const views = async (who: Actor) => (await who.get(actionId)).stat.views
      const reader = alice.as(identity('zoe.example.org'))
      expect(await views(alice)).toBe(0)
      expect(await views(reader)).toBe(1)
      expect(await views(reader)).toBe(1)
      expect(await views(alice.as(guest))).toBe(2)
      expect(await views(alice.as(guest))).toBe(2)
      expect(await views(alice)).toBe(2)
      tick(86_400)
      expect(await views(reader)).toBe(3)
    })

    test('are counted once even if the server has forgotten the reader', async () => {
      const { alice, actionId, db, ports } = await start()
      const { ViewCounter } = await import('../feed/view-counter.ts')
      const request = {
        ...alice,
        caller: identity('zoe.example.org'),
        actionId: actionId as never,
        address: '192.0.2.1',
      }
      const shown = { issuerTag: alice.idTag, status: 'A' }
      const counted = await Promise.all(
        Array.from({ length: 4 }, () => new ViewCounter({ db, clock: ports.clock }).count(request, shown)),
      )
      expect(counted.filter(Boolean)).toHaveLength(1)
    })

    test('of drafts are not counted', async () => {
      const { makeTenant, alice, bob } = await start()
      const club = await makeTenant('club.example.com', 'community')
      const { actionId } = await club
        .as(identity(bob.idTag, { role: 'contributor' }))
        .create({ ...post, draft: true })
      const moderator = club.as(identity(alice.idTag, { role: 'moderator' }))
      expect((await moderator.get(actionId)).stat).toMatchObject({ views: 0 })
    })
  })

  test('of read comments are kept for each reader', async () => {
    const { alice, bob, carol, actionId, statOf, settle } = await start()
    await bob.create({ type: 'CMNT', parentId: actionId, content: { text: '1' } })
    await bob.create({ type: 'CMNT', parentId: actionId, content: { text: '2' } })
    await settle()
    expect(await statOf(alice)).not.toHaveProperty('commentsRead')
    await alice.list({ parentId: actionId })
    expect(await statOf(alice)).toMatchObject({ comments: 2, commentsRead: 2 })
    await carol.create({ type: 'CMNT', parentId: actionId, content: { text: '3' } })
    await settle()
    expect(await statOf(alice)).toMatchObject({ comments: 3, commentsRead: 2 })
    expect(await statOf(alice.as(identity(carol.idTag)))).not.toHaveProperty('commentsRead')
    await alice.as(guest).list({ rootId: actionId })
    expect(await statOf(alice.as(guest))).not.toHaveProperty('commentsRead')
  })

  test('of read comments count those that were shown, each once, without deleted ones', async () => {
    const { alice, bob, actionId, statOf, settle, tick } = await start()
    const made: string[] = []
    for (const text of ['1', '2', '3', '4']) {
      made.push((await bob.create({ type: 'CMNT', parentId: actionId, content: { text } })).actionId)
      tick()
    }
    await settle()
    const first = await alice.page({ parentId: actionId, limit: 1 })
    expect(await statOf(alice)).toMatchObject({ comments: 4, commentsRead: 1 })
    await alice.page({ parentId: actionId, limit: 1 })
    expect(await statOf(alice)).toMatchObject({ commentsRead: 1 })
    await alice.page({ rootId: actionId, limit: 2, cursor: first.nextCursor ?? '' })
    expect(await statOf(alice)).toMatchObject({ comments: 4, commentsRead: 3 })
    await bob.remove(made[3] ?? '')
    await settle()
    expect(await statOf(alice)).toMatchObject({ comments: 3, commentsRead: 2 })
  })

  test('of read comments are not kept where the caller may not read', async () => {
    const { alice, bob, db } = await start()
    const { actionId } = await alice.create({ ...post, visibility: null })
    await alice.create({ type: 'CMNT', parentId: actionId, content: { text: 'to myself' } })
    expect(await alice.as(identity(bob.idTag)).list({ parentId: actionId })).toEqual([])
    const reads = db.reader(alice.tenant.tenantId).tables<{ action_reads: { tenant_id: number } }>()
    expect(await reads.selectFrom('action_reads').selectAll().execute()).toEqual([])
  })

  test('of comments leave out those that some readers of the root may not read', async () => {
    const { alice, bob, carol, actionId, statOf, settle, tick } = await start()
    const comment = (who: Actor, visibility: 'C' | 'V' | 'P') =>
      who.create({ type: 'CMNT', parentId: actionId, content: { text: visibility }, visibility })
    const narrow = await comment(alice, 'C')
    const byBob = await comment(bob, 'V')
    await settle()
    expect(await statOf(alice)).toMatchObject({ comments: 0 })
    const wide = await comment(carol, 'P')
    await settle()
    tick(10)
    await settle()
    for (const who of [alice, alice.as(guest), bob]) expect(await statOf(who)).toMatchObject({ comments: 1 })
    await alice.remove(narrow.actionId)
    await bob.remove(byBob.actionId)
    await carol.remove(wide.actionId)
    await settle()
    expect(await statOf(alice)).toMatchObject({ comments: 0 })
  })
})
