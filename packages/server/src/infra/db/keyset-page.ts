import { type Cursor, type CursorPage, decodeCursor, encodeCursor } from '@kith/protocol'
import {
  type Expression,
  type RawBuilder,
  type SelectQueryBuilder,
  type SqlBool,
  type StringReference,
  sql,
} from 'kysely'
import { invalid } from '#lib/failure.ts'

type ValueKind = 'integer' | 'real' | 'text'

/** The columns that put a list in order; the second makes equal sort values distinct. */
export interface KeysetOrder<Column> {
  /** What the request and the cursor call it. */
  readonly sort: string
  readonly column: Column
  readonly kind: ValueKind
  /** Rows without a value count as smaller than all others. Only where there are such rows: PostgreSQL then needs an
   * index with the same `nulls first` or `nulls last`. */
  readonly isNullable?: boolean
  /** `column` is no column but the expression of an index. */
  readonly isExpression?: boolean
  readonly idColumn: Column
  readonly idKind: 'integer' | 'text'
}

interface KeysetRequest {
  readonly direction: 'asc' | 'desc'
  readonly cursor?: string | undefined
  readonly limit: number
}

interface Place {
  readonly column: RawBuilder<unknown>
  readonly id: RawBuilder<unknown>
  readonly direction: 'asc' | 'desc'
  readonly isNullable: boolean
  readonly isExpression: boolean
}

interface CursorColumns {
  readonly cursor_value: string | number | null
  readonly cursor_id: string | number
}

/** The page of `query` that begins after the cursor. Rows that are inserted between pages make no other row appear
 * twice or be lost. `query` has its filters and columns, no order and no limit. `E-VALIDATION` for a bad cursor. */
export async function keysetPage<Tables, From extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, From, Row>,
  order: KeysetOrder<StringReference<Tables, From> | Expression<string | number | null>>,
  request: KeysetRequest,
): Promise<CursorPage<Row>> {
  const { direction, limit } = request
  const column = reference(order.column)
  const id = reference(order.idColumn)
  const isNullable = order.isNullable === true
  const isExpression = order.isExpression === true
  const nulls = isNullable ? sql.raw(direction === 'asc' ? ' nulls first' : ' nulls last') : sql``
  let page = query
    .select([column.as('cursor_value'), id.as('cursor_id')])
    .orderBy(sql`${column} ${sql.raw(direction)}${nulls}`)
    .orderBy(id, direction)
    .limit(limit + 1)
  if (request.cursor !== undefined)
    page = page.where(
      isBeyond(readCursor(order, request.cursor), { column, id, direction, isNullable, isExpression }),
    )
  const rows = (await page.execute()) as (Row & CursorColumns)[]
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return {
    items: items.map(({ cursor_value: _value, cursor_id: _id, ...row }) => row as Row),
    nextCursor:
      last && rows.length > limit
        ? encodeCursor({ s: order.sort, v: last.cursor_value, id: last.cursor_id })
        : null,
  }
}

function reference(column: string | Expression<unknown>) {
  return typeof column === 'string' ? sql.ref(column) : sql`${column}`
}

/** Is the row beyond the one of the cursor? Rows without a value come first upwards and last downwards. */
function isBeyond(
  { v, id: lastId }: Cursor,
  { column, id, direction, isNullable, isExpression }: Place,
): Expression<SqlBool> {
  const beyond = sql.raw(direction === 'asc' ? '>' : '<')
  if (v !== null) {
    const isInOrder = sql<SqlBool>`(${column}, ${id}) ${beyond} (${v}, ${lastId})`
    // SQLite looks for a pair in an index only where both are columns.
    const isAfter = isExpression ? sql<SqlBool>`(${column} ${beyond}= ${v} and ${isInOrder})` : isInOrder
    return isNullable && direction === 'desc' ? sql`(${isAfter} or ${column} is null)` : isAfter
  }
  return direction === 'asc'
    ? sql`(${column} is not null or ${id} > ${lastId})`
    : sql`(${column} is null and ${id} < ${lastId})`
}

function readCursor(order: KeysetOrder<unknown>, text: string): Cursor {
  const cursor = decodeCursor(text, order.sort)
  const isValid =
    cursor &&
    isOfKind(cursor.id, order.idKind) &&
    (cursor.v === null ? order.isNullable === true : isOfKind(cursor.v, order.kind))
  if (!isValid) throw invalid('/query/cursor', 'This is not a cursor of this list in this order')
  return cursor
}

function isOfKind(value: string | number, kind: ValueKind): boolean {
  // PostgreSQL refuses a NUL in texts.
  if (kind === 'text') return typeof value === 'string' && !value.includes('\0')
  return kind === 'integer' ? Number.isSafeInteger(value) : typeof value === 'number'
}
