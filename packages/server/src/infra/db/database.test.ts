import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { type Migration, type Placeholder, statement, type TenantId, type WriteTables } from './index.ts'

interface NoteTables {
  notes: { tenant_id: number; note_id: string; body: string | null; size: number }
}

const migrations: Migration[] = [
  {
    id: '0001_notes',
    async up(schema) {
      await schema.createTable(
        'notes',
        { tenant_id: 'integer', note_id: 'text', body: 'text null', size: 'integer default 0' },
        { primaryKey: ['tenant_id', 'note_id'] },
      )
      await schema.createIndex('notes_by_size', 'notes', ['tenant_id', 'size desc'])
    },
  },
]
const alice = 1 as TenantId

const findNote = statement(
  (tables: WriteTables<NoteTables>, value: Placeholder<{ tenantId: TenantId; noteId: string }>) =>
    tables
      .selectFrom('notes')
      .select(['note_id', 'body', 'size'])
      .where('tenant_id', '=', value('tenantId'))
      .where('note_id', '=', value('noteId')),
)

eachDialect('database', (open) => {
  test('reads what a transaction wrote', async () => {
    const db = await open({ migrations })
    await db.transact(alice, (tx) =>
      tx
        .tables<NoteTables>()
        .insertInto('notes')
        .values({ tenant_id: 1, note_id: 'a', body: null, size: 3 })
        .execute(),
    )
    expect(await db.reader(alice).first(findNote, { tenantId: alice, noteId: 'a' })).toEqual({
      note_id: 'a',
      body: null,
      size: 3,
    })
  })
})
