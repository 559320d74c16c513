import {
  CompiledQuery,
  type Kysely,
  type KyselyPlugin,
  PostgresQueryCompiler,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import { type Database, type Prepared, serverTenant, type Writer } from '#infra/db/index.ts'

interface Recorded {
  readonly text: string
  readonly values: readonly unknown[]
}

const compilers = { sqlite: new SqliteQueryCompiler(), postgres: new PostgresQueryCompiler() }

/** Runs `work` on a database that notes each statement; answers how the database finds the rows of each. */
export async function recordStatements(
  db: Database,
  work: (recorded: Database) => Promise<void>,
): Promise<string[]> {
  const noted: Recorded[] = []
  const recorded = {
    dialect: db.dialect,
    reader: (tenantId: never) => recording(db.reader(tenantId) as Writer, noted),
    transact: (tenantId: never, run: (tx: Writer) => Promise<unknown>, options?: never) =>
      db.transact(tenantId, (tx) => run(recording(tx, noted)), options),
  }
  await work(recorded as never)
  return await db.transact(serverTenant, async (tx) => {
    const tables = tx.tables() as Kysely<unknown>
    // A table of few rows is read as a whole otherwise.
    if (db.dialect === 'postgres')
      for (const way of ['seqscan', 'bitmapscan', 'sort'])
        await sql.raw(`set local enable_${way} = off`).execute(tables)
    const steps: string[] = []
    for (const { text, values } of noted) steps.push(...(await explain(tables, db.dialect, { text, values })))
    return steps
  })
}

async function explain(tables: Kysely<unknown>, dialect: 'sqlite' | 'postgres', { text, values }: Recorded) {
  const word = dialect === 'sqlite' ? 'explain query plan' : 'explain (costs off)'
  const { rows } = await tables.executeQuery(CompiledQuery.raw(`${word} ${text}`, [...values]))
  return rows.map((row) =>
    String((row as { detail?: string })['detail'] ?? (row as Record<string, string>)['QUERY PLAN']),
  )
}

/** The same handle, noting what runs on it. */
function recording(handle: Writer, noted: Recorded[]): Writer {
  const note = <Values>(prepared: Prepared<Values, unknown>, values: Values) => {
    const { sql: text, parameters } = prepared.build(handle.dialect).compile()
    const named = values as Readonly<Record<string, unknown>>
    noted.push({ text, values: parameters.map((slot) => named[(slot as { name: string }).name]) })
  }
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      const { sql: text, parameters } = compilers[handle.dialect].compileQuery(node, queryId)
      noted.push({ text, values: parameters })
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return {
    tenantId: handle.tenantId,
    dialect: handle.dialect,
    tables: (<Tables>() => (handle.tables<Tables>() as Kysely<Tables>).withPlugin(plugin)) as never,
    run(prepared, values) {
      note(prepared, values)
      return handle.run(prepared, values)
    },
    first(prepared, values) {
      note(prepared, values)
      return handle.first(prepared, values)
    },
    change(prepared, values) {
      note(prepared, values)
      return handle.change(prepared, values)
    },
    afterCommit: (effect) => handle.afterCommit(effect),
    as: (tenantId) => recording(handle.as(tenantId), noted),
  }
}
