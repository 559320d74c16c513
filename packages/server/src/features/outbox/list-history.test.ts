import { historyLimits } from '@kith/protocol'
import { expect, test } from 'vitest'
import { type ActionLab, type Actor, actionLab, guest, identity, readToken } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import type { Caller } from '#infra/caller/index.ts'
import { listHistory } from './list-history.ts'

const daySecs = 86_400

eachDialect('the history of a tenant', (open) => {
  const openLab = actionLab(open)

  async function scene() {
    const lab = await openLab()
    return {
      lab,
      alice: await lab.makeTenant('alice.example.com'),
      bob: await lab.makeTenant('bob.example.com'),
    }
  }
  const post = (actor: Actor, text: string, members: object = {}) =>
    actor.create({ type: 'POST', content: { text }, visibility: 'P', ...members })
  const textsFor = async (lab: ActionLab, actor: Actor, caller: Caller, range: object = {}) => {
    const tokens = await listHistory(lab, { tenant: actor.tenant, caller, ...range })
    return tokens.map((token) => readToken(token).payload.content?.text)
  }

  test('is for each reader what single reads allow, oldest first', async () => {
    const { lab, alice, bob } = await scene()
    await bob.create({ type: 'FLLW', audienceTag: alice.idTag })
    await lab.settle()
    for (const visibility of ['P', 'V', 'F', 'C', null] as const) {
      await post(alice, String(visibility), { visibility })
      lab.tick()
    }
    expect(await textsFor(lab, alice, guest)).toEqual(['P'])
    expect(await textsFor(lab, alice, identity('carol.example.com'))).toEqual(['P', 'V'])
    expect(await textsFor(lab, alice, identity(bob.idTag))).toEqual(['P', 'V', 'F'])
    expect(await textsFor(lab, alice, alice.caller)).toEqual(['P', 'V', 'F', 'C', 'null'])
  })

  test('holds neither what was deleted or has expired nor what others wrote', async () => {
    const { lab, alice, bob } = await scene()
    const { actionId } = await post(alice, 'Deleted')
    await alice.remove(actionId)
    await post(alice, 'Short', { expiresAt: Math.floor(lab.clock.now() / 1000) + 60 })
    await post(bob, 'By bob', { audienceTag: alice.idTag })
    await lab.settle()
    lab.tick(61)
    expect(await textsFor(lab, alice, guest)).toEqual([])
  })

  test('goes back 30 days, or as far as is asked', async () => {
    const { lab, alice } = await scene()
    for (const text of ['Old', 'Middle', 'New']) {
      await post(alice, text)
      lab.tick(14 * daySecs)
    }
    const now = Math.floor(lab.clock.now() / 1000)
    expect(await textsFor(lab, alice, guest, { since: 0 })).toEqual(['Middle', 'New'])
    expect(await textsFor(lab, alice, guest, { since: now - 15 * daySecs })).toEqual(['New'])
  })

  test('is bounded: of more actions or characters it has the newest', async () => {
    const { lab, alice } = await scene()
    for (let n = 0; n < historyLimits.maxItems + 2; n += 1) await post(alice, String(n))
    const texts = await textsFor(lab, alice, guest)
    expect([texts.length, texts[0], texts.at(-1)]).toEqual([50, '2', '51'])
    expect(await textsFor(lab, alice, guest, { limit: 2 })).toEqual(['50', '51'])
    for (let n = 0; n < 12; n += 1) await post(alice, 'x'.repeat(49_999), { x: { n } })
    for (let n = 0; n < 8; n += 1) await post(alice, 'ő'.repeat(49_999))
    const tokens = await listHistory(lab, { tenant: alice.tenant, caller: guest })
    const chars = tokens.reduce((sum, token) => sum + token.length, 0)
    expect(chars).toBeGreaterThan(historyLimits.maxChars - 140_000)
    expect(chars).toBeLessThanOrEqual(historyLimits.maxChars)
  })
})
