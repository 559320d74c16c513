import type { DatabaseSync } from 'node:sqlite'
import { type Kysely, type KyselyPlugin, SqliteQueryCompiler } from 'kysely'
import type { Reader } from '#infra/db/index.ts'

/** What SQLite does for the statements of a work, step by step. `explainer` has the same file open. */
export async function queryPlan<Handle extends Reader>(
  explainer: DatabaseSync,
  handle: Handle,
  work: (handle: Handle) => Promise<unknown>,
): Promise<string[]> {
  const statements: string[] = []
  const compiler = new SqliteQueryCompiler()
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      statements.push(compiler.compileQuery(node, queryId).sql)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const tables = <Tables>() => (handle.tables<Tables>() as Kysely<Tables>).withPlugin(plugin)
  await work(
    new Proxy(handle, {
      get(target, name) {
        if (name === 'tables') return tables
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    }),
  )
  return statements.flatMap((statement) =>
    explainer
      .prepare(`explain query plan ${statement}`)
      .all()
      .map(({ detail }) => String(detail)),
  )
}
