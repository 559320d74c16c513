import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachDialect, onPostgresServer } from '#harness/each-dialect.ts'
import {
  type Database,
  forUpdateSkipLocked,
  type Migration,
  openDatabase,
  type Placeholder,
  statement,
  type TenantId,
  type Writer,
  type WriteTables,
} from './index.ts'

interface Tables {
  doctors: { name: string; on_call: number }
  pg_prepared_statements: { name: string }
}

const migrations: Migration[] = [
  {
    id: '0001_doctors',
    async up(schema) {
      await schema.createTable('doctors', { name: 'text', on_call: 'boolean' }, { primaryKey: ['name'] })
      await schema
        .tables<Tables>()
        .insertInto('doctors')
        .values([
          { name: 'Ann', on_call: 1 },
          { name: 'Ben', on_call: 1 },
        ])
        .execute()
    },
  },
]
const conflicts: Migration = {
  id: '0002_conflicts',
  up: (schema) =>
    schema.run({
      sqlite: undefined,
      postgres: `create function conflict() returns table (one bigint) language plpgsql as
        $$ begin raise exception 'always' using errcode = '40001'; end $$`,
    }),
}
const alice = 1 as TenantId

const onCall = (from: Pick<Writer, 'tables'>) =>
  from.tables<Tables>().selectFrom('doctors').select('name').where('on_call', '=', 1).orderBy('name')
const release = (tx: Writer, name: string) =>
  tx.tables<Tables>().updateTable('doctors').set({ on_call: 0 }).where('name', '=', name).execute()
const countOnCall = async (db: Database) => (await onCall(db.reader(alice) as Writer).execute()).length
const killOwnConnection = (tx: Writer) =>
  tx
    .tables<Tables>()
    .selectFrom(sql<{ gone: boolean }>`pg_terminate_backend(pg_backend_pid())`.as('gone'))
    .selectAll()
    .execute()

onPostgresServer('transact', (open) => {
  test('keeps a rule that two transactions would break together, by running one of them again', async () => {
    const db = await open({ migrations })
    const { promise: bothRead, resolve } = Promise.withResolvers<void>()
    let readers = 0
    let runs = 0
    const leave = (name: string) =>
      db.transact(alice, async (tx) => {
        runs += 1
        const left = await onCall(tx).execute()
        readers += 1
        if (readers === 2) resolve()
        await bothRead
        if (left.length < 2) return false
        await release(tx, name)
        return true
      })
    const left = await Promise.all([leave('Ann'), leave('Ben')])
    expect(left.toSorted()).toEqual([false, true])
    expect(runs).toBe(3)
    expect(await countOnCall(db)).toBe(1)
  })

  test('runs a work again even when it has made something else of the conflict', async () => {
    const db = await open({ migrations: [...migrations, conflicts] })
    let runs = 0
    const answer = await db.transact(alice, async (tx) => {
      runs += 1
      if (runs === 3) return 'done'
      await tx
        .tables<Tables>()
        .selectFrom(sql<{ one: number }>`conflict()`.as('c'))
        .selectAll()
        .execute()
        .catch(() => {
          throw new Error('hidden')
        })
    })
    expect([answer, runs]).toEqual(['done', 3])
  })

  test('gives up on conflicts that do not end', async () => {
    const db = await open({ migrations: [...migrations, conflicts] })
    const conflicting = db.transact(alice, (tx) =>
      tx.tables<Tables>().selectFrom(sql<{ one: number }>`conflict()`.as('c')).selectAll().execute(),
    )
    await expect(conflicting).rejects.toMatchObject({ code: 'E-UNAVAILABLE', retryAfterSecs: 1 })
  })

  test('is unavailable when the connection is lost, and well again at the next call', async () => {
    const db = await open({ migrations })
    const losing = db.transact(alice, async (tx) => {
      await release(tx, 'Ann')
      await killOwnConnection(tx)
    })
    await expect(losing).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
    expect(await countOnCall(db)).toBe(2)
    await db.transact(alice, (tx) => release(tx, 'Ann'))
    expect(await countOnCall(db)).toBe(1)
  })

  test('gives up a work that takes too long, and the changes with it', async () => {
    const db = await open({ migrations, limits: { warnMs: 5, limitMs: 20 } })
    const { promise: never } = Promise.withResolvers<void>()
    const stuck = db.transact(alice, async (tx) => {
      await release(tx, 'Ann')
      await never
    })
    await expect(stuck).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
    expect(await countOnCall(db)).toBe(2)
  })

  test('leases different rows to those who ask at the same time', async () => {
    const db = await open({ migrations })
    const { promise: bothHave, resolve } = Promise.withResolvers<void>()
    let leases = 0
    const lease = () =>
      db.transact(
        alice,
        async (tx) => {
          const [row] = await forUpdateSkipLocked(tx.dialect, onCall(tx).limit(1)).execute()
          leases += 1
          if (leases === 2) resolve()
          await bothHave
          await release(tx, row!.name)
          return row?.name
        },
        { isolation: 'read-committed' },
      )
    expect((await Promise.all([lease(), lease()])).toSorted()).toEqual(['Ann', 'Ben'])
    expect(leases).toBe(2)
  })

  test('prepares a statement once per connection', async () => {
    const find = statement((tables: WriteTables<Tables>, value: Placeholder<{ name: string }>) =>
      tables.selectFrom('doctors').select('on_call').where('name', '=', value('name')),
    )
    const db = await open({ migrations })
    const prepared = await db.transact(alice, async (tx) => {
      await Promise.all(['Ann', 'Ben', 'Cid'].map((name) => tx.first(find, { name })))
      return tx
        .tables<Tables>()
        .selectFrom('pg_prepared_statements')
        .select('name')
        .where('name', '=', find.name)
        .execute()
    })
    expect(prepared).toHaveLength(1)
  })
})

onPostgresServer('readers', (open) => {
  test('never wait for writers, however many there are', async () => {
    const db = await open({ migrations })
    const { promise: goOn, resolve } = Promise.withResolvers<void>()
    const writing = Array.from({ length: 30 }, () =>
      db.transact(alice, async (tx) => {
        await onCall(tx).execute()
        await goOn
      }),
    )
    expect(await countOnCall(db)).toBe(2)
    resolve()
    await Promise.all(writing)
  })
})

eachDialect('a database', (open) => {
  test('answers a ping and a check', async () => {
    const db = await open({ migrations })
    await db.ping()
    expect(await db.integrityCheck()).toEqual([])
  })

  test('knows its size, log and all', async () => {
    const db = await open({ migrations })
    const before = await db.sizeBytes()
    await db.transact(alice, (tx) => onCall(tx).execute())
    const size = await db.sizeBytes()
    expect(size).toBeGreaterThan(16_384)
    expect(size).toBeGreaterThanOrEqual(before)
  })
})

test('a server that cannot be reached is unavailable', async () => {
  await expect(openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none', migrations })).rejects.toMatchObject(
    {
      code: 'E-UNAVAILABLE',
    },
  )
})
