import type { Dialect, WriteTables } from './database.ts'
import { type ColumnKind, columnType, tableOptions } from './dialect.ts'
import type { WriterHandle } from './handles.ts'

/** A column: its kind; `null` where it may be absent; `default` with a literal of SQL. Not null otherwise. */
type ColumnSpec = ColumnKind | `${ColumnKind} null` | `${ColumnKind} default ${string}`

interface TableSpec {
  /** `tenant_id` first, in every table with rows of tenants. Left out where a column is `autoincrement`. */
  readonly primaryKey?: readonly string[]
  readonly unique?: readonly (readonly string[])[]
  readonly foreignKeys?: readonly {
    readonly columns: readonly string[]
    readonly references: string
    readonly on: readonly string[]
    readonly onDelete?: 'cascade' | 'set null'
  }[]
  /** SQLite keeps the rows in the tree of the primary key: faster by key, for tables of small rows. */
  readonly clustered?: boolean
}

interface IndexSpec {
  readonly unique?: boolean
  /** A condition in portable SQL: only rows that meet it are in the index. */
  readonly where?: string
}

/** What a migration may do; each call means the same on both dialects. */
export interface MigrationSchema {
  readonly dialect: Dialect
  createTable(name: string, columns: Readonly<Record<string, ColumnSpec>>, spec?: TableSpec): Promise<void>
  /** `columns` are names, with ` desc` after them where it matters, or expressions in portable SQL. */
  createIndex(name: string, table: string, columns: readonly string[], spec?: IndexSpec): Promise<void>
  /** A column that existing rows get: `null` or with a default. */
  addColumn(table: string, name: string, column: ColumnSpec): Promise<void>
  dropTable(name: string): Promise<void>
  dropIndex(name: string): Promise<void>
  /** What the other functions cannot say, once per dialect; undefined where there is nothing to do. */
  run(statement: Readonly<Record<Dialect, string | undefined>>): Promise<void>
  /** For changes of rows. */
  tables<Tables>(): WriteTables<Tables>
}

/** The schema functions on a transaction. */
export function migrationSchema(tx: WriterHandle): MigrationSchema {
  const { dialect } = tx
  const execute = (text: string) => tx.command(text)
  return {
    dialect,
    createTable: (name, columns, spec = {}) => execute(createTableSql(dialect, name, columns, spec)),
    createIndex: (name, table, columns, spec = {}) =>
      execute(
        `create ${spec.unique ? 'unique ' : ''}index ${name} on ${table} (${columns.join(', ')})` +
          (spec.where === undefined ? '' : ` where ${spec.where}`),
      ),
    addColumn: (table, name, column) =>
      execute(`alter table ${table} add column ${columnSql(dialect, name, column)}`),
    dropTable: (name) => execute(`drop table ${name}`),
    dropIndex: (name) => execute(`drop index ${name}`),
    async run(statement) {
      const sql = statement[dialect]
      if (sql !== undefined) await execute(sql)
    },
    tables: () => tx.tables(),
  }
}

function createTableSql(
  dialect: Dialect,
  name: string,
  columns: Readonly<Record<string, ColumnSpec>>,
  spec: TableSpec,
): string {
  const parts = Object.entries(columns).map(([column, type]) => columnSql(dialect, column, type))
  if (spec.primaryKey) parts.push(`primary key (${spec.primaryKey.join(', ')})`)
  for (const key of spec.unique ?? []) parts.push(`unique (${key.join(', ')})`)
  for (const { columns: from, references, on, onDelete } of spec.foreignKeys ?? [])
    parts.push(
      `foreign key (${from.join(', ')}) references ${references} (${on.join(', ')})` +
        (onDelete ? ` on delete ${onDelete}` : ''),
    )
  return `create table ${name} (${parts.join(', ')})${tableOptions(dialect, { clustered: spec.clustered ?? false })}`
}

function columnSql(dialect: Dialect, name: string, spec: ColumnSpec): string {
  const space = spec.indexOf(' ')
  const kind = (space < 0 ? spec : spec.slice(0, space)) as ColumnKind
  const rest = space < 0 ? '' : spec.slice(space + 1)
  const type = columnType(dialect, kind)
  if (kind === 'autoincrement') return `${name} ${type}`
  return rest === 'null' ? `${name} ${type}` : `${name} ${type} not null${rest && ` ${rest}`}`
}
