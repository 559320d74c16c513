import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { changeRelation, findRelation } from '#features/relations/index.ts'
import { actionLab, readToken } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { nowSecs } from '#lib/clock.ts'
import { assertStrangerRoom, chargeStranger, strangerLimits } from './stranger-budget.ts'
import { findStrangerRows, spendStrangerRows } from './stranger-budget-store.ts'

const domain = 'eve.example.com'
const daySecs = 86_400

eachDialect('the budget for strangers', (open) => {
  const openLab = actionLab(open)

  async function start() {
    const lab = await openLab()
    const alice = await lab.makeTenant('alice.example.com')
    const eve = await lab.makeTenant(domain)
    const post = await alice.create({ type: 'POST', content: { text: 'Hi' }, visibility: 'P' })
    const day = () => Math.floor(nowSecs(lab.clock) / daySecs)
    const spent = () => findStrangerRows(alice.reader, { domain, day: day() })
    const send = async (members: Record<string, unknown>) => {
      const token = await lab.forge(eve, members)
      return { token, ...(await lab.receive(alice.tenant, token)) }
    }
    const comment = { type: 'CMNT', parentId: post.actionId, content: { text: 'Me too' } }
    const spend = (rows: number, bytes = 0) =>
      lab.db.transact(alice.tenant.tenantId, (tx) =>
        spendStrangerRows(tx, { domain, day: day(), rows, bytes, ...strangerLimits }),
      )
    return { ...lab, alice, eve, spent, send, comment, spend }
  }

  test('counts actions and their bytes; a first follow is three rows', async () => {
    const { alice, spent, send, comment } = await start()
    const { token } = await send(comment)
    expect(await spent()).toEqual({ rows: 1, bytes: token.length })
    await send({ type: 'FLLW', audienceTag: alice.idTag })
    expect((await spent()).rows).toBe(4)
    await send({ type: 'FLLW', audienceTag: alice.idTag, subType: 'DEL' })
    expect((await spent()).rows).toBe(5)
  })

  test('counts actions that their type refuses, but not those that leave nothing', async () => {
    const { alice, spent, send, comment } = await start()
    expect((await send({ ...comment, content: { text: 7 } })).kind).toBe('refused')
    expect((await spent()).rows).toBe(1)
    expect((await send({ type: 'MSG', content: { text: 'Hi' }, audienceTag: alice.idTag })).kind).toBe(
      'stranger',
    )
    expect((await spent()).rows).toBe(1)
  })

  test('ends with the day’s rows or bytes, and starts again the next day', async () => {
    const { alice, clock, send, comment, spend } = await start()
    expect(await spend(strangerLimits.maxRows)).toBe(true)
    expect(await spend(1)).toBe(false)
    expect(await send(comment)).toMatchObject({ kind: 'limited' })
    await expect(assertStrangerRoom({ clock }, alice.reader, domain)).rejects.toMatchObject({
      code: 'E-RATELIMIT',
    })
    clock.advance(daySecs * 1000)
    expect(await spend(1, strangerLimits.maxBytes - 10)).toBe(true)
    expect(await send(comment)).toMatchObject({ kind: 'limited' })
    clock.advance(daySecs * 1000)
    expect(await send(comment)).toMatchObject({ kind: 'stored' })
  })

  test('does not limit deletions by the issuer', async () => {
    const { alice, send, comment, spend } = await start()
    const { token } = await send(comment)
    const { actionId } = readToken(token)
    await spend(strangerLimits.maxRows - 1)
    expect(await send({ type: 'CMNT', subType: 'DEL', subject: actionId })).toMatchObject({ kind: 'stored' })
    expect(await alice.stored(actionId)).toMatchObject({ status: 'D' })
  })

  test('does not count known identities', async () => {
    const { alice, eve, db, spent, send, comment } = await start()
    await db.transact(alice.tenant.tenantId, (tx) =>
      changeRelation(tx, eve.idTag, { connection: 'connected', at: 1 }),
    )
    expect(await send(comment)).toMatchObject({ kind: 'stored' })
    expect((await spent()).rows).toBe(0)
  })

  test('is kept when many arrive at once', async () => {
    const { alice, eve, clock, db, forge, spend } = await start()
    await spend(strangerLimits.maxRows - 5)
    const received = readToken(await forge(eve, { type: 'ACK' }))
    const relation = await findRelation(alice.reader, 'nobody.example.com' as IdTag)
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () =>
        db.transact(alice.tenant.tenantId, (tx) =>
          chargeStranger({ clock }, tx, { received: { ...received, issuerDomain: domain }, relation }),
        ),
      ),
    )
    expect(outcomes.filter((limit) => limit === undefined)).toHaveLength(5)
  })
})
