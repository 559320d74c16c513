import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import {
  contains,
  type Database,
  forUpdateSkipLocked,
  type Migration,
  type Placeholder,
  serverTenant,
  statement,
  type TenantId,
  type Writer,
  type WriteTables,
} from './index.ts'

interface NoteTables {
  notes: {
    tenant_id: number
    note_id: string
    body: string | null
    size: number
    data: Uint8Array | null
    weight: number | null
  }
}

const migrations: Migration[] = [
  {
    id: '0001_notes',
    up: (schema) =>
      schema.createTable(
        'notes',
        {
          tenant_id: 'integer',
          note_id: 'text',
          body: 'text null',
          size: 'integer default 0',
          data: 'blob null',
          weight: 'real null',
        },
        { primaryKey: ['tenant_id', 'note_id'] },
      ),
  },
]
const alice = 1 as TenantId
const bob = 2 as TenantId

const addNote = statement(
  (
    tables: WriteTables<NoteTables>,
    value: Placeholder<{ tenantId: TenantId; noteId: string; size: number }>,
  ) =>
    tables
      .insertInto('notes')
      .values({ tenant_id: value('tenantId'), note_id: value('noteId'), size: value('size') }),
)
const listNotes = statement((tables: WriteTables<NoteTables>, value: Placeholder<{ tenantId: TenantId }>) =>
  tables
    .selectFrom('notes')
    .select(['note_id', 'size'])
    .where('tenant_id', '=', value('tenantId'))
    .orderBy('note_id'),
)
const noteOf = statement((tables: WriteTables<NoteTables>, value: Placeholder<{ noteId: string }>) =>
  tables.selectFrom('notes').select('size').where('note_id', '=', value('noteId')),
)
const grow = statement((tables: WriteTables<NoteTables>, value: Placeholder<{ by: number }>) =>
  tables.updateTable('notes').set((eb) => ({ size: eb('size', '+', value('by')) })),
)

const add = (tx: Writer, noteId: string, size = 1) =>
  tx.change(addNote, { tenantId: tx.tenantId, noteId, size })
const noteIds = async (db: Database, tenantId = alice) =>
  (await db.reader(tenantId).run(listNotes, { tenantId })).map(({ note_id }) => note_id)

eachDialect('transact', (open) => {
  test('is counted by how it ended', async () => {
    const ended: string[] = []
    const metrics = {
      transactionEnded(outcome: string, durationMs: number) {
        expect(durationMs).toBeGreaterThan(0)
        ended.push(outcome)
      },
      batchCommitted: () => undefined,
    }
    const db = await open({ migrations, metrics })
    await db.transact(alice, async () => 'done')
    await expect(db.transact(alice, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(ended).toEqual(['committed', 'failed'])
  })

  test('makes changes visible to readers when it answers', async () => {
    const db = await open({ migrations })
    expect(await db.transact(alice, (tx) => add(tx, 'a', 3))).toBe(1)
    expect(await db.reader(alice).run(listNotes, { tenantId: alice })).toStrictEqual([
      { note_id: 'a', size: 3 },
    ])
  })

  test('undoes everything when the work fails, and passes its error on', async () => {
    const db = await open({ migrations })
    const error = new Error('no')
    const failing = db.transact(alice, async (tx) => {
      await add(tx, 'a')
      throw error
    })
    await expect(failing).rejects.toBe(error)
    expect(await noteIds(db)).toEqual([])
  })

  test('sees its own changes', async () => {
    const db = await open({ migrations })
    const seen = await db.transact(alice, async (tx) => {
      await add(tx, 'a')
      return tx.run(listNotes, { tenantId: alice })
    })
    expect(seen).toHaveLength(1)
  })

  test('runs a failing neighbour and its own work apart', async () => {
    const db = await open({ migrations })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        db.transact(alice, async (tx) => {
          await add(tx, `note${index}`)
          if (index % 3 === 0) throw new Error('no')
        }),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(13)
    expect(await noteIds(db)).toHaveLength(13)
  })

  test('loses no update when many change the same row', async () => {
    const db = await open({ migrations })
    await db.transact(alice, (tx) => add(tx, 'a', 0))
    await Promise.all(
      Array.from({ length: 25 }, () =>
        db.transact(alice, async (tx) => {
          const [note] = await tx.run(listNotes, { tenantId: alice })
          await tx
            .tables<NoteTables>()
            .updateTable('notes')
            .set({ size: note!.size + 1 })
            .execute()
        }),
      ),
    )
    expect(await db.reader(alice).run(listNotes, { tenantId: alice })).toEqual([{ note_id: 'a', size: 25 }])
  })

  test('ends its Writer', async () => {
    const db = await open({ migrations })
    let leaked: Writer | undefined
    await db.transact(alice, async (tx) => {
      leaked = tx
    })
    await expect(add(leaked!, 'a')).rejects.toThrow('This transaction has ended')
    await expect(leaked!.tables<NoteTables>().deleteFrom('notes').execute()).rejects.toThrow('has ended')
    await expect(leaked!.as(bob).run(listNotes, { tenantId: bob })).rejects.toThrow('has ended')
    expect(() => leaked!.afterCommit(() => undefined)).toThrow('has ended')
  })

  test('refuses the outer database while it runs, and takes it again afterwards', async () => {
    const db = await open({ migrations })
    const misuse = (use: () => Promise<unknown>) => db.transact(alice, () => use())
    await expect(misuse(() => db.transact(alice, (tx) => add(tx, 'a')))).rejects.toThrow('only its Writer')
    await expect(misuse(() => noteIds(db))).rejects.toThrow('only its Writer')
    const query = () => db.reader(alice).tables<NoteTables>().selectFrom('notes').selectAll().execute()
    await expect(misuse(query)).rejects.toThrow('only its Writer')
    expect(await noteIds(db)).toEqual([])
  })

  test('lets what it started use the database once it has ended', async () => {
    const db = await open({ migrations })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    let later: Promise<string[]> | undefined
    await db.transact(alice, async (tx) => {
      later = ended.then(() => noteIds(db))
      await add(tx, 'a')
    })
    resolve()
    expect(await later).toEqual(['a'])
  })

  test('runs work and effects in the context of its caller', async () => {
    const db = await open({ migrations })
    const request = new AsyncLocalStorage<number>()
    const seen = await Promise.all(
      [1, 2, 3].map((id) =>
        request.run(id, async () => {
          const { promise: effect, resolve } = Promise.withResolvers<number | undefined>()
          const work = await db.transact(alice, async (tx) => {
            await add(tx, `note${id}`)
            tx.afterCommit(() => resolve(request.getStore()))
            return request.getStore()
          })
          return [work, await effect]
        }),
      ),
    )
    expect(seen).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ])
  })

  test('works on the rows of another tenant through `as`', async () => {
    const db = await open({ migrations })
    await db.transact(alice, async (tx) => {
      await add(tx, 'hers')
      await add(tx.as(bob), 'his')
    })
    expect(await noteIds(db, alice)).toEqual(['hers'])
    expect(await noteIds(db, bob)).toEqual(['his'])
    expect(db.reader(serverTenant).tenantId).toBe(0)
  })

  test('leases at read committed too', async () => {
    const db = await open({ migrations })
    await db.transact(alice, (tx) => add(tx, 'a'))
    const leased = await db.transact(
      alice,
      async (tx) => {
        const query = tx.tables<NoteTables>().selectFrom('notes').select('note_id').limit(1)
        return forUpdateSkipLocked(tx.dialect, query).execute()
      },
      { isolation: 'read-committed' },
    )
    expect(leased).toEqual([{ note_id: 'a' }])
  })

  test('cannot be committed after a statement has failed', async () => {
    const db = await open({ migrations })
    const swallowing = db.transact(alice, async (tx) => {
      await add(tx, 'a')
      await add(tx, 'a').catch(() => undefined)
    })
    await expect(swallowing).rejects.toThrow(/unique/i)
    expect(await noteIds(db)).toEqual([])
  })

  test('lets the work say in its own words what failed', async () => {
    const db = await open({ migrations })
    const translating = db.transact(alice, async (tx) => {
      await add(tx, 'a')
      await add(tx, 'a').catch(() => {
        throw new Error('taken')
      })
    })
    await expect(translating).rejects.toThrow('taken')
  })

  test('is refused when the database is closed, and closing waits for those under way', async () => {
    const db = await open({ migrations })
    const place = await open.again(db, { migrations })
    const running = db.transact(alice, async (tx) => {
      await nextTurn()
      await add(tx, 'a')
    })
    await nextTurn()
    await db.close()
    await running
    await expect(db.transact(alice, (tx) => add(tx, 'b'))).rejects.toThrow()
    expect(await noteIds(place)).toEqual(['a'])
  })
})

eachDialect('afterCommit', (open) => {
  test('runs effects in order once the changes can be read', async () => {
    const db = await open({ migrations })
    const seen: (string | number)[] = []
    const { promise: read, resolve } = Promise.withResolvers<string[]>()
    await db.transact(alice, async (tx) => {
      tx.afterCommit(() => seen.push(1))
      await add(tx, 'a')
      tx.as(bob).afterCommit(() => seen.push(2))
      tx.afterCommit(() => resolve(noteIds(db)))
      seen.push('work')
    })
    expect(seen).toEqual(['work', 1, 2])
    expect(await read).toEqual(['a'])
  })

  test('runs none when the work fails', async () => {
    const db = await open({ migrations })
    let effects = 0
    const failing = db.transact(alice, async (tx) => {
      tx.afterCommit(() => {
        effects += 1
      })
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(effects).toBe(0)
  })

  test('logs an effect that fails; the others and the answer are as if it had not', async () => {
    const logged: string[] = []
    const logger = { warn: () => undefined, error: (_: object, message: string) => void logged.push(message) }
    const db = await open({ migrations, logger })
    let effects = 0
    const answer = await db.transact(alice, async (tx) => {
      tx.afterCommit(() => {
        throw new Error('no')
      })
      tx.afterCommit(() => {
        effects += 1
      })
      return 'done'
    })
    expect([answer, effects, logged]).toEqual(['done', 1, ['An effect after a commit failed']])
  })
})

eachDialect('a Reader', (open) => {
  const writeAnyway = (tables: unknown) => tables as WriteTables<NoteTables>

  test('cannot change rows, whatever is asked of it', async () => {
    const db = await open({ migrations })
    await db.transact(alice, (tx) => add(tx, 'a'))
    const reader = db.reader(alice)
    const tables = writeAnyway(reader.tables())
    await expect(tables.deleteFrom('notes').execute()).rejects.toThrow('cannot change rows')
    await expect(tables.updateTable('notes').set({ size: 9 }).execute()).rejects.toThrow('cannot change rows')
    await expect(reader.run(grow, { by: 1 })).rejects.toThrow('cannot change rows')
    await expect(reader.first(grow, { by: 1 })).rejects.toThrow('cannot change rows')
    const hidden = tables
      .with('gone', (inner) => inner.deleteFrom('notes').returning('note_id'))
      .selectFrom('gone')
      .selectAll()
    await expect(hidden.execute()).rejects.toThrow('cannot change rows')
    expect(await noteIds(db)).toEqual(['a'])
    expect('change' in reader || 'afterCommit' in reader).toBe(false)
  })

  test('is refused a change by the database itself, where a raw fragment hides it', async () => {
    const db = await open({ migrations })
    await db.transact(alice, (tx) => add(tx, 'a'))
    const hidden = db
      .reader(alice)
      .tables<NoteTables>()
      .with('gone', () => sql<{ note_id: string }>`delete from notes returning note_id`)
      .selectFrom('gone')
      .selectAll()
    await expect(hidden.execute()).rejects.toThrow(/read-only|syntax error/)
    expect(await noteIds(db)).toEqual(['a'])
  })
})

eachDialect('values', (open) => {
  test('come back as they went in', async () => {
    const db = await open({ migrations })
    const rows = [
      {
        note_id: 'a',
        body: 'ő 🙂 \'"',
        size: Number.MAX_SAFE_INTEGER,
        data: new Uint8Array([0, 1, 255]),
        weight: 0.1,
      },
      { note_id: 'b', body: null, size: Number.MIN_SAFE_INTEGER, data: new Uint8Array(), weight: -1.5e300 },
    ]
    await db.transact(alice, async (tx) => {
      for (const row of rows)
        await tx
          .tables<NoteTables>()
          .insertInto('notes')
          .values({ tenant_id: 1, ...row })
          .execute()
    })
    const found = await db
      .reader(alice)
      .tables<NoteTables>()
      .selectFrom('notes')
      .select(['note_id', 'body', 'size', 'data', 'weight'])
      .orderBy('note_id')
      .execute()
    expect(found.map((row) => ({ ...row, data: new Uint8Array(row.data!) }))).toStrictEqual(rows)
  })

  test('that no number holds spoil no other row', async () => {
    const db = await open({ migrations })
    await db.transact(alice, async (tx) => {
      await add(tx, 'a', 1)
      for (const [noteId, size] of Object.entries({ b: '9007199254740993', c: '9223372036854775807' }))
        await tx
          .tables<NoteTables>()
          .insertInto('notes')
          .values({ tenant_id: 1, note_id: noteId, size: sql<number>`${sql.raw(size)}` })
          .execute()
    })
    const reader = db.reader(alice)
    const sizes = reader.tables<NoteTables>().selectFrom('notes').select('size').orderBy('note_id')
    const expected = [1, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
    expect((await sizes.execute()).map(({ size }) => size)).toEqual(expected)
    expect((await reader.run(listNotes, { tenantId: alice })).map(({ size }) => size)).toEqual(expected)
    expect(await reader.first(noteOf, { noteId: 'c' })).toEqual({ size: Number.MAX_SAFE_INTEGER })
    expect(await noteIds(db)).toEqual(['a', 'b', 'c'])
  })

  test('are counted and summed as numbers', async () => {
    const db = await open({ migrations })
    await db.transact(alice, async (tx) => {
      await add(tx, 'a', 2)
      await add(tx, 'b', 3)
    })
    const totals = await db
      .reader(alice)
      .tables<NoteTables>()
      .selectFrom('notes')
      .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.sum<number>('size').as('size')])
      .executeTakeFirst()
    expect(totals).toStrictEqual({ count: 2, size: 5 })
  })

  test('of text are put in order by code point', async () => {
    const db = await open({ migrations })
    const ids = ['b', 'A', 'a', 'B', 'é', 'z', '_', '~', '\u{ffee}', '🙂', 'a-b', 'aa', 'a b']
    await db.transact(alice, async (tx) => {
      for (const id of ids) await add(tx, id)
    })
    const codePoints = (text: string) =>
      Array.from(text, (char) => char.codePointAt(0)!.toString(16).padStart(6, '0'))
    const sorted = ids.toSorted((a, b) => (codePoints(a).join() < codePoints(b).join() ? -1 : 1))
    expect(await noteIds(db)).toEqual(sorted)
  })

  test('say how many rows a change touched', async () => {
    const db = await open({ migrations })
    const counts = await db.transact(alice, async (tx) => {
      await add(tx, 'a')
      await add(tx, 'b')
      const updated = await tx.tables<NoteTables>().updateTable('notes').set({ size: 5 }).executeTakeFirst()
      const added = await tx
        .tables<NoteTables>()
        .insertInto('notes')
        .values({ tenant_id: 1, note_id: 'a', size: 1 })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
      return [await tx.change(grow, { by: 1 }), updated.numUpdatedRows, added.numInsertedOrUpdatedRows]
    })
    expect(counts).toEqual([2, 2n, 0n])
  })
})

eachDialect('contains', (open) => {
  test.each([
    ['alpha', ['alphabet']],
    ['lpha', ['Alpha', 'alphabet']],
    ['%', ['100%']],
    ['_', ['a_b']],
    ['\\', ['back\\slash']],
    ["'", ["it's"]],
    ['nothing', []],
  ])('finds %s letter for letter', async (text, expected) => {
    const db = await open({ migrations })
    await db.transact(alice, async (tx) => {
      for (const id of ['Alpha', 'alphabet', '100%', 'a_b', 'back\\slash', "it's", 'beta']) await add(tx, id)
    })
    const found = await db
      .reader(alice)
      .tables<NoteTables>()
      .selectFrom('notes')
      .select('note_id')
      .where(contains(db.dialect, 'notes.note_id', text))
      .orderBy('note_id')
      .execute()
    expect(found.map(({ note_id }) => note_id)).toEqual(expected)
  })
})
