import type { ActionId } from '@kith/protocol'
import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { actionLab } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { tellCountsLater } from './count-actions.ts'
import { findToldCounts, setCounts } from './count-store.ts'
import { secsBetweenCounts } from './counts-interval.ts'
import { listCountTokens } from './list-count-tokens.ts'

test.each([
  [1, 10],
  [100, 10],
  [101, 11],
  [1000, 100],
  [100_000, 10_000],
  [10_000_000, 86_400],
])('the interval between counts grows with the number of receivers: %i', (receivers, secs) => {
  expect(secsBetweenCounts(receivers)).toBe(secs)
})

eachDialect('telling counts', (open) => {
  const openLab = actionLab(open)

  /** An action whose counts go to this many followers. */
  async function popularAction(followers: number) {
    const lab = await openLab()
    const { tenant, create, reader } = await lab.makeTenant('alice.example.com')
    const numbers = Array.from({ length: followers }, (_, at) => ({ tag: `u${at}.example` }))
    await lab.db.transact(tenant.tenantId, async (tx) => {
      const tables = tx.tables() as Kysely<unknown>
      for (const { tag } of numbers)
        await sql`insert into relations (tenant_id, id_tag, updated_at, follower, in_circle, reached)
          values (${tx.tenantId}, ${tag}, 1, 1, 1, 1)`.execute(tables)
    })
    const created = await create({ type: 'POST', content: { text: 'Liked' }, visibility: 'P' })
    return { lab, tenant, reader, actionId: created.actionId as ActionId }
  }

  test.each([
    [5, 60],
    [1000, 7],
  ])('of a popular action reaches %i followers this often in ten minutes: %i', async (followers, times) => {
    const { lab, tenant, reader, actionId } = await popularAction(followers)
    const told = new Set<string>()
    for (let secs = 0; secs < 600; secs += 10) {
      await lab.db.transact(tenant.tenantId, (tx) => tellCountsLater(lab.ports, tx, actionId))
      lab.clock.advance(10_000)
      await lab.jobs.settle()
      const word = await findToldCounts(reader, actionId)
      if (word) told.add(word.actionId)
    }
    expect(told.size).toBeLessThanOrEqual(times)
    expect(told.size).toBeGreaterThanOrEqual(times - 1)
  })

  test('reaches followers as often while histories with new counts are asked for all the time', async () => {
    const { lab, tenant, actionId } = await popularAction(1000)
    lab.sent.splice(0)
    for (let secs = 0; secs < 600; secs += 10) {
      await lab.db.transact(tenant.tenantId, async (tx) => {
        await setCounts(tx, actionId, { reactions: secs + 1 })
        await tellCountsLater(lab.ports, tx, actionId)
      })
      expect(await listCountTokens(lab.ports, tenant, [actionId])).toHaveLength(1)
      lab.clock.advance(10_000)
      await lab.jobs.settle()
      expect(await listCountTokens(lab.ports, tenant, [actionId])).toHaveLength(1)
    }
    expect(lab.sent).toHaveLength(6)
  })
})
