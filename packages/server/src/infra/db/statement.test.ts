import type { Generated } from 'kysely'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { type Migration, type Placeholder, serverTenant, statement, type WriteTables } from './index.ts'

interface WordTables {
  words: { id: Generated<number>; word: string; note: string | null }
}

const migrations: Migration[] = [
  {
    id: '0001_words',
    up: (schema) => schema.createTable('words', { id: 'autoincrement', word: 'text', note: 'text null' }),
  },
]

const addWord = statement(
  (tables: WriteTables<WordTables>, value: Placeholder<{ word: string; note: string | null }>) =>
    tables
      .insertInto('words')
      .values({ word: value('word'), note: value('note') })
      .returning('id'),
)

eachDialect('a prepared statement', (open) => {
  test('is built once, however often and on however many databases it runs', async () => {
    let builds = 0
    const findWord = statement(
      (tables: WriteTables<WordTables>, value: Placeholder<{ word: string; limit: number }>) => {
        builds += 1
        return tables
          .selectFrom('words')
          .select(['id', 'word'])
          .where('word', '=', value('word'))
          .where('note', 'is', null)
          .where('id', '<', 1000)
          .limit(value('limit'))
      },
    )
    const db = await open({ migrations })
    const ids = await db.transact(serverTenant, async (tx) => [
      await tx.first(addWord, { word: 'one', note: null }),
      await tx.first(addWord, { word: 'two', note: null }),
      await tx.first(addWord, { word: 'two', note: 'x' }),
    ])
    expect(ids).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
    const reader = db.reader(serverTenant)
    for (let round = 0; round < 3; round += 1) {
      expect(await reader.run(findWord, { word: 'two', limit: 9 })).toStrictEqual([{ id: 2, word: 'two' }])
      expect(await reader.first(findWord, { word: 'one', limit: 9 })).toStrictEqual({ id: 1, word: 'one' })
      expect(await reader.first(findWord, { word: 'none', limit: 9 })).toBeUndefined()
      expect(await reader.run(findWord, { word: 'one', limit: 0 })).toEqual([])
    }
    const second = await open.again(db, { migrations })
    await second.reader(serverTenant).run(findWord, { word: 'one', limit: 1 })
    await second.transact(serverTenant, (tx) => tx.run(findWord, { word: 'one', limit: 1 }))
    expect(builds).toBe(1)
  })

  test('refuses to run without one of its values', async () => {
    const db = await open({ migrations })
    const values = { word: 'one' } as { word: string; note: null }
    await expect(db.transact(serverTenant, (tx) => tx.run(addWord, values))).rejects.toThrow(
      'has no value for "note"',
    )
  })

  test('answers the columns that a table has at the time', async () => {
    const allWords = statement((tables: WriteTables<WordTables>) => tables.selectFrom('words').selectAll())
    const db = await open({ migrations })
    await db.transact(serverTenant, (tx) => tx.run(addWord, { word: 'one', note: null }))
    expect(await db.reader(serverTenant).run(allWords, {})).toEqual([{ id: 1, word: 'one', note: null }])
    await open.again(db, {
      migrations: [
        ...migrations,
        { id: '0002_kind', up: (schema) => schema.addColumn('words', 'kind', "text default 'noun'") },
      ],
    })
    const expected = [{ id: 1, word: 'one', note: null, kind: 'noun' }]
    for (let round = 0; round < 2; round += 1) {
      expect(await db.reader(serverTenant).run(allWords, {})).toEqual(expected)
      expect(await db.reader(serverTenant).first(allWords, {})).toEqual(expected[0])
      expect(await db.transact(serverTenant, (tx) => tx.run(allWords, {}))).toEqual(expected)
    }
  })
})
