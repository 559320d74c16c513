import { type Expression, type Generated, type SqlBool, sql } from 'kysely'
import { type Dialect, type MigrationSchema, type Reader, statement, type Writer } from '#infra/db/index.ts'
import { searchWords } from './search-text.ts'

interface SearchTables {
  /** On PostgreSQL `tenant_id` and `seq`, on SQLite `tenant` and `rowid`. */
  action_texts: {
    rowid: Generated<number>
    seq: Generated<number>
    tenant: Generated<string>
    tenant_id: Generated<number>
    body: string
  }
}

/** A command to FTS5 is a row with the name of the table. */
interface CompactionTables {
  action_texts: { action_texts: string; rank: number }
}

/** The index of words: FTS5 on SQLite, `tsvector` on PostgreSQL. The words are ours, so both find the same. */
export async function createSearchIndex(schema: MigrationSchema): Promise<void> {
  await schema.run({
    // Contentless: the texts are in `actions` already. The tenant is a word, so that its own are met first.
    sqlite: `create virtual table action_texts using fts5 (tenant, body, content='', contentless_delete=1,
      tokenize='unicode61 remove_diacritics 0', prefix='2 3')`,
    postgres: `create table action_texts (tenant_id bigint not null, seq bigint not null, body tsvector not null,
      primary key (tenant_id, seq))`,
  })
  await schema.run({
    sqlite: undefined,
    postgres: 'create index action_texts_words on action_texts using gin (body)',
  })
}

interface TextValues {
  readonly tenantId: number
  readonly tenantWord: string
  readonly seq: number
  readonly body: string
}

const insertText = statement<SearchTables, TextValues, unknown>((tables, value, dialect) =>
  tables.insertInto('action_texts').values(
    dialect === 'sqlite'
      ? { rowid: value('seq'), tenant: value('tenantWord'), body: value('body') }
      : {
          tenant_id: value('tenantId'),
          seq: value('seq'),
          body: sql<string>`to_tsvector('simple', ${value('body')})`,
        },
  ),
)

/** Makes an action found by its words. */
export async function putSearchText(tx: Writer, seq: number, body: string): Promise<void> {
  const { tenantId } = tx
  if (body !== '') await tx.change(insertText, { tenantId, tenantWord: tenantWord(tenantId), seq, body })
}

/** Makes an action found no more. */
export async function deleteSearchText(tx: Writer, seq: number): Promise<void> {
  const deletion = tx.tables<SearchTables>().deleteFrom('action_texts')
  if (tx.dialect === 'sqlite') await deletion.where('rowid', '=', seq).execute()
  else await deletion.where('tenant_id', '=', tx.tenantId).where('seq', '=', seq).execute()
}

// About 2 MB: some ten milliseconds.
const pagesAtOnce = 500

/** Rewrites a portion of the index, without the words of what was taken out of it, and answers whether there is more to
 * do. PostgreSQL does it by itself. */
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
  // NOTE: a negative number takes up all parts of the index; a command that finds nothing to do counts as one change.
  await tables.insertInto('action_texts').values({ action_texts: 'merge', rank: -pagesAtOnce }).execute()
  return (await countChanges()) - before > 1
}

/** Condition on rows of `actions` under the alias `a`: they have every word, or words that begin so. */
export function hasWords(
  dialect: Dialect,
  value: (name: string) => Expression<string | number>,
): Expression<SqlBool> {
  return dialect === 'sqlite'
    ? sql<SqlBool>`a.seq in (select rowid from action_texts where action_texts match ${value('search')})`
    : sql<SqlBool>`a.seq in (select seq from action_texts where tenant_id = ${value('tenantId')}
        and body @@ to_tsquery('simple', ${value('search')}))`
}

/** What is looked for, in the words of the database; undefined where nothing can be found. Only letters and digits
 * get into it. */
export function searchQuery(
  reader: Pick<Reader, 'dialect' | 'tenantId'>,
  search: string,
): string | undefined {
  const words = searchWords(search)
  if (words.length === 0) return undefined
  if (reader.dialect === 'postgres') return words.map((word) => `${word}:*`).join(' & ')
  const terms = words.map((word) => `"${word}" *`).join(' AND ')
  return `tenant : ${tenantWord(reader.tenantId)} AND body : (${terms})`
}

function tenantWord(tenantId: number): string {
  return `t${tenantId}`
}
