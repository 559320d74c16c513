import { type Expression, type Generated, sql } from 'kysely'
import { type Dialect, type MigrationSchema, statement, type Writer } from '#infra/db/index.ts'
import { type IndexedMembers, searchTermsOf, tenantCharacters } from './search-terms.ts'

interface SearchTables {
  /** On PostgreSQL `tenant_id` and `seq`, on SQLite `rowid` (see `searchPlace`). */
  action_texts: {
    rowid: Generated<number>
    seq: Generated<number>
    tenant_id: Generated<number>
    body: string
  }
}

/** FTS5 takes its commands as rows whose column has the name of the table. */
interface CompactionTables {
  action_texts: { action_texts: string; rank: number }
}

// FTS5 keeps prefixes of two to sixteen letters as terms, which are read like words, newest first. The matches of
// longer prefixes are collected from the words: about 0.5 µs for each match, before the first one is shown.
const longestBeginning = 16
const beginnings = Array.from({ length: longestBeginning - 1 }, (_, at) => at + 2 + tenantCharacters).join(
  ' ',
)

/** The search index: FTS5 on SQLite, `tsvector` on PostgreSQL. This code makes the terms, so that both find the
 * same. */
export async function createSearchIndex(schema: MigrationSchema): Promise<void> {
  await schema.run({
    // Contentless, because the texts are in `actions` already. `ascii` leaves letters beyond ASCII as they are.
    sqlite: `create virtual table action_texts using fts5 (body, content='', contentless_delete=1, detail=none,
      tokenize='ascii', prefix='${beginnings}')`,
    postgres: `create table action_texts (tenant_id bigint not null, seq bigint not null, body tsvector not null,
      primary key (tenant_id, seq))`,
  })
  await schema.run({
    sqlite: undefined,
    postgres: 'create index action_texts_words on action_texts using gin (body)',
  })
}

/** The rowid of an action in the index of SQLite. It has the order of lists, so that the newest matches come first.
 * Seconds take 33 bits, sequence numbers 30. */
export const numberBits = 30

export function searchPlace(createdAt: Expression<unknown>, seq: Expression<unknown>) {
  return sql<number>`((cast(${createdAt} as integer) << ${sql.lit(numberBits)}) | cast(${seq} as integer))`
}

interface PlaceValues {
  readonly tenantId: number
  readonly seq: number
  readonly createdAt: number
}
interface TextValues extends PlaceValues {
  readonly body: string
}

const insertText = statement<SearchTables, TextValues, unknown>((tables, value, dialect) =>
  tables.insertInto('action_texts').values(textRow(dialect, value)),
)

function textRow(dialect: Dialect, value: (name: keyof TextValues) => Expression<string | number>) {
  return dialect === 'sqlite'
    ? { rowid: searchPlace(value('createdAt'), value('seq')), body: value('body') as Expression<string> }
    : {
        tenant_id: value('tenantId') as Expression<number>,
        seq: value('seq') as Expression<number>,
        body: sql<string>`array_to_tsvector(string_to_array(${value('body')}, ' '))`,
      }
}

const deleteText = statement<SearchTables, PlaceValues, unknown>((tables, value, dialect) =>
  dialect === 'sqlite'
    ? tables.deleteFrom('action_texts').where('rowid', '=', searchPlace(value('createdAt'), value('seq')))
    : tables
        .deleteFrom('action_texts')
        .where('tenant_id', '=', value('tenantId'))
        .where('seq', '=', value('seq')),
)

/** An action as a row of the index. */
export interface Indexed extends IndexedMembers {
  readonly seq: number
  readonly createdAt: number
}

/** Adds an action to the search index. */
export async function putSearchText(tx: Writer, action: Indexed): Promise<void> {
  const { tenantId } = tx
  const { seq, createdAt } = action
  const body = searchTermsOf(tenantId, action).join(' ')
  if (body !== '') await tx.change(insertText, { tenantId, seq, createdAt, body })
}

/** Removes an action from the search index. */
export async function deleteSearchText(
  tx: Writer,
  { seq, createdAt }: Pick<Indexed, 'seq' | 'createdAt'>,
): Promise<void> {
  await tx.change(deleteText, { tenantId: tx.tenantId, seq, createdAt })
}

// About 2 MB: some ten milliseconds.
const pagesAtOnce = 500

/** Rewrites a portion of the index without the words of removed actions; answers whether there is more to do.
 * PostgreSQL does this by itself. */
export async function compactSearchIndex(tx: Writer): Promise<boolean> {
  if (tx.dialect === 'postgres') return false
  const tables = tx.tables<CompactionTables>()
  const countChanges = async () => {
    const query = tables.selectFrom(
      sql<{ changes: number }>`(select total_changes() as changes)`.as('counted'),
    )
    return (await query.select('changes').executeTakeFirstOrThrow()).changes
  }
  const before = await countChanges()
  // NOTE: a negative number merges all parts of the index; a command with nothing to do counts as one change.
  await tables.insertInto('action_texts').values({ action_texts: 'merge', rank: -pagesAtOnce }).execute()
  return (await countChanges()) - before > 1
}
