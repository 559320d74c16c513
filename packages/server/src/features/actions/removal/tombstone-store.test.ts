import type { ActionId, IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { TestClock } from '#harness/test-clock.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { actionsMigrations } from '../actions-migrations.ts'
import {
  isWithdrawn,
  putTombstone,
  sweepTombstones,
  type TombstoneTables,
  type Withdrawal,
} from './tombstone-store.ts'

const keptSecs = 181 * 86_400
const withdrawal = (n: number): Withdrawal => ({
  issuerTag: 'a.example.com' as IdTag,
  actionId: `a1~${String(n).padStart(43, 'A')}` as ActionId,
  type: 'POST',
})

/** Inserted at once: putting each takes minutes. */
async function fill(tx: Writer, domain: string, from: number, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, at) => {
    const { issuerTag, actionId, type } = withdrawal(from + at)
    return {
      tenant_id: tx.tenantId,
      issuer_tag: issuerTag,
      action_id: actionId,
      type,
      domain,
      kept_until: keptSecs,
    }
  })
  await tx.tables<TombstoneTables>().insertInto('tombstones').values(rows).execute()
}

eachDialect('a tombstone', (open) => {
  const start = () => open({ migrations: actionsMigrations, clock: new TestClock() })

  test('is kept by issuer, action and type, for 181 days after it was last put', async () => {
    const db = await start()
    const reader = db.reader(serverTenant)
    for (const now of [0, 10])
      await db.transact(serverTenant, (tx) => putTombstone(tx, withdrawal(1), { domain: 'example.com', now }))
    expect(await isWithdrawn(reader, withdrawal(1))).toBe(true)
    for (const other of [{ type: 'CMNT' }, { issuerTag: 'b.example.com' as IdTag }, withdrawal(2)])
      expect(await isWithdrawn(reader, { ...withdrawal(1), ...other })).toBe(false)
    const sweep = (now: number) => db.transact(serverTenant, (tx) => sweepTombstones(tx, now, 100))
    expect(await sweep(keptSecs + 9)).toBe(0)
    expect(await sweep(keptSecs + 10)).toBe(1)
    expect(await isWithdrawn(reader, withdrawal(1))).toBe(false)
  })

  test('is kept for a bounded number of actions of each other domain', async () => {
    const db = await start()
    const kept = await db.transact(serverTenant, async (tx) => {
      for (let n = 0; n < 9_999; n += 1111) await fill(tx, 'flood.example', n, 1111)
      const answers: boolean[] = []
      for (const [n, domain] of [
        [20_000, 'flood.example'],
        [20_001, 'flood.example'],
        [20_002, 'quiet.example'],
      ] as const)
        answers.push(await putTombstone(tx, withdrawal(n), { domain, now: 0 }))
      answers.push(await putTombstone(tx, withdrawal(20_003), { now: 0 }))
      return answers
    })
    expect(kept).toEqual([true, false, true, true])
  })
})
