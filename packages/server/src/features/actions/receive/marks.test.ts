import { expect, test } from 'vitest'
import { type Actor, actionLab } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'

const say = (text: string) => ({ content: { text }, visibility: 'P' as const })

eachDialect('the mark of a notification', (open) => {
  const openLab = actionLab(open)

  async function start() {
    const lab = await openLab()
    const alice = await lab.makeTenant('alice.example.com')
    const [bob, carol] = [await lab.makeTenant('bob.example.com'), await lab.makeTenant('carol.example.com')]
    for (const [one, other] of [
      [alice, bob],
      [alice, carol],
      [carol, bob],
      [bob, alice],
      [carol, alice],
    ] as const) {
      await one.create({ type: 'FLLW', audienceTag: other.idTag })
      await lab.settle()
    }
    const newOf = async (who: Actor) =>
      (await who.list({ status: ['N'] })).map(({ type, status }) => `${type} ${status}`)
    return { ...lab, alice, bob, carol, newOf }
  }

  test('is on a message until it is dismissed', async () => {
    const { alice, bob, carol, newOf, settle } = await start()
    const audience = [alice.idTag, carol.idTag]
    const { actionId } = await bob.create({ type: 'MSG', audience, content: { text: 'Hello' } })
    await settle()
    expect(await alice.list({ type: ['MSG'] })).toMatchObject([{ actionId, status: 'N' }])
    await alice.dismiss(actionId)
    expect([await newOf(alice), await newOf(carol), await newOf(bob)]).toEqual([[], ['MSG N'], []])
  })

  test.each(['POST', 'SHRE'] as const)(
    'is on a %s that mentions the tenant, and not on one that mentions others',
    async (type) => {
      const { alice, bob, carol, newOf, settle } = await start()
      const content = { text: 'Look, @alice.example.com!', url: 'https://example.com' }
      await bob.create({ type, ...say(''), content })
      await bob.create({ type, ...say(''), content: { ...content, text: 'Look, @carol.example.com!' } })
      await settle()
      expect([await newOf(alice), await newOf(bob)]).toEqual([[`${type} N`], []])
      expect(await newOf(carol)).toEqual([`${type} N`])
    },
  )

  test('is on a comment that mentions the tenant, in any thread', async () => {
    const { alice, bob, carol, newOf, settle } = await start()
    const { actionId: parentId } = await alice.create({ type: 'POST', ...say('Hello') })
    await settle()
    await bob.create({ type: 'CMNT', parentId, ...say('Ask @carol.example.com') })
    await settle()
    expect([await newOf(alice), await newOf(carol)]).toEqual([['CMNT N'], ['CMNT N']])
  })

  test('is on a repost of the tenant’s action, and on a reaction to it until that is taken back, but not on a follow', async () => {
    const { alice, bob, carol, newOf, settle } = await start()
    const { actionId } = await alice.create({ type: 'POST', ...say('Hello') })
    await settle()
    await bob.create({ type: 'REPOST', subject: actionId })
    await carol.react(actionId, 'LOVE')
    await settle()
    expect((await newOf(alice)).toSorted()).toEqual(['REACT N', 'REPOST N'])
    expect(await newOf(carol)).toEqual([])
    await carol.react(actionId, null)
    await settle()
    expect(await newOf(alice)).toEqual(['REPOST N'])
  })
})
