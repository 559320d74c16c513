import type { ActionId } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { changeRelation } from '#features/relations/index.ts'
import { type Actor, actionLab, guest, identity } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'

const post = { type: 'POST' as const, content: { text: 'Hello' } }
const comment = (parentId: string, text = 'Well said') => ({
  type: 'CMNT' as const,
  parentId,
  content: { text },
})
const fails = (code: string) => expect.objectContaining({ code })

eachDialect('threads', (open) => {
  const openLab = actionLab(open)

  /** Bob and Carol follow Alice. */
  async function start() {
    const lab = await openLab()
    const alice = await lab.makeTenant('alice.example.com')
    const [bob, carol] = [await lab.makeTenant('bob.example.com'), await lab.makeTenant('carol.example.com')]
    for (const follower of [bob, carol]) await follower.create({ type: 'FLLW', audienceTag: alice.idTag })
    await lab.settle()
    const publish = async (body: object = {}) => {
      const { actionId } = await alice.create({ ...post, ...body })
      await lab.settle()
      return actionId
    }
    const statOf = async (who: Actor, actionId: string) => (await who.get(actionId)).stat
    return { ...lab, alice, bob, carol, publish, statOf }
  }

  describe('CMNT', () => {
    test('reaches the readers of its root through the root’s issuer', async () => {
      const { alice, bob, carol, publish, settle, statOf } = await start()
      const root = await publish()
      const made = await bob.create(comment(root))
      expect(made).toMatchObject({ parentId: root, rootId: root, visibility: 'P' })
      await settle()
      for (const who of [alice, bob, carol]) {
        expect(await who.list({ parentId: root })).toMatchObject([{ content: { text: 'Well said' } }])
        expect(await statOf(who, root)).toMatchObject({ comments: 1 })
      }
    })

    test('on a comment belongs to the same root', async () => {
      const { alice, bob, carol, publish, settle, statOf } = await start()
      const root = await publish()
      const first = await bob.create(comment(root))
      await settle()
      const second = await carol.create(comment(first.actionId, 'Indeed'))
      expect(second).toMatchObject({ parentId: first.actionId, rootId: root })
      await settle()
      for (const who of [alice, bob, carol]) {
        expect(await who.list({ rootId: root })).toHaveLength(2)
        expect(await statOf(who, first.actionId)).toMatchObject({ comments: 1 })
      }
      await expect(carol.create({ ...comment(first.actionId), rootId: first.actionId })).rejects.toEqual(
        fails('E-VALIDATION'),
      )
    })

    test('has the readers of its root, neither more nor fewer', async () => {
      const { alice, bob, carol, publish, settle } = await start()
      const root = await publish({ visibility: 'F' })
      const { actionId } = await bob.create(comment(root))
      expect(await bob.get(actionId)).toMatchObject({ visibility: 'F' })
      await settle()
      expect(await carol.get(actionId)).toMatchObject({ visibility: 'F' })
      const visitor = alice.as(identity('eve.example.org'))
      await expect(visitor.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      expect(await alice.as(identity(carol.idTag)).get(actionId)).toMatchObject({ status: 'A' })
      expect(await visitor.list({ rootId: root })).toEqual([])
    })

    test('cannot be wider than its root, nor secret', async () => {
      const { alice, bob, publish, settle } = await start()
      const root = await publish({ visibility: 'F' })
      const { actionId } = await bob.create({ ...comment(root), visibility: 'P' })
      await settle()
      await expect(alice.as(guest).get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      await expect(bob.create({ ...comment(root), visibility: null })).rejects.toEqual(fails('E-VALIDATION'))
    })

    test('has the mark of a notification at its parent’s issuer until it is dismissed', async () => {
      const { alice, bob, carol, publish, settle } = await start()
      const root = await publish()
      const { actionId } = await bob.create(comment(root))
      await settle()
      expect(await alice.list({ status: ['N'] })).toMatchObject([{ actionId, status: 'N' }])
      expect(await alice.list({ type: ['CMNT'] })).toMatchObject([{ status: 'N' }])
      expect(await alice.list({ status: ['A'], type: ['CMNT'] })).toMatchObject([{ status: 'A' }])
      expect(await alice.as(guest).list({ type: ['CMNT'] })).toMatchObject([{ status: 'A' }])
      expect(await carol.list({ status: ['N'] })).toEqual([])
      await alice.as(identity(carol.idTag)).dismiss(actionId)
      expect(await alice.list({ status: ['N'] })).toHaveLength(1)
      expect(await alice.dismiss(actionId)).toBeNull()
      expect(await alice.dismiss(actionId)).toBeNull()
      expect(await alice.list({ status: ['N'] })).toEqual([])
      expect(await alice.get(actionId)).toMatchObject({ status: 'A' })
      await expect(alice.dismiss(`a1~${'A'.repeat(43)}`)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    })

    test('is 404 under actions that the caller does not see, and under drafts', async () => {
      const { alice, bob, publish } = await start()
      const hidden = await publish({ visibility: null })
      await expect(bob.create(comment(hidden))).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      const draft = await alice.create({ ...post, draft: true })
      await expect(alice.create(comment(draft.actionId))).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    })

    test('is refused from those who cannot read the root', async () => {
      const { alice, bob, carol, publish, settle, db, tokenOf, receive } = await start()
      const root = await publish({ visibility: 'F' })
      const { actionId } = await bob.create(comment(root))
      await db.transact(alice.tenant.tenantId, (tx) =>
        changeRelation(tx, bob.idTag, { isFollower: false, at: 2 }),
      )
      const token = await tokenOf(bob.tenant.tenantId, actionId as ActionId)
      expect(await receive(alice.tenant, token)).toEqual({ kind: 'stranger' })
      await settle()
      expect(await carol.list({ type: ['CMNT'] })).toEqual([])
    })

    test('is gone for everybody and no longer counted once it is deleted', async () => {
      const { alice, bob, carol, publish, settle, statOf } = await start()
      const root = await publish()
      const { actionId } = await bob.create(comment(root))
      await settle()
      await bob.remove(actionId)
      await settle()
      for (const who of [alice, bob, carol]) {
        await expect(who.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
        expect(await statOf(who, root)).toMatchObject({ comments: 0 })
      }
      expect(await alice.list({ status: ['N'] })).toEqual([])
    })

    test('stays when its root is deleted', async () => {
      const { alice, bob, carol, publish, settle } = await start()
      const root = await publish()
      const { actionId } = await bob.create(comment(root))
      await settle()
      await alice.remove(root)
      await settle()
      expect(await alice.get(actionId)).toMatchObject({ status: 'N' })
      for (const who of [bob, carol]) expect(await who.get(actionId)).toMatchObject({ status: 'A' })
      await expect(bob.create(comment(actionId))).resolves.toMatchObject({ rootId: root })
    })

    test('that arrives before its root takes the root’s visibility when that arrives', async () => {
      const { alice, bob, carol, settle, tokenOf, receive, sent } = await start()
      const { actionId: root } = await alice.create(post)
      const toCarol = await tokenOf(alice.tenant.tenantId, root as ActionId)
      const { actionId } = await alice.create(comment(root))
      sent.length = 0
      await receive(carol.tenant, await tokenOf(alice.tenant.tenantId, actionId as ActionId))
      await receive(carol.tenant, toCarol)
      expect(await carol.get(actionId)).toMatchObject({ visibility: 'P' })
      // Carol's guests do not see it: the thread is Alice's.
      await expect(carol.as(guest).get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      await settle()
      expect(await bob.list({ type: ['CMNT'] })).toEqual([])
    })
  })

  describe('REACT', () => {
    test('is one per issuer, counted at its subject', async () => {
      const { alice, bob, publish, settle, statOf } = await start()
      const root = await publish()
      const made = await bob.create({ type: 'REACT', subType: 'LIKE', parentId: root })
      expect(made).toMatchObject({ subject: root, subType: 'LIKE' })
      expect(made).not.toHaveProperty('parentId')
      await bob.create({ type: 'REACT', subType: 'LOVE', subject: root })
      await settle()
      for (const who of [alice, bob]) {
        expect(await statOf(who, root)).toMatchObject({ reactions: 1 })
        expect(await who.list({ type: ['REACT'] })).toMatchObject([{ subType: 'LOVE' }])
      }
      expect(await statOf(bob, root)).toMatchObject({ ownReaction: 'LOVE' })
      expect(await statOf(alice, root)).toMatchObject({ ownReaction: null })
      expect(await statOf(alice.as(identity(bob.idTag)), root)).toMatchObject({ ownReaction: 'LOVE' })
    })

    test('is made, changed and taken back by its endpoint', async () => {
      const { alice, bob, publish, settle, statOf } = await start()
      const root = await publish()
      expect(await bob.react(root, 'WOW')).toEqual({
        actionId: root,
        stat: { reactions: 1, comments: 0, views: 0, shares: 0, ownReaction: 'WOW' },
      })
      expect(await bob.react(root, 'WOW')).toMatchObject({ stat: { reactions: 1 } })
      expect(await bob.react(root, 'SAD')).toMatchObject({ stat: { reactions: 1, ownReaction: 'SAD' } })
      await settle()
      expect(await statOf(alice, root)).toMatchObject({ reactions: 1 })
      expect(await bob.react(root, null)).toMatchObject({ stat: { reactions: 0, ownReaction: null } })
      expect(await bob.react(root, null)).toMatchObject({ stat: { reactions: 0 } })
      await settle()
      expect(await statOf(alice, root)).toMatchObject({ reactions: 0 })
    })

    test('is made by those who may issue here, about actions that they see', async () => {
      const { alice, bob, publish } = await start()
      const root = await publish()
      const hidden = await publish({ visibility: null })
      await expect(alice.as(identity(bob.idTag)).react(root, 'LIKE')).rejects.toEqual(
        fails('E-AUTH-FORBIDDEN'),
      )
      await expect(alice.as(identity(bob.idTag)).react(hidden, 'LIKE')).rejects.toEqual(
        fails('E-ACTION-NOTFOUND'),
      )
      await expect(bob.create({ type: 'REACT', subType: 'MEH', subject: root })).rejects.toEqual(
        fails('E-VALIDATION'),
      )
      await expect(bob.create({ type: 'REACT', subType: 'LIKE', subject: hidden })).rejects.toEqual(
        fails('E-ACTION-NOTFOUND'),
      )
    })
  })

  describe('MSG', () => {
    const message = (audienceTag: Actor) => ({
      type: 'MSG' as const,
      audienceTag: audienceTag.idTag,
      content: { text: 'psst' },
    })

    test('is for its audience alone', async () => {
      const { alice, bob, carol, settle } = await start()
      const { actionId } = await alice.create(message(bob))
      await settle()
      expect(await bob.get(actionId)).toMatchObject({ visibility: null, content: { text: 'psst' } })
      await expect(carol.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      for (const caller of [guest, identity(carol.idTag)])
        await expect(alice.as(caller).get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      await expect(alice.create({ ...message(bob), visibility: 'P' })).rejects.toEqual(fails('E-VALIDATION'))
    })

    test('may have several addressees, who all have the answers', async () => {
      const { alice, bob, carol, settle, settings } = await start()
      settings.open.add('privacy.open_messages')
      const first = await alice.create({
        type: 'MSG',
        audience: [bob.idTag, carol.idTag],
        content: { text: 'psst' },
      })
      await settle()
      await bob.create({ type: 'MSG', parentId: first.actionId, content: { text: 'yes?' } })
      await settle()
      for (const who of [alice, carol])
        expect(await who.list({ rootId: first.actionId })).toMatchObject([
          { content: { text: 'yes?' }, issuerTag: bob.idTag },
        ])
      await expect(alice.create({ type: 'MSG', content: { text: 'to nobody' } })).rejects.toEqual(
        fails('E-VALIDATION'),
      )
    })

    test('is refused from strangers unless the receiver’s setting lets them', async () => {
      const { alice, bob, settle, settings } = await start()
      await expect(bob.create(message(alice))).rejects.toEqual(fails('E-AUTH-FORBIDDEN'))
      settings.open.add('privacy.open_messages')
      const second = await bob.create(message(alice))
      await settle()
      expect(await alice.get(second.actionId)).toMatchObject({ status: 'N' })
    })

    test('answers go to the other side of the conversation', async () => {
      const { alice, bob, settle, settings } = await start()
      settings.open.add('privacy.open_messages')
      const first = await alice.create(message(bob))
      await settle()
      const answer = await bob.create({ type: 'MSG', parentId: first.actionId, content: { text: 'yes?' } })
      expect(answer).toMatchObject({ audienceTag: alice.idTag, rootId: first.actionId })
      await settle()
      expect(await alice.list({ rootId: first.actionId })).toMatchObject([{ content: { text: 'yes?' } }])
      const again = await alice.create({ type: 'MSG', parentId: answer.actionId, content: { text: 'well' } })
      expect(again).toMatchObject({ audienceTag: bob.idTag, rootId: first.actionId })
    })

    test('is acknowledged to its issuer by a recipient', async () => {
      const { alice, bob, carol, settle, tick } = await start()
      const { actionId } = await alice.create(message(bob))
      await settle()
      tick(5)
      await bob.create({ type: 'ACK', subject: actionId })
      await settle()
      expect(await alice.get(actionId)).toMatchObject({ x: { ackedAt: 1_767_225_605 } })
      await expect(carol.create({ type: 'ACK', subject: actionId })).rejects.toEqual(
        fails('E-ACTION-NOTFOUND'),
      )
      await expect(alice.create({ type: 'ACK', subject: actionId })).rejects.toEqual(fails('E-VALIDATION'))
      const other = await alice.create(post)
      await settle()
      await expect(bob.create({ type: 'ACK', subject: other.actionId })).rejects.toEqual(
        fails('E-VALIDATION'),
      )
    })
  })

  describe('REPOST and SHRE', () => {
    test('count as shares where they are about an action', async () => {
      const { alice, bob, publish, settle, statOf } = await start()
      const root = await publish()
      await bob.create({ type: 'REPOST', subject: root })
      await bob.create({ type: 'REPOST', subject: root })
      await bob.create({ type: 'SHRE', subject: root })
      await bob.create({ type: 'SHRE', content: { url: 'https://example.org' } })
      await settle()
      for (const who of [alice, bob]) expect(await statOf(who, root)).toMatchObject({ shares: 2 })
    })

    test('REPOST is for public actions', async () => {
      const { bob, publish } = await start()
      const [followers, hidden] = [await publish({ visibility: 'F' }), await publish({ visibility: null })]
      await expect(bob.create({ type: 'REPOST', subject: followers })).rejects.toEqual(
        fails('E-AUTH-FORBIDDEN'),
      )
      await expect(bob.create({ type: 'REPOST', subject: hidden })).rejects.toEqual(
        fails('E-ACTION-NOTFOUND'),
      )
      await expect(bob.create({ type: 'REPOST', subject: 'x' })).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    })

    test('SHRE needs a subject or a valid link', async () => {
      const { bob } = await start()
      for (const content of [{}, { url: 'javascript:alert(1)' }, { title: 'a' }])
        await expect(bob.create({ type: 'SHRE', content })).rejects.toEqual(fails('E-VALIDATION'))
    })
  })

  test('APKG goes to the followers and has one attachment', async () => {
    const { alice, bob, carol, sent } = await start()
    const fileId = `b1~${'A'.repeat(43)}`
    const offer = { type: 'APKG' as const, content: { name: 'chess', version: '1.0.0' } }
    expect(await alice.create({ ...offer, attachments: [fileId], visibility: 'P' })).toMatchObject({
      status: 'A',
    })
    expect(sent).toMatchObject([{ recipients: [bob.idTag, carol.idTag] }])
    for (const attachments of [[], [fileId, `b1~${'B'.repeat(42)}A`]])
      await expect(alice.create({ ...offer, attachments })).rejects.toEqual(fails('E-VALIDATION'))
  })
})
