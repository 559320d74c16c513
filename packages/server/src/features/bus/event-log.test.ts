import { expect, test } from 'vitest'
import { eachDialect, onPostgresServer } from '#harness/each-dialect.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { busMigrations } from './bus-migrations.ts'
import {
  appendNotice,
  appendNotices,
  deleteNumberedEvents,
  findLog,
  findOldestSeq,
  hasListeners,
  listEvents,
  listLogs,
  numberEvents,
  wantLog,
} from './event-log-store.ts'
import type { Notice } from './notice.ts'

const [alice, bob, carol] = [1, 2, 3] as TenantId[] as [TenantId, TenantId, TenantId]
const all = { after: 0, upTo: 1e9, limit: 2000 }

function notice(name: string): Notice {
  return { kind: 'SETTING', name, to: [] }
}

const want = (db: Database, tenantId: TenantId, now = 1000) =>
  db.transact(tenantId, (tx) => wantLog(tx, { now, until: now + 100 }))
const append = (db: Database, tenantId: TenantId, name: string, at = 1001) =>
  db.transact(tenantId, (tx) => appendNotice(tx, notice(name), at))
const number = (db: Database, tenantId: TenantId) =>
  db.transact(serverTenant, (tx) => numberEvents(tx.as(tenantId)), { isolation: 'read-committed' })
const names = async (db: Database, tenantId: TenantId, page = all) =>
  (await listEvents(db.reader(tenantId), page)).map(({ seq, notice: it }) => [
    seq,
    it.kind === 'SETTING' ? it.name : '',
  ])

eachDialect('the log of events', (open) => {
  const start = () => open({ migrations: busMigrations })

  test('has nothing of tenants to whom nobody listens', async () => {
    const db = await start()
    expect(await append(db, alice, 'lost')).toBe(false)
    expect(await number(db, alice)).toBe(0)
    expect([await findLog(db.reader(alice)), await hasListeners(db.reader(alice), 1000)]).toEqual([
      undefined,
      false,
    ])
  })

  test('numbers events in their order, for each tenant from one', async () => {
    const db = await start()
    for (const tenantId of [alice, bob]) await want(db, tenantId)
    for (const name of ['a', 'b']) expect(await append(db, alice, name)).toBe(true)
    await append(db, bob, 'c')
    expect(await names(db, alice)).toEqual([])
    expect([await number(db, alice), await number(db, bob)]).toEqual([2, 1])
    await append(db, alice, 'd')
    expect([await number(db, alice), await number(db, alice)]).toEqual([3, 3])
    expect(await names(db, alice)).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, 'd'],
    ])
    expect(await names(db, alice, { after: 1, upTo: 3, limit: 1 })).toEqual([[2, 'b']])
    expect(await names(db, bob)).toEqual([[1, 'c']])
  })

  test('takes one event for many tenants, and says who wants it', async () => {
    const db = await start()
    for (const tenantId of [alice, carol]) await want(db, tenantId)
    const wanting = await db.transact(serverTenant, (tx) =>
      appendNotices(tx, [alice, bob, carol], { notice: notice('x'), at: 1001 }),
    )
    expect(wanting.sort()).toEqual([alice, carol])
    const many = Array.from({ length: 2500 }, (_, at) => (at + 100) as TenantId)
    expect(
      await db.transact(serverTenant, (tx) =>
        appendNotices(tx, [...many, alice], { notice: notice('y'), at: 1001 }),
      ),
    ).toEqual([alice])
  })

  test('says of many logs how far they are, and whether something waits', async () => {
    const db = await start()
    for (const tenantId of [alice, bob]) await want(db, tenantId)
    await append(db, alice, 'a')
    await number(db, alice)
    await append(db, bob, 'b')
    const logs = await listLogs(db.reader(serverTenant), [alice, bob, carol])
    expect(logs.sort((one, other) => one.tenantId - other.tenantId)).toEqual([
      { tenantId: alice, lastSeq: 1, hasUnnumbered: false },
      { tenantId: bob, lastSeq: 0, hasUnnumbered: true },
    ])
  })

  test('keeps a thousand', async () => {
    const db = await start()
    await want(db, alice)
    for (let round = 0; round < 3; round += 1) {
      await db.transact(alice, async (tx) => {
        for (let at = 0; at < 400; at += 1) await appendNotice(tx, notice('x'), 1001)
      })
      await number(db, alice)
    }
    expect(await findOldestSeq(db.reader(alice))).toBe(201)
    expect((await names(db, alice)).length).toBe(1000)
  })

  test('leaves out a number where nobody has listened for a while, and forgets what was before', async () => {
    const db = await start()
    await want(db, alice)
    await append(db, alice, 'before')
    await number(db, alice)
    await want(db, alice, 1050)
    expect(await findLog(db.reader(alice))).toEqual({ lastSeq: 1, wantedUntil: 1150 })
    expect(await append(db, alice, 'unheard', 1150)).toBe(false)
    await want(db, alice, 1200)
    await append(db, alice, 'after', 1201)
    expect(await number(db, alice)).toBe(3)
    expect(await names(db, alice)).toEqual([[3, 'after']])
  })

  test('forgets the old, but nothing that waits for its number', async () => {
    const db = await start()
    await want(db, alice)
    await append(db, alice, 'old', 1001)
    await number(db, alice)
    await append(db, alice, 'waits', 1002)
    await append(db, alice, 'new', 1090)
    await db.transact(serverTenant, (tx) => deleteNumberedEvents(tx, { upTo: 1049, limit: 100 }))
    await number(db, alice)
    expect(await names(db, alice)).toEqual([
      [2, 'waits'],
      [3, 'new'],
    ])
  })

  test('gives nothing to whoever rolls back', async () => {
    const db = await start()
    await want(db, alice)
    const failing = db.transact(alice, async (tx) => {
      await appendNotice(tx, notice('x'), 1001)
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await number(db, alice)).toBe(0)
  })
})

onPostgresServer('the log of events under many writers', (open) => {
  test('shows nobody a number before all smaller ones', async () => {
    const db = await open({ migrations: busMigrations })
    const other = await open.again(db, { migrations: busMigrations })
    await want(db, alice)
    const total = 120
    let isDone = false
    const writers = Array.from({ length: 6 }, async (_, writer) => {
      for (let at = 0; at < total / 6; at += 1) {
        await db.transact(alice, async (tx) => {
          await appendNotice(tx, notice(`${writer} ${at}`), 1001)
          // Commits overtake each other.
          for (let turn = (writer + at) % 5; turn > 0; turn -= 1) await findLog(tx)
        })
      }
    })
    const numberers = [db, other].map(async (handle) => {
      while (!isDone) await number(handle, alice)
    })
    let seen = 0
    const reader = (async () => {
      while (seen < total) {
        const page = await listEvents(other.reader(alice), { after: seen, upTo: 1e9, limit: 2000 })
        expect(page.map(({ seq }) => seq)).toEqual(page.map((_, at) => seen + at + 1))
        seen += page.length
      }
    })()
    await Promise.all(writers)
    await reader
    isDone = true
    await Promise.all(numberers)
    expect(seen).toBe(total)
  })
})
