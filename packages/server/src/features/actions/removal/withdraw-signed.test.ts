import { expect, test } from 'vitest'
import { type Actor, actionLab } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { withdrawSignedLater } from './withdraw-signed.ts'

eachDialect('what a revoked key has signed', (open) => {
  const openLab = actionLab(open)

  test('is withdrawn at all tenants but the issuer, however much it is', async () => {
    const { db, clock, keys, jobs, tick, settle, makeTenant } = await openLab()
    const alice = await makeTenant('alice.example.com')
    const [bob, carol] = [await makeTenant('bob.example.com'), await makeTenant('carol.example.com')]
    for (const reader of [bob, carol]) await reader.create({ type: 'FLLW', audienceTag: alice.idTag })
    await settle()
    const post = async (text: string) =>
      (await alice.create({ type: 'POST', content: { text }, visibility: 'P' })).actionId
    const before = await post('before')
    tick(60)
    const since = Math.floor(clock.now() / 1000)
    const meant = []
    const count = 120
    for (let n = 0; n < count; n += 1) meant.push(await post(`${n}`))
    const { actionId: follow } = await alice.create({ type: 'FLLW', audienceTag: bob.idTag })
    const [stolen] = await keys.list(alice.tenant.tenantId)
    await db.transact(alice.tenant.tenantId, (tx) => keys.rotate(tx))
    const after = await post('after')
    await settle()
    const countLive = async (who: Actor, actionIds: readonly string[]) => {
      const held = await Promise.all(actionIds.map((actionId) => who.stored(actionId)))
      return held.filter((action) => action?.status === 'A').length
    }
    expect(await countLive(bob, [before, ...meant, follow, after])).toBe(count + 3)

    await db.transact(alice.tenant.tenantId, (tx) =>
      withdrawSignedLater({ jobs }, tx, { issuerTag: alice.idTag, kid: stolen?.kid ?? '', since }),
    )
    await settle()
    for (const reader of [bob, carol]) {
      expect(await countLive(reader, [before, after])).toBe(2)
      expect(await countLive(reader, [...meant, follow])).toBe(0)
      expect(await reader.stored(meant[0] ?? '')).toMatchObject({ status: 'D', content: undefined })
    }
    expect(await countLive(alice, [before, ...meant, follow, after])).toBe(count + 3)
  })
})
