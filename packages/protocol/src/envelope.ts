import Type, { type TSchema } from 'typebox'
import { IsoTime, Nullable } from './schemas.ts'

/** One page of a list by cursor, as handlers answer it. */
export interface CursorPage<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

/** One page of a list by offset (deprecated form). */
export interface OffsetPage<Item> {
  readonly items: readonly Item[]
  readonly total: number
  readonly offset: number
  readonly limit: number
}

export type Page<Item> = CursorPage<Item> | OffsetPage<Item>

export const CursorPagination = Type.Object({ nextCursor: Nullable(Type.String()), hasMore: Type.Boolean() })
export const OffsetPagination = Type.Object({
  total: Type.Integer(),
  offset: Type.Integer(),
  limit: Type.Integer(),
  hasMore: Type.Boolean(),
})

/** The schema of a whole successful JSON answer around its payload. */
export function enveloped(data: TSchema) {
  return Type.Object({ data, time: IsoTime, reqId: Type.String() })
}

/** The schema of a whole list answer around its items. */
export function envelopedList(item: TSchema) {
  return Type.Object({
    data: Type.Array(item),
    cursorPagination: Type.Optional(CursorPagination),
    pagination: Type.Optional(OffsetPagination),
    time: IsoTime,
    reqId: Type.String(),
  })
}

/** What `cursorPagination` or `pagination` says of a page. */
export function paginationOf(page: Page<unknown>) {
  if ('total' in page) {
    const { total, offset, limit } = page
    return { pagination: { total, offset, limit, hasMore: offset + page.items.length < total } }
  }
  return { cursorPagination: { nextCursor: page.nextCursor, hasMore: page.nextCursor !== null } }
}
