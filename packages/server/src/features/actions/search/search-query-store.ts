import { type Expression, type SqlBool, sql } from 'kysely'
import type { Dialect, Reader } from '#infra/db/index.ts'
import { numberBits, searchPlace } from './search-index-store.ts'
import { type Sought, type SoughtTerms, soughtTerms } from './search-terms.ts'

type Value = (name: string) => Expression<string | number>

/** Condition on rows of `actions` as `a`, and on SQLite of `action_texts` as `w`: the search finds them. */
export function isFound(dialect: Dialect, value: Value): Expression<SqlBool> {
  return dialect === 'sqlite'
    ? sql<SqlBool>`w.action_texts match ${value('search')}`
    : sql<SqlBool>`a.seq in (select seq from action_texts where tenant_id = ${value('tenantId')}
        and body @@ cast(${value('search')} as tsquery))`
}

/** The matches on SQLite, in the order of lists, with the action of each. */
export const matchSource = `action_texts as w cross join actions as a where a.seq = (w.rowid & ${2 ** numberBits - 1}) and`
export const matchTime = `(w.rowid >> ${numberBits})`
export const matchOrder = 'w.rowid'

/** Condition on matches on SQLite: before or after a place in the order of lists. */
export function comparePlace(
  compare: '<' | '>',
  { createdAt, seq }: { readonly createdAt: Expression<unknown>; readonly seq: Expression<unknown> },
): Expression<SqlBool> {
  return sql<SqlBool>`w.rowid ${sql.raw(compare)} ${searchPlace(createdAt, seq)}`
}

/** A search in the database's query language; undefined when nothing can be found. Only letters, marks, digits and private-use
 * characters get into it. */
export function searchQuery(
  reader: Pick<Reader, 'dialect' | 'tenantId'>,
  sought: Sought,
): string | undefined {
  const terms = soughtTerms(reader.tenantId, sought)
  return terms && (reader.dialect === 'postgres' ? inPostgres(terms) : inSqlite(terms))
}

function inSqlite({ words, marks }: SoughtTerms): string {
  const parts = words.map(({ term, isBeginning }) => `"${term}"${isBeginning ? ' *' : ''}`)
  const groups = marks.map((group) => `(${group.map((mark) => `"${mark}"`).join(' OR ')})`)
  return [...parts, ...groups].join(' AND ')
}

function inPostgres({ words, marks }: SoughtTerms): string {
  const parts = words.map(({ term, isBeginning }) => `'${term}'${isBeginning ? ':*' : ''}`)
  const groups = marks.map((group) => `(${group.map((mark) => `'${mark}'`).join(' | ')})`)
  return [...parts, ...groups].join(' & ')
}
