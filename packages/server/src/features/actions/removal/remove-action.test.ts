import { expect, test } from 'vitest'
import { changeRelation, findRelation } from '#features/relations/index.ts'
import { type Actor, actionLab, guest, identity } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'

const fails = (code: string) => expect.objectContaining({ code })
const fileId = `b1~${'A'.repeat(43)}`
const otherFileId = `b1~${'E'.repeat(43)}`

eachDialect('removing others’ actions', (open) => {
  const openLab = actionLab(open)

  async function start() {
    const lab = await openLab()
    const alice = await lab.makeTenant('alice.example.com')
    const bob = await lab.makeTenant('bob.example.com')
    await lab.db.transact(alice.tenant.tenantId, (tx) =>
      changeRelation(tx, bob.idTag, { isFollowing: true, at: 1 }),
    )
    const send = async (members: Record<string, unknown>) => {
      const token = await lab.forge(bob, { visibility: 'P', content: { text: 'from bob' }, ...members })
      await lab.receive(alice.tenant, token)
      const [newest] = await alice.list({ issuer: bob.idTag })
      return { token, actionId: newest?.actionId ?? '' }
    }
    const own = await alice.create({ type: 'POST', content: { text: 'Hi' }, visibility: 'P' })
    return { ...lab, alice, bob, send, own }
  }

  test('is for the owner: it ends counts, mark and search, and tells nobody', async () => {
    const { alice, send, own, sent, events } = await start()
    const comment = await send({ type: 'CMNT', parentId: own.actionId, content: { text: 'weeds' } })
    expect((await alice.get(own.actionId)).stat).toMatchObject({ comments: 1 })
    expect(await alice.list({ search: 'weeds' })).toHaveLength(1)
    sent.length = 0
    await alice.remove(comment.actionId)
    expect((await alice.get(own.actionId)).stat).toMatchObject({ comments: 0 })
    expect(await alice.list({ search: 'weeds' })).toEqual([])
    expect(await alice.list({ status: ['N'] })).toEqual([])
    expect(await alice.stored(comment.actionId)).toMatchObject({ status: 'D', token: undefined })
    expect(events.at(-1)).toMatchObject({ kind: 'action.deleted', action: { actionId: comment.actionId } })
    expect(sent).toEqual([])
    await expect(alice.remove(comment.actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
  })

  test('lasts, and the issuer can still delete the action', async () => {
    const { alice, bob, send, receive, forge } = await start()
    const { token, actionId } = await send({ type: 'POST', audienceTag: alice.idTag })
    await alice.remove(actionId)
    expect(await receive(alice.tenant, token)).toEqual({ kind: 'known' })
    const end = await forge(bob, {
      type: 'POST',
      subType: 'DEL',
      subject: actionId,
      audienceTag: alice.idTag,
    })
    expect(await receive(alice.tenant, end)).toEqual({ kind: 'stored' })
    expect(await receive(alice.tenant, token)).toEqual({ kind: 'known' })
    await expect(alice.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
  })

  test('removes files that nothing else of their owner shows', async () => {
    const { alice, send, files } = await start()
    const first = await send({ type: 'POST', attachments: [fileId, otherFileId], audienceTag: alice.idTag })
    const second = await send({ type: 'POST', attachments: [fileId], createdAt: 1, iat: 1_767_225_600 })
    expect(second.actionId).not.toBe('')
    await alice.remove(first.actionId)
    const dropped = files.told.filter((word) => word.startsWith('drop'))
    expect(dropped).toEqual([`drop ${otherFileId} bob.example.com`])
  })

  test('of a FLLW ends the follower relation', async () => {
    const { alice, bob, settle } = await start()
    const { actionId } = await bob.create({ type: 'FLLW', audienceTag: alice.idTag })
    await settle()
    await alice.remove(actionId)
    await settle()
    expect((await findRelation(alice.reader, bob.idTag))?.isFollower).toBe(false)
    expect(await bob.get(actionId)).toMatchObject({ status: 'A' })
  })

  test('is allowed to nobody else', async () => {
    const { alice, send } = await start()
    const { actionId } = await send({ type: 'POST', audienceTag: alice.idTag })
    const others: Actor[] = [alice.as(identity('bob.example.com')), alice.as(identity('carol.example.com'))]
    for (const who of others)
      await expect(who.remove(actionId)).rejects.toMatchObject({
        code: expect.stringMatching(/E-AUTH-FORBIDDEN|E-ACTION-NOTFOUND/),
      })
    await expect(alice.as(guest).remove(actionId)).rejects.toBeDefined()
    expect(await alice.get(actionId)).toMatchObject({ status: 'A' })
  })
})
