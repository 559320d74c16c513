import type { ActionId, ActionTokenPayload } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { suspendTenant } from '#features/tenants/index.ts'
import { type Actor, actionLab, readToken } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { serverTenant } from '#infra/db/index.ts'
import { findConcerned } from './find-concerned.ts'

eachDialect('an action from elsewhere concerns', (open) => {
  const openLab = actionLab(open)

  /** Bob and Carol hold a post of Alice; Dora has nothing to do with it. */
  async function start() {
    const lab = await openLab()
    const make = (name: string) => lab.makeTenant(`${name}.example.com`)
    const [alice, bob, carol, dora] = [
      await make('alice'),
      await make('bob'),
      await make('carol'),
      await make('dora'),
    ]
    for (const follower of [bob, carol]) await follower.create({ type: 'FLLW', audienceTag: alice.idTag })
    await lab.settle()
    const { actionId } = await alice.create({ type: 'POST', content: { text: 'a' } })
    await lab.settle()
    const concerned = async (payload: Partial<ActionTokenPayload>) => {
      const token = { issuerTag: 'zoe.example.org', type: 'POST', ...payload } as ActionTokenPayload
      const tenants = await findConcerned(lab, lab.db.reader(serverTenant), token)
      return tenants.map(({ idTag }) => idTag.split('.')[0]).sort()
    }
    return { ...lab, alice, bob, carol, dora, actionId, concerned }
  }

  test('the tenants it names, once, and nobody for malformed names', async () => {
    const { concerned, bob, carol } = await start()
    expect(await concerned({ audienceTag: bob.idTag, audience: [bob.idTag, carol.idTag] })).toEqual([
      'bob',
      'carol',
    ])
    expect(await concerned({ type: 'INVT', audienceTag: 'x.example.org', subject: carol.idTag })).toEqual([
      'carol',
    ])
    expect(await concerned({ audienceTag: 'BOB.example.com' })).toEqual([])
  })

  test('followers and connections of its issuer when it is for its circle', async () => {
    const { concerned, alice } = await start()
    const visibility = 'F'
    for (const type of ['POST', 'REPOST', 'APKG']) {
      const its = { issuerTag: alice.idTag, type }
      expect(await concerned({ ...its, visibility })).toEqual(['bob', 'carol'])
      expect(await concerned(its)).toEqual([])
      const deletion = { ...its, subType: 'DEL', subject: `a1~${'A'.repeat(43)}` }
      expect(await concerned(deletion)).toEqual(['bob', 'carol'])
    }
    const addressed = { issuerTag: alice.idTag, visibility, audienceTag: 'x.example.org' } as const
    expect(await concerned(addressed)).toEqual([])
  })

  describe('of the tenants that hold what it is about', () => {
    test('all, when it is a comment, a deletion or counts', async () => {
      const { concerned, alice, actionId } = await start()
      expect(await concerned({ type: 'CMNT', parentId: actionId })).toEqual(['alice', 'bob', 'carol'])
      expect(await concerned({ type: 'CMNT', parentId: 'a1~x', rootId: actionId })).toEqual([
        'alice',
        'bob',
        'carol',
      ])
      const deletion = {
        issuerTag: alice.idTag,
        subType: 'DEL',
        subject: actionId,
        audienceTag: 'x.example.org',
      }
      expect(await concerned(deletion)).toEqual(['bob', 'carol'])
      expect(await concerned({ issuerTag: alice.idTag, type: 'STAT', subject: actionId })).toEqual([
        'bob',
        'carol',
      ])
    })

    test('the issuer alone, when it is a reaction, a repost or an acknowledgment', async () => {
      const { concerned, actionId } = await start()
      for (const type of ['REACT', 'REPOST', 'SHRE', 'ACK'])
        expect(await concerned({ type, subject: actionId })).toEqual(['alice'])
    })

    test('none, when it is for its audience alone', async () => {
      const { concerned, actionId, dora } = await start()
      expect(await concerned({ type: 'CONN', audienceTag: dora.idTag, subject: actionId })).toEqual(['dora'])
      expect(await concerned({ type: 'MSG', audienceTag: dora.idTag, parentId: actionId })).toEqual(['dora'])
      expect(await concerned({ type: 'MSG', parentId: actionId })).toEqual([])
    })
  })

  test('a suspended tenant too', async () => {
    const { concerned, bob, db, tenants, clock } = await start()
    const deps = { tenants, clock, revokeSessions: async () => undefined, emit: async () => undefined }
    await db.transact(bob.tenant.tenantId, (tx) => suspendTenant(deps, tx))
    expect(await concerned({ audienceTag: bob.idTag })).toEqual(['bob'])
  })

  test('a reaction is stored by nobody but the issuer of what it is about', async () => {
    const { alice, bob, carol, actionId, tokenOf, settle, receive } = await start()
    const { actionId: reaction } = await bob.create({ type: 'REACT', subType: 'LIKE', subject: actionId })
    await settle()
    const seen = (who: Actor) => who.stored(reaction)
    expect([await seen(alice), await seen(carol)]).toEqual([
      expect.objectContaining({ status: 'A' }),
      undefined,
    ])
    expect(readToken(await tokenOf(bob.tenant.tenantId, reaction as ActionId)).payload.subject).toBe(actionId)
    expect(await receive(alice.tenant, await tokenOf(bob.tenant.tenantId, reaction as ActionId))).toEqual({
      kind: 'known',
    })
  })
})
