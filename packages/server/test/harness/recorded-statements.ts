import { type Kysely, type KyselyPlugin, PostgresQueryCompiler, SqliteQueryCompiler, sql } from 'kysely'
import type { Database, Prepared, Reader, Writer } from '#infra/db/index.ts'

const compilers = { sqlite: new SqliteQueryCompiler(), postgres: new PostgresQueryCompiler() }

/** Is told the text of a statement and its values. */
type Note = (text: string, values: readonly unknown[]) => void

/** The same reader, noting each statement. */
export function recordReader(reader: Reader, note: Note): Reader {
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      const { sql, parameters } = compilers[reader.dialect].compileQuery(node, queryId)
      note(sql, parameters)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return {
    tenantId: reader.tenantId,
    dialect: reader.dialect,
    tables: <Tables>() => (reader.tables<Tables>() as Kysely<Tables>).withPlugin(plugin),
    run(prepared, values) {
      notePrepared(reader, note, { prepared, values })
      return reader.run(prepared, values)
    },
    first(prepared, values) {
      notePrepared(reader, note, { prepared, values })
      return reader.first(prepared, values)
    },
  }
}

function notePrepared<Values, Row>(
  { dialect }: Reader,
  note: Note,
  { prepared, values }: { readonly prepared: Prepared<Values, Row>; readonly values: Values },
): void {
  const { sql, parameters } = prepared.build(dialect).compile()
  // The parameters of a prepared statement are the names of its values.
  note(
    sql,
    parameters.map((parameter) => values[(parameter as { name: string }).name as keyof Values]),
  )
}

function recordWriter(tx: Writer, note: Note): Writer {
  const reader = recordReader(tx, note)
  return {
    ...reader,
    tables: <Tables>() => reader.tables<Tables>() as Kysely<Tables>,
    change(prepared, values) {
      notePrepared(tx, note, { prepared, values })
      return tx.change(prepared, values)
    },
    afterCommit: (effect) => tx.afterCommit(effect),
    as: (tenantId) => recordWriter(tx.as(tenantId), note),
  }
}

/** What one transaction did. */
export interface RecordedTransaction {
  readonly statements: string[]
  /** How many values its statements have. */
  values: number
  /** All of them that differ. */
  readonly distinct: Set<unknown>
}

/** The same database; each transaction that has committed is in the list, with its statements. */
export function recordTransactions(db: Database): Database & { readonly committed: RecordedTransaction[] } {
  const committed: RecordedTransaction[] = []
  return {
    committed,
    dialect: db.dialect,
    reader: (tenantId) => db.reader(tenantId),
    async transact(tenantId, work, options) {
      let recorded: RecordedTransaction | undefined
      const result = await db.transact(
        tenantId,
        (tx) => {
          // A transaction that is tried again begins anew.
          const trying: RecordedTransaction = { statements: [], values: 0, distinct: new Set() }
          recorded = trying
          return work(recordWriter(tx, (text, values) => add(trying, text, values)))
        },
        options,
      )
      if (recorded) committed.push(recorded)
      return result
    },
    snapshot: (read) => db.snapshot(read),
    ping: () => db.ping(),
    integrityCheck: () => db.integrityCheck(),
    backup: (path) => db.backup(path),
    close: () => db.close(),
  }
}

function add(recorded: RecordedTransaction, text: string, values: readonly unknown[]): void {
  recorded.statements.push(text)
  recorded.values += values.length
  for (const value of values) recorded.distinct.add(value)
}

/** How the database goes about a statement, a line a step. */
export async function explainStatement(
  tx: Writer,
  text: string,
  values: readonly unknown[],
): Promise<string[]> {
  const tables = tx.tables() as Kysely<unknown>
  if (tx.dialect === 'sqlite') {
    const { rows } = await sql<{ detail: string }>`explain query plan ${sql.raw(text)}`.execute(tables)
    return rows.map(({ detail }) => detail)
  }
  const literal = text.replaceAll(/\$(\d+)/g, (_, number) => literalOf(values[Number(number) - 1]))
  const { rows } = await sql<Record<string, string>>`explain ${sql.raw(literal)}`.execute(tables)
  return rows.map((row) => row['QUERY PLAN'] ?? '')
}

function literalOf(value: unknown): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`
  return value === null || value === undefined ? 'null' : String(value)
}
