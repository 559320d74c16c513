import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  DummyDriver,
  Kysely,
  type Dialect as KyselyDialect,
  PostgresAdapter,
  type QueryCompiler,
  type QueryResult,
  SqliteAdapter,
} from 'kysely'
import type { Dialect } from './database.ts'
import { queryCompilers } from './query-compilers.ts'

/** Runs one compiled query. */
type Execute = (query: CompiledQuery) => Promise<QueryResult<unknown>>

// Adapters keep no state between queries, so all builders of a dialect share them.
const adapters = { sqlite: new SqliteAdapter(), postgres: new PostgresAdapter() }
const driver = new DummyDriver()
const dialects = { sqlite: dialectOf('sqlite'), postgres: dialectOf('postgres') }

/** A query builder whose queries go to `execute`; it knows no connections or transactions. */
export function queryBuilder<Tables>(
  dialect: Dialect,
  execute: Execute,
  compiler: QueryCompiler = queryCompilers[dialect],
): Kysely<Tables> {
  const connection: DatabaseConnection = {
    executeQuery: <Row>(query: CompiledQuery) => execute(query) as Promise<QueryResult<Row>>,
    streamQuery: () => {
      throw new Error('Streaming is not supported')
    },
  }
  const executor = new DefaultQueryExecutor(compiler, adapters[dialect], {
    provideConnection: (consumer) => consumer(connection),
  })
  return new Kysely<Tables>({
    config: { dialect: dialects[dialect] },
    dialect: dialects[dialect],
    driver,
    executor,
  })
}

/** The same builder over the tables a store declares. The compiler cannot see that table types leave no trace when
 * the program runs, hence the cast. */
export function overTables<Tables>(builder: Kysely<unknown>): Kysely<Tables> {
  return builder as unknown as Kysely<Tables>
}

function dialectOf(dialect: Dialect): KyselyDialect {
  return {
    createAdapter: () => adapters[dialect],
    createDriver: () => driver,
    createQueryCompiler: () => queryCompilers[dialect],
    createIntrospector: () => {
      throw new Error('Introspection is not supported')
    },
  }
}
