import type { ActionId, FileId } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { changeRelation } from '#features/relations/index.ts'
import { type ActionLab, type Actor, actionLab, identity } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { settleAttachment } from '../index.ts'

const [one, other] = [`b1~${'A'.repeat(43)}` as FileId, `b1~${'B'.repeat(42)}A` as FileId]
const minuteMs = 60_000

eachDialect('an action from elsewhere with attachments', (open) => {
  const openLab = actionLab(open)

  /** Alice publishes a post with two files. Bob follows her and has neither file. */
  async function start() {
    const lab = await openLab()
    const alice = await lab.makeTenant('alice.example.com')
    const bob = await lab.makeTenant('bob.example.com')
    await bob.create({ type: 'FLLW', audienceTag: alice.idTag })
    await lab.settle()
    for (const fileId of [one, other]) lab.missingFiles.add(fileId)
    const { actionId } = await alice.create({
      type: 'POST',
      content: { text: 'Look' },
      attachments: [one, other],
    })
    await lab.settle()
    const tried = (
      fileId: FileId,
      verdict: Parameters<typeof settleAttachment>[2]['verdict'],
      issuerTag = alice.idTag,
    ) =>
      lab.db.transact(bob.tenant.tenantId, (tx) =>
        settleAttachment(lab.ports, tx, { tenant: bob.tenant, fileId, issuerTag, verdict }),
      )
    return { lab, alice, bob, actionId, tried }
  }
  const idsOf = async (who: Actor, query: Parameters<Actor['list']>[0] = { type: ['POST'] }) =>
    (await who.list(query)).map(({ actionId }) => actionId)
  const receivedOf = (lab: ActionLab, actionId: string) =>
    lab.events.filter(({ kind, action }) => kind === 'action.received' && action.actionId === actionId)

  test('is P until all of them are checked, and then A', async () => {
    const { lab, bob, actionId, tried } = await start()
    expect(await idsOf(bob)).toEqual([])
    expect(receivedOf(lab, actionId)).toEqual([])
    await tried(one, 'held')
    expect(await bob.get(actionId)).toMatchObject({ status: 'P', content: { text: 'Look' } })
    await tried(other, 'held')
    expect(await bob.get(actionId)).toMatchObject({ status: 'A' })
    expect(await idsOf(bob)).toEqual([actionId])
    await tried(other, 'held')
    expect(receivedOf(lab, actionId)).toHaveLength(1)
  })

  test('is shown to its receiver where P is asked for, and to nobody else', async () => {
    const { alice, bob, actionId } = await start()
    const pending = { status: ['P' as const] }
    expect(await idsOf(bob, pending)).toEqual([actionId])
    expect(await idsOf(bob.as(identity(alice.idTag)), pending)).toEqual([])
    await expect(bob.as(identity(alice.idTag)).get(actionId)).rejects.toMatchObject({
      code: 'E-ACTION-NOTFOUND',
    })
  })

  test('is A without the files that cannot be fetched', async () => {
    const { bob, actionId, tried } = await start()
    await tried(one, 'unavailable')
    await tried(other, 'held')
    expect(await bob.get(actionId)).toMatchObject({ status: 'A', attachments: [one, other] })
  })

  test('is A after ten minutes in any case', async () => {
    const { lab, bob, actionId } = await start()
    lab.clock.advance(9 * minuteMs)
    await lab.settle()
    expect(await bob.get(actionId)).toMatchObject({ status: 'P' })
    lab.clock.advance(2 * minuteMs)
    await lab.settle()
    expect(await bob.get(actionId)).toMatchObject({ status: 'A' })
  })

  test('is refused when the bytes are not those that it names', async () => {
    const { lab, bob, actionId, tried } = await start()
    await tried(one, 'contradicted')
    await tried(other, 'held')
    await expect(bob.get(actionId)).rejects.toMatchObject({ code: 'E-ACTION-NOTFOUND' })
    expect(await bob.stored(actionId)).toMatchObject({ status: 'D', x: { refused: 'E-VALIDATION' } })
    lab.clock.advance(11 * minuteMs)
    await lab.settle()
    expect(await idsOf(bob)).toEqual([])
  })

  test('ignores what came of the same files from another issuer', async () => {
    const { bob, actionId, tried } = await start()
    const stranger = 'mallory.example.com' as typeof bob.idTag
    await tried(one, 'contradicted', stranger)
    for (const fileId of [one, other]) await tried(fileId, 'held', stranger)
    expect(await bob.get(actionId)).toMatchObject({ status: 'P' })
    for (const fileId of [one, other]) await tried(fileId, 'held')
    expect(await bob.get(actionId)).toMatchObject({ status: 'A' })
  })

  test('waits for no file that is there already', async () => {
    const { lab, alice, bob } = await start()
    lab.missingFiles.clear()
    const { actionId } = await alice.create({ type: 'POST', content: { text: 'Again' }, attachments: [one] })
    await lab.settle()
    expect(await bob.get(actionId)).toMatchObject({ status: 'A' })
  })

  describe('while it is P', () => {
    test('can be deleted by its issuer', async () => {
      const { lab, alice, bob, actionId, tried } = await start()
      await alice.remove(actionId)
      await lab.settle()
      for (const fileId of [one, other]) await tried(fileId, 'held')
      expect(await idsOf(bob)).toEqual([])
      expect(await idsOf(bob, { status: ['P'] })).toEqual([])
    })

    test('does not become A at a tenant that has blocked its issuer since', async () => {
      const { lab, alice, bob, tried } = await start()
      await lab.db.transact(bob.tenant.tenantId, (tx) =>
        changeRelation(tx, alice.idTag, { isBlocked: true, at: 1 }),
      )
      for (const fileId of [one, other]) await tried(fileId, 'held')
      expect(await idsOf(bob)).toEqual([])
    })

    test('is not received a second time', async () => {
      const { lab, alice, bob, actionId } = await start()
      const token = await lab.tokenOf(alice.tenant.tenantId, actionId as ActionId)
      expect(await lab.receive(bob.tenant, token)).toEqual({ kind: 'known' })
    })

    test('cannot be reacted to', async () => {
      const { bob, actionId } = await start()
      await expect(bob.react(actionId, 'LIKE')).rejects.toMatchObject({ code: 'E-ACTION-NOTFOUND' })
    })

    test('a comment on it is counted once it is A', async () => {
      const { lab, alice, bob, actionId, tried } = await start()
      await alice.create({ type: 'CMNT', parentId: actionId, content: { text: 'More' } })
      await lab.settle()
      for (const fileId of [one, other]) await tried(fileId, 'held')
      expect(await bob.get(actionId)).toMatchObject({ stat: { comments: 1 } })
      expect(await idsOf(bob, { parentId: actionId })).toHaveLength(1)
    })
  })
})
