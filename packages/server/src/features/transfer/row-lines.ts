import { randomBytes } from 'node:crypto'
import type { TenantId, TenantRow } from '#infra/db/index.ts'
import type { SealedColumn, Vault } from '#infra/keys/index.ts'
import { type JsonForm, type MovedTable, signedColumns } from './tenant-tables.ts'
import { parsed, unreadable } from './transfer-format.ts'

// One line of JSON per row. Bytes are base64; a sealed secret is the secret itself, or `leftOut` where it does not go
// along; columns that the database numbers are left out.

interface Side {
  readonly vault: Vault
  readonly tenantId: TenantId
}

/** Where rows of an archive come to. */
interface Arrival extends Side {
  /** Unix seconds. */
  readonly now: number
}

// What has happened. A time to come would put off for ever what is done some time after it. Of a file the uploader says
// when it was made.
const pastColumns = new Set([
  'added_at',
  'created_at',
  'deleted_at',
  'discarded_at',
  'installed_at',
  'last_at',
  'last_used_at',
  'modified_at',
  'quarantined_at',
  'signed_in_at',
  'started_at',
  'unused_since',
  'updated_at',
])
const clockSkewSecs = 86_400

const freshBytes = 32
const leftOut = { leftOut: true }

/** The lines of rows as they leave the server of `side`. */
export function encodeRows(
  rows: readonly TenantRow[],
  table: MovedTable,
  {
    vault,
    tenantId,
    withKeys,
    withPassword,
  }: Side & { readonly withKeys: boolean; readonly withPassword: boolean },
): string {
  const columns = table.columns.filter(({ name, isGenerated }) => name !== 'tenant_id' && !isGenerated)
  const encode = (stored: TenantRow) => {
    const row = table.outgoing?.(stored) ?? stored
    const members = columns.map(({ name, kind }) => {
      const value = row[name] ?? null
      if (!withPassword && table.guessable?.includes(name)) return [name, null]
      if (kind !== 'blob' || value === null) return [name, value]
      const bytes = value as Uint8Array
      if (name !== table.sealed?.column) return [name, base64(bytes)]
      // A key that came without its private half.
      if (bytes.length === 0) return [name, '']
      if (!withKeys) return [name, leftOut]
      return [name, base64(vault.unseal(table.sealed.purpose, tenantId, bytes))]
    })
    return `${JSON.stringify(Object.fromEntries(members))}\n`
  }
  return rows.map(encode).join('')
}

/** The rows as they come to the server of `side`, secrets sealed anew. */
export function decodeRows(text: string, table: MovedTable, side: Arrival): TenantRow[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => decodeRow(parsed(line), table, side)).filter((row) => row !== undefined)
}

function decodeRow(line: unknown, table: MovedTable, side: Arrival): TenantRow | undefined {
  if (typeof line !== 'object' || line === null) throw unreadable('it holds a row that is none')
  const row: Record<string, TenantRow[string]> = {}
  for (const [name, value] of Object.entries(line)) {
    const column = table.columns.find((candidate) => candidate.name === name)
    if (!column || name === 'tenant_id') throw unreadable(`its table ${table.name} has a column ${name}`)
    if (name === table.sealed?.column && value !== null) {
      const sealed = seal(value, table.sealed, side)
      if (!sealed) return undefined
      row[name] = sealed
    } else if (column.kind === 'blob' && value !== null) row[name] = bytesOf(value)
    else row[name] = plain(value)
    if (!isPossible(value, name, table, side))
      throw unreadable(`its table ${table.name} has a ${name} that is none`)
  }
  return row
}

/** Whether the program could have written this value. */
function isPossible(
  value: unknown,
  name: string,
  { name: table, json }: MovedTable,
  { now }: Arrival,
): boolean {
  if (typeof value === 'number') {
    const isPast = !pastColumns.has(name) || table === 'files' || value <= now + clockSkewSecs
    return Number.isSafeInteger(value) && isPast && (value >= 0 || signedColumns.includes(`${table}.${name}`))
  }
  const form = json?.[name]
  return form === undefined || value === null || hasForm(parsed(String(value)), form)
}

function hasForm(value: unknown, form: JsonForm): boolean {
  if (form === 'texts') return Array.isArray(value) && value.every((one) => typeof one === 'string')
  return form === 'any' || (typeof value === 'object' && value !== null && !Array.isArray(value))
}

/** Undefined when the row is worth nothing without its secret. */
function seal(value: unknown, column: SealedColumn, { vault, tenantId }: Side): Uint8Array | undefined {
  if (value === '' && column.withoutSecret !== 'nothing') throw unreadable('it holds an empty secret')
  if (typeof value === 'string')
    return value === '' ? new Uint8Array() : vault.seal(column.purpose, tenantId, bytesOf(value))
  if (column.withoutSecret === 'no row') return undefined
  return column.withoutSecret === 'nothing'
    ? new Uint8Array()
    : vault.seal(column.purpose, tenantId, randomBytes(freshBytes))
}

function plain(value: unknown): string | number | null {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value
  throw unreadable('it holds a value of an unknown kind')
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

function bytesOf(value: unknown): Uint8Array {
  if (typeof value !== 'string') throw unreadable('it holds bytes in an unknown form')
  return Buffer.from(value, 'base64')
}
