import { type IdTag, parseIdTag } from '@kith/protocol'
import { type Failure, invalid } from '#lib/failure.ts'

// For rows of an archive, which may have been written by anybody. Each function throws `E-VALIDATION` for another
// value.

/** A row without the number of its tenant. */
export type TenantRow = Readonly<Record<string, string | number | Uint8Array | null>>

export function textIn(row: TenantRow, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw wrong(column)
  return value
}

export function optionalTextIn(row: TenantRow, column: string): string | undefined {
  return (row[column] ?? null) === null ? undefined : textIn(row, column)
}

/** An identity; undefined for what is none. */
export function optionalTagIn(row: TenantRow, column: string): IdTag | undefined {
  return parseIdTag(optionalTextIn(row, column) ?? '')
}

/** A number that is not negative, such as a time or a count. */
export function numberIn(row: TenantRow, column: string): number {
  const value = row[column]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw wrong(column)
  return value
}

export function optionalNumberIn(row: TenantRow, column: string): number | undefined {
  return (row[column] ?? null) === null ? undefined : numberIn(row, column)
}

/** What JSON text says; undefined for an empty column. */
export function jsonIn(row: TenantRow, column: string): unknown {
  const text = optionalTextIn(row, column)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw wrong(column)
  }
}

function wrong(column: string): Failure {
  return invalid(`/${column}`, 'is not what this column takes')
}
