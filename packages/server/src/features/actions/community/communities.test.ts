import type { ActionId, IdTag } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { changeRelation, findRelation, type Relation, roleOf, withStatus } from '#features/relations/index.ts'
import { type Actor, actionLab, guest, identity, readToken } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { hashOfToken } from '../action-id.ts'
import { findStoredAction } from '../action-store.ts'
import { signServerAction } from '../compose/server-action.ts'

const fails = (code: string) => expect.objectContaining({ code })
const texts = async (who: Actor, query = {}) =>
  (await who.list({ type: ['POST'], ...query })).map(({ content }) => content?.text)

/** A club that Bob, Carol and Dora are connected with, and that Finn follows; Eve is a stranger. */
async function openClub(openLab: ReturnType<typeof actionLab>) {
  const lab = await openLab()
  const club = await lab.makeTenant('club.example.com', 'community')
  const people = ['bob', 'carol', 'dora', 'finn', 'eve'] as const
  const actors = {} as Record<(typeof people)[number], Actor>
  for (const name of people) actors[name] = await lab.makeTenant(`${name}.example.com`)
  const put = (at: Actor, other: Actor | { idTag: IdTag }, relation: Partial<Relation>) =>
    lab.db.transact(at.tenant.tenantId, (tx) => changeRelation(tx, other.idTag, { ...relation, at: 1 }))
  const { bob, carol, dora, finn } = actors
  for (const [member, role] of [
    [bob, 'contributor'],
    [carol, 'moderator'],
    [dora, 'leader'],
  ] as const) {
    await put(club, member, { connection: 'connected', role })
    await put(member, club, { connection: 'connected' })
  }
  await put(club, finn, { isFollower: true, role: 'follower' })
  await put(finn, club, { isFollowing: true })
  const on = (host: Actor, who: Actor) => {
    const relation = findRelation(host.reader, who.idTag)
    return relation.then((it) => host.as(identity(who.idTag, { role: it ? roleOf(it) : 'public' })))
  }
  const give = async (who: Actor, body: object = {}, text = 'Hello') => {
    const made = await who.create({
      type: 'POST',
      content: { text },
      audienceTag: club.idTag,
      visibility: 'F',
      ...body,
    })
    await lab.settle()
    return made.actionId as ActionId
  }
  const announce = async (by: Actor, word: object) => {
    const made = { type: 'ANNC', ...word } as Parameters<typeof signServerAction>[2]
    return (await signServerAction(lab.ports, by.tenant, made)).token
  }
  const tokenOf = (of: Actor, actionId: ActionId) => lab.tokenOf(of.tenant.tenantId, actionId)
  return { ...lab, ...actors, club, put, on, give, announce, tokenOf }
}

eachDialect('a community', (open) => {
  const openLab = actionLab(open)
  const start = () => openClub(openLab)

  describe('passes on', () => {
    test.each<[string | null, string[]]>([
      ['P', ['carol', 'dora', 'finn']],
      ['V', ['carol', 'dora', 'finn']],
      ['F', ['carol', 'dora', 'finn']],
      ['C', ['carol', 'dora']],
      [null, []],
    ])('what is for %s to %j', async (visibility, readers) => {
      const { give, bob, carol, dora, finn, eve } = await start()
      await give(bob, { visibility })
      const got = await Promise.all(
        Object.entries({ carol, dora, finn, eve }).map(async ([name, who]) =>
          (await texts(who)).length > 0 ? [name] : [],
        ),
      )
      expect(got.flat()).toEqual(readers)
    })

    test('nothing by muted members, but shows it to those who ask for them and to themselves', async () => {
      const { give, bob, carol, club, put, on } = await start()
      await give(bob, {}, 'Before')
      await put(club, bob, withStatus('Muted'))
      const actionId = await give(bob, {}, 'Loud')
      expect(await texts(carol)).toEqual(['Before'])
      expect(await texts(await on(club, carol))).toEqual([])
      expect(await texts(await on(club, carol), { issuer: bob.idTag })).toEqual(['Loud', 'Before'])
      expect(await texts(await on(club, bob))).toEqual(['Loud', 'Before'])
      expect(await texts(club.as(guest))).toEqual([])
      expect((await club.get(actionId)).status).toBe('A')
    })

    test('nothing from strangers, followers and the banned', async () => {
      const { give, eve, finn, bob, carol, club, put, forge, receive } = await start()
      const post = { type: 'POST', content: { text: 'Hello' } }
      await put(club, bob, withStatus('Banned'))
      const refused = expect.objectContaining({ code: 'E-AUTH-FORBIDDEN' })
      for (const who of [eve, finn, bob])
        await expect(give(who, { visibility: 'P' })).rejects.toEqual(refused)
      for (const who of [eve, finn]) {
        const token = await forge(who, { ...post, audienceTag: club.idTag, visibility: 'P' })
        expect(await receive(club.tenant, token)).toEqual({ kind: 'stranger' })
      }
      expect(await texts(carol)).toEqual([])
    })

    test('to nobody whom it has banned since', async () => {
      const { give, bob, carol, dora, club, put } = await start()
      await put(club, carol, withStatus('Banned'))
      await give(bob)
      expect([await texts(carol), await texts(dora)]).toEqual([[], ['Hello']])
    })

    test('comments and their deletion, also to members who do not know the author', async () => {
      const { give, bob, carol, dora, finn, settle } = await start()
      const actionId = await give(bob)
      const said = await carol.create({ type: 'CMNT', parentId: actionId, content: { text: 'Yes' } })
      await settle()
      for (const who of [bob, dora, finn])
        expect(await who.list({ parentId: actionId })).toMatchObject([{ issuerTag: carol.idTag }])
      await carol.remove(said.actionId)
      await settle()
      for (const who of [bob, dora, finn]) expect(await who.list({ parentId: actionId })).toEqual([])
    })

    test('the counts that the author’s server tells', async () => {
      const { give, bob, carol, dora, settle, tick } = await start()
      const actionId = await give(bob)
      await carol.react(actionId, 'LOVE')
      await settle()
      tick(11)
      await settle()
      expect((await dora.get(actionId)).stat).toMatchObject({ reactions: 1 })
    })

    test('nothing twice', async () => {
      const { give, bob, carol, club, announce, receive, tokenOf } = await start()
      const actionId = await give(bob)
      const token = await tokenOf(bob, actionId)
      const again = await announce(club, { subject: actionId, content: { hash: hashOfToken(token) } })
      expect(await receive(carol.tenant, again, token)).toEqual({ kind: 'known' })
      expect(await texts(carol)).toEqual(['Hello'])
    })
  })

  describe('is believed when it announces something', () => {
    test('by its followers and connections, and by nobody else', async () => {
      const { bob, eve, finn, club, announce, receive, tokenOf } = await start()
      const { actionId } = await bob.create({
        type: 'POST',
        content: { text: 'Hello' },
        audienceTag: club.idTag,
        visibility: 'C',
      })
      const token = await tokenOf(bob, actionId as ActionId)
      const word = await announce(club, { subject: actionId, content: { hash: hashOfToken(token) } })
      expect(await receive(eve.tenant, word, token)).toEqual({ kind: 'stranger' })
      // What is for connections is not for followers, whoever announces it.
      expect(await receive(finn.tenant, word, token)).toEqual({ kind: 'known' })
      expect(await eve.stored(actionId)).toBeUndefined()
      expect(await finn.stored(actionId)).toBeUndefined()
    })

    test('but not about issuers that the member blocks', async () => {
      const { give, bob, carol, put } = await start()
      await put(carol, bob, { isBlocked: true })
      await give(bob)
      expect(await texts(carol)).toEqual([])
    })

    test('but not about an action whose end it has announced, in either order of arrival', async () => {
      const { bob, carol, club, announce, receive, tokenOf } = await start()
      const { actionId } = await bob.create({
        type: 'POST',
        content: { text: 'Hello' },
        audienceTag: club.idTag,
        visibility: 'F',
      })
      const token = await tokenOf(bob, actionId as ActionId)
      const word = await announce(club, { subject: actionId, content: { hash: hashOfToken(token) } })
      await receive(carol.tenant, await announce(club, { subject: actionId, subType: 'DEL' }))
      expect(await receive(carol.tenant, word, token)).toEqual({ kind: 'known' })
      expect(await carol.stored(actionId)).toBeUndefined()
    })

    test('but only about what was posted to it: it can remove nothing else', async () => {
      const { give, bob, carol, club, announce, receive, put, settle } = await start()
      await put(bob, carol, { isFollower: true })
      await put(carol, bob, { isFollowing: true })
      const own = await give(bob, { audienceTag: undefined }, 'To followers')
      const direct = await give(bob, { audienceTag: carol.idTag, visibility: null }, 'To Carol')
      const both = await give(bob, { audienceTag: undefined, audience: [club.idTag, carol.idTag] }, 'To both')
      const mine = await give(carol, {}, 'By Carol')
      await settle()
      for (const subject of [own, direct, both, mine]) {
        await receive(carol.tenant, await announce(club, { subject, subType: 'DEL' }))
        expect((await carol.get(subject)).status).toBe('A')
      }
      const given = await give(bob)
      await receive(carol.tenant, await announce(bob, { subject: given, subType: 'DEL' }))
      expect((await carol.get(given)).status).toBe('A')
    })
  })

  describe('lets moderators remove', () => {
    const statuses = async (of: Actor[], actionId: ActionId) =>
      Promise.all(of.map(async (who) => (await findStoredAction(who.reader, actionId))?.status))

    test('posts and comments, and others nothing', async () => {
      const { give, bob, carol, dora, finn, eve, club, on, settle } = await start()
      const actionId = await give(bob)
      const { actionId: commentId } = await dora.create({
        type: 'CMNT',
        parentId: actionId,
        content: { text: 'Yes' },
      })
      await settle()
      await expect((await on(club, eve)).remove(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      for (const who of [bob, finn])
        await expect((await on(club, who)).remove(actionId)).rejects.toEqual(fails('E-AUTH-FORBIDDEN'))
      await (await on(club, carol)).remove(commentId)
      await settle()
      expect(await statuses([club, carol, finn], commentId as ActionId)).toEqual(['D', 'D', 'D'])
      expect((await dora.get(commentId)).status).toBe('A')
      expect((await club.get(actionId)).stat).toMatchObject({ comments: 0 })
      await (await on(club, carol)).remove(actionId)
      await settle()
      expect(await statuses([club, carol, dora, finn, bob], actionId)).toEqual(['D', 'D', 'D', 'D', 'A'])
      await expect((await on(club, carol)).remove(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      expect((await findStoredAction(carol.reader, actionId))?.content).toBeUndefined()
    })

    test('posts of a banned member', async () => {
      const { give, bob, carol, dora, club, put, on, settle } = await start()
      const actionId = await give(bob)
      await put(club, bob, withStatus('Banned'))
      // Members no longer see it. Moderators do, and remove it.
      const member = club.as(identity(dora.idTag, { role: 'contributor' }))
      await expect(member.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      await (await on(club, carol)).remove(actionId)
      await settle()
      expect(await statuses([dora], actionId)).toEqual(['D'])
    })

    test('requests, but not memberships', async () => {
      const { carol, eve, club, on, settle, put } = await start()
      await put(club, eve, { isFollower: false })
      const request = await eve.create({ type: 'CONN', audienceTag: club.idTag })
      await settle()
      const moderator = await on(club, carol)
      await moderator.remove(request.actionId)
      expect((await findRelation(club.reader, eve.idTag))?.connection).toBe('disconnected')
      expect(await eve.get(request.actionId)).toMatchObject({ status: 'A' })
      const second = await eve.create({ type: 'CONN', audienceTag: club.idTag })
      await settle()
      await moderator.accept(second.actionId)
      await expect(moderator.remove(second.actionId)).rejects.toEqual(fails('E-STATE'))
    })

    test('and a member removes only the member’s own copy', async () => {
      const { give, bob, carol, dora, club, settle, sent } = await start()
      const given = await give(bob)
      await carol.remove(given)
      expect(sent).toEqual([])
      await settle()
      await expect(carol.get(given)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      for (const who of [bob, dora, club]) expect(await who.get(given)).toMatchObject({ status: 'A' })
    })
  })

  describe('membership', () => {
    const relations = async (one: Actor, other: Actor) => [
      (await findRelation(one.reader, other.idTag))?.connection,
      (await findRelation(other.reader, one.idTag))?.connection,
    ]
    const invite = async (lab: Awaited<ReturnType<typeof start>>, guest: Actor) => {
      const made = await lab.carol.create({ type: 'INVT', audienceTag: guest.idTag, subject: lab.club.idTag })
      await lab.settle()
      return made.actionId
    }

    test('uses up its invitation: a former member needs another one, or asks', async () => {
      const lab = await start()
      const { eve, club, settle } = lab
      await eve.accept(await invite(lab, eve))
      await settle()
      expect(await relations(eve, club)).toEqual(['connected', 'connected'])
      await eve.create({ type: 'CONN', audienceTag: club.idTag, subType: 'DEL' })
      await settle()
      await eve.create({ type: 'CONN', audienceTag: club.idTag })
      await settle()
      expect(await relations(eve, club)).toEqual(['requested', 'asked'])
    })

    test('is not given for an invitation by a former moderator', async () => {
      const lab = await start()
      const { eve, club, carol, put, settle } = lab
      await put(club, carol, { role: 'contributor' })
      await eve.accept(await invite(lab, eve))
      await settle()
      expect(await relations(eve, club)).toEqual(['requested', 'asked'])
      await put(club, carol, { role: 'moderator', ...withStatus('Suspended') })
      await invite(lab, eve)
      expect(await relations(eve, club)).toEqual(['requested', 'asked'])
    })

    test('is not given to the banned', async () => {
      const lab = await start()
      const { eve, club, put, settle } = lab
      await put(club, eve, withStatus('Banned'))
      await eve.accept(await invite(lab, eve))
      await settle()
      expect(await relations(eve, club)).toEqual(['requested', 'disconnected'])
    })

    test('is restored for a member whose server has forgotten it', async () => {
      const { bob, club, put, settle } = await start()
      await put(bob, club, { connection: 'disconnected' })
      await bob.create({ type: 'CONN', audienceTag: club.idTag })
      await settle()
      expect(await relations(bob, club)).toEqual(['connected', 'connected'])
    })

    test('of the last leader does not end, even if the leader’s server ends it', async () => {
      const { bob, dora, club, put, receive, sent, settle, tokenOf } = await start()
      await put(club, dora, { role: 'contributor' })
      await put(club, bob, { role: 'leader' })
      const end = { type: 'CONN' as const, audienceTag: club.idTag, subType: 'DEL' }
      await expect(bob.create(end)).rejects.toEqual(fails('E-STATE'))
      const asked = await bob.create({ type: 'CONN', audienceTag: club.idTag })
      await settle()
      await expect(bob.remove(asked.actionId)).rejects.toEqual(fails('E-STATE'))
      await expect(club.create({ ...end, audienceTag: bob.idTag })).rejects.toEqual(fails('E-STATE'))

      // As if Bob lived on a server that does not ask.
      await put(club, dora, { role: 'leader' })
      const { actionId } = await bob.create(end)
      sent.length = 0
      await put(club, dora, { role: 'contributor' })
      const outcome = await receive(club.tenant, await tokenOf(bob, actionId as ActionId))
      expect(outcome).toEqual({ kind: 'refused', failure: fails('E-STATE') })
      expect(await findRelation(club.reader, bob.idTag)).toMatchObject({
        role: 'leader',
        connection: 'connected',
      })
    })
  })
})

eachDialect('what a community announces', (open) => {
  const openLab = actionLab(open)

  test('is stored once, found and removed', async () => {
    const { give, bob, carol, club, on, settle } = await openClub(openLab)
    const actionId = await give(bob)
    expect(await texts(carol)).toEqual(['Hello'])
    expect(readToken((await carol.stored(actionId))?.token ?? '').issuerTag).toBe(bob.idTag)
    await (await on(club, carol)).remove(actionId)
    await settle()
    expect(await texts(carol)).toEqual([])
  })
})
