import type { ActionId } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { actionLab, guest, identity } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'

const draft = { type: 'POST' as const, content: { text: 'first words' }, draft: true }
const fails = (code: string) => expect.objectContaining({ code })
const startSecs = 1_767_225_600

eachDialect('drafts', (open) => {
  const openLab = actionLab(open)

  async function start() {
    const lab = await openLab()
    const alice = await lab.makeTenant('alice.example.com')
    const bob = await lab.makeTenant('bob.example.com')
    await bob.create({ type: 'FLLW', audienceTag: alice.idTag })
    await lab.settle()
    return { ...lab, alice, bob }
  }

  async function startWithDraftComment() {
    const lab = await start()
    const root = await lab.alice.create({ type: 'POST', content: { text: 'root' } })
    await lab.settle()
    const comment = await lab.bob.create({
      type: 'CMNT',
      parentId: root.actionId,
      content: { text: 'hm' },
      draft: true,
    })
    return { ...lab, root, comment }
  }

  test('are seen by their issuer, when asked for, and by nobody else', async () => {
    const { alice, bob, settle, sent } = await start()
    const { actionId, status } = await alice.create(draft)
    expect([status, sent]).toEqual(['R', []])
    expect(await alice.get(actionId)).toMatchObject({ status: 'R' })
    expect(await alice.list({ type: ['POST'] })).toEqual([])
    expect(await alice.list({ status: ['R'] })).toMatchObject([{ actionId, status: 'R' }])
    for (const caller of [guest, identity(bob.idTag)]) {
      await expect(alice.as(caller).get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      expect(await alice.as(caller).list({ status: ['R'] })).toEqual([])
    }
    await settle()
    await expect(bob.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
  })

  test('of a community are visible to their author and the moderators', async () => {
    const { makeTenant, alice, bob } = await start()
    const club = await makeTenant('club.example.com', 'community')
    const author = club.as(identity(bob.idTag, { role: 'contributor' }))
    const { actionId } = await author.create(draft)
    expect(await author.list({ status: ['R'] })).toHaveLength(1)
    expect(await club.as(identity(alice.idTag, { role: 'moderator' })).get(actionId)).toMatchObject({
      status: 'R',
    })
    const other = club.as(identity(alice.idTag, { role: 'contributor' }))
    await expect(other.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    expect(await other.list({ status: ['R'] })).toEqual([])
    expect(await author.publish(actionId)).toMatchObject({ status: 'A' })
    expect(await club.get(actionId)).toMatchObject({ x: { author: bob.idTag } })
  })

  test('are changed member by member, and checked again', async () => {
    const { alice } = await start()
    const { actionId } = await alice.create({ ...draft, flags: 'a', x: { mood: 1 } })
    const content = { text: 'better #words' }
    expect(await alice.update(actionId, { content })).toEqual({
      actionId,
      type: 'POST',
      status: 'R',
      content,
    })
    await alice.update(actionId, { visibility: 'C', x: { author: 'eve', mood: 2 } })
    expect(await alice.get(actionId)).toMatchObject({ content, visibility: 'C', flags: 'a', x: { mood: 2 } })
    await expect(alice.update(actionId, { content: { text: 5 } })).rejects.toEqual(fails('E-VALIDATION'))
    await expect(alice.update(actionId, { attachments: ['x'] })).rejects.toEqual(fails('E-FILE-NOTFOUND'))
    expect(await alice.list({ status: ['R'], tag: 'words' })).toHaveLength(1)
  })

  test('keep their id when they are published, and are sent then', async () => {
    const { alice, bob, settle, tick } = await start()
    const { actionId } = await alice.create(draft)
    tick(100)
    expect(await alice.publish(actionId)).toEqual({ actionId, type: 'POST', status: 'A' })
    await settle()
    for (const who of [alice, bob])
      expect(await who.get(actionId)).toMatchObject({
        status: 'A',
        published: startSecs + 100,
        createdAt: new Date((startSecs + 100) * 1000).toISOString(),
      })
    await expect(alice.update(actionId, { content: { text: 'no' } })).rejects.toEqual(fails('E-STATE'))
    await expect(alice.publish(actionId)).rejects.toEqual(fails('E-STATE'))
    await expect(alice.cancel(actionId)).rejects.toEqual(fails('E-STATE'))
  })

  test('published twice at the same time are sent once', async () => {
    const { alice, bob, settle, events } = await start()
    const { actionId } = await alice.create(draft)
    const outcomes = await Promise.allSettled([alice.publish(actionId), alice.publish(actionId)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await settle()
    expect(await bob.list({ type: ['POST'] })).toHaveLength(1)
    expect(
      events.filter(({ kind, action }) => kind === 'action.created' && action.actionId === actionId),
    ).toHaveLength(1)
  })

  test('have no effect before they are published', async () => {
    const { bob, root, comment } = await startWithDraftComment()
    expect((await bob.get(root.actionId)).stat).toMatchObject({ comments: 0 })
    await bob.publish(comment.actionId)
    expect((await bob.get(root.actionId)).stat).toMatchObject({ comments: 1 })
  })

  test('that can no longer be published stay drafts', async () => {
    const { alice, bob, settle, root, comment } = await startWithDraftComment()
    await alice.remove(root.actionId)
    await settle()
    await expect(bob.publish(comment.actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    expect(await bob.get(comment.actionId)).toMatchObject({ status: 'R' })
  })

  test('that are deleted are told to nobody', async () => {
    const { alice, sent } = await start()
    const { actionId } = await alice.create(draft)
    await alice.remove(actionId)
    expect(sent).toEqual([])
    expect(await alice.list({ status: ['D'] })).toMatchObject([{ actionId }])
    await expect(alice.publish(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
  })

  describe('scheduled', () => {
    test('are published at their time, once', async () => {
      const { alice, bob, settle, tick, events } = await start()
      const made = await alice.create({ type: 'POST', content: { text: 'later' }, publishAt: startSecs + 60 })
      expect(made.status).toBe('S')
      expect(await alice.list({ status: ['S'] })).toHaveLength(1)
      expect(await alice.list({ type: ['POST'] })).toEqual([])
      tick(59)
      await settle()
      expect(await alice.get(made.actionId)).toMatchObject({ status: 'S' })
      tick(1)
      await settle()
      for (const who of [alice, bob]) expect(await who.get(made.actionId)).toMatchObject({ status: 'A' })
      tick(600)
      await settle()
      expect(
        events.filter(({ kind, action }) => kind === 'action.created' && action.actionId === made.actionId),
      ).toHaveLength(1)
    })

    test('can be cancelled, postponed and published at once', async () => {
      const { alice, settle, tick } = await start()
      const { actionId } = await alice.create(draft)
      expect(await alice.publish(actionId, startSecs + 60)).toEqual({ actionId, type: 'POST', status: 'S' })
      await expect(alice.update(actionId, { flags: 'x' })).rejects.toEqual(fails('E-STATE'))
      expect(await alice.cancel(actionId)).toEqual({ actionId, type: 'POST', status: 'R' })
      await expect(alice.cancel(actionId)).rejects.toEqual(fails('E-STATE'))
      tick(60)
      await settle()
      expect(await alice.get(actionId)).toMatchObject({ status: 'R' })
      await alice.publish(actionId, startSecs + 120)
      await alice.publish(actionId, startSecs + 180)
      tick(60)
      await settle()
      expect(await alice.get(actionId)).toMatchObject({ status: 'S' })
      expect(await alice.publish(actionId)).toMatchObject({ status: 'A' })
    })

    test('for a time that has passed are published now', async () => {
      const { alice } = await start()
      const { actionId } = await alice.create(draft)
      expect(await alice.publish(actionId, startSecs - 10)).toMatchObject({ status: 'A' })
      expect(await alice.create({ ...draft, draft: false, publishAt: startSecs })).toMatchObject({
        status: 'A',
      })
    })

    test('that have become impossible are deleted, with the reason', async () => {
      const { alice, bob, settle, tick } = await start()
      const root = await alice.create({ type: 'POST', content: { text: 'root' } })
      await settle()
      const content = { text: 'hm' }
      const made = await bob.create({
        type: 'CMNT',
        parentId: root.actionId,
        content,
        publishAt: startSecs + 60,
      })
      await alice.remove(root.actionId)
      await settle()
      tick(60)
      await settle()
      expect(await bob.stored(made.actionId)).toMatchObject({
        status: 'D',
        content,
        x: { refused: 'E-ACTION-NOTFOUND' },
      })
      await expect(alice.remove(made.actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      await bob.remove(made.actionId)
      expect(await bob.stored(made.actionId)).toMatchObject({ status: 'D', content: undefined, x: undefined })
      await expect(bob.remove(made.actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    })
  })

  test('cannot be changed by others: 404 where they are not seen', async () => {
    const { alice, bob } = await start()
    const { actionId } = await alice.create(draft)
    const visitor = alice.as(identity(bob.idTag))
    const notFound = fails('E-ACTION-NOTFOUND')
    await expect(visitor.update(actionId, {})).rejects.toEqual(notFound)
    await expect(visitor.publish(actionId)).rejects.toEqual(notFound)
    await expect(visitor.cancel(actionId)).rejects.toEqual(notFound)
    const open = await alice.create({ type: 'POST', content: { text: 'open' } })
    for (const attempt of [
      () => visitor.update(open.actionId, {}),
      () => visitor.publish(open.actionId),
      () => visitor.cancel(open.actionId),
    ])
      await expect(attempt()).rejects.toEqual(fails('E-AUTH-FORBIDDEN'))
    await expect(alice.publish(`a1~${'A'.repeat(43)}` as ActionId)).rejects.toEqual(notFound)
  })
})
