import {
  CompiledQuery,
  type Kysely,
  type KyselyPlugin,
  PostgresQueryCompiler,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import { type Database, type Prepared, type Reader, serverTenant, type Writer } from '#infra/db/index.ts'

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
    ...unrecorded(db),
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
  }
}

/** What reads and transactions may take the place of; the database may have its methods from a class. */
function unrecorded(db: Database): Database {
  return {
    dialect: db.dialect,
    reader: (tenantId) => db.reader(tenantId),
    transact: (tenantId, work, options) => db.transact(tenantId, work, options),
    snapshot: (read) => db.snapshot(read),
    ping: () => db.ping(),
    sizeBytes: () => db.sizeBytes(),
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

/** How the database finds the rows of each statement of a work, a line a step. */
export async function planStatements(
  db: Database,
  work: (recorded: Database) => Promise<void>,
): Promise<string[]> {
  const noted: { readonly text: string; readonly values: readonly unknown[] }[] = []
  const note: Note = (text, values) => noted.push({ text, values })
  await work({
    ...unrecorded(db),
    reader: (tenantId) => recordReader(db.reader(tenantId), note),
    transact: (tenantId, run, options) => db.transact(tenantId, (tx) => run(recordWriter(tx, note)), options),
  })
  return await db.transact(serverTenant, async (tx) => {
    // A table of few rows is read as a whole otherwise.
    if (db.dialect === 'postgres')
      for (const way of ['seqscan', 'bitmapscan', 'sort'])
        await sql.raw(`set local enable_${way} = off`).execute(tx.tables() as Kysely<unknown>)
    const steps: string[] = []
    for (const { text, values } of noted) steps.push(...(await explainStatement(tx, text, values)))
    return steps
  })
}

/** How the database goes about a statement, a line a step. */
export async function explainStatement(
  tx: Writer,
  text: string,
  values: readonly unknown[],
): Promise<string[]> {
  const tables = tx.tables() as Kysely<unknown>
  const word = tx.dialect === 'sqlite' ? 'explain query plan' : 'explain (costs off)'
  const query = CompiledQuery.raw(`${word} ${text}`, [...values])
  const { rows } = await tables.executeQuery<Record<string, string>>(query)
  const column = tx.dialect === 'sqlite' ? 'detail' : 'QUERY PLAN'
  return rows.map((row) => row[column] ?? '')
}
