import { PGlite, types } from '@electric-sql/pglite'
import type { ConnectPostgres, PostgresPool, PostgresQuery } from '#infra/db/postgres-pool.ts'

const parsers = { [types.INT8]: Number, [types.NUMERIC]: Number }

/** PostgreSQL inside this process. It has one connection, which schemas and transactions take in turns. */
export class EmbeddedPostgres {
  readonly #server = new PGlite({ parsers })
  #path = ''
  #last: Promise<unknown> = Promise.resolve()

  async createSchema(name: string): Promise<void> {
    await this.#alone(() => this.#server.exec(`create schema ${name}`))
  }

  async dropSchema(name: string): Promise<void> {
    await this.#alone(() => this.#server.exec(`drop schema ${name} cascade`))
  }

  /** Pools on one schema, as a server of its own would give. */
  pools(schema: string): ConnectPostgres {
    return () => ({ readers: this.#pool(schema, true), writers: this.#pool(schema, false) })
  }

  async close(): Promise<void> {
    await this.#server.close()
  }

  #pool(schema: string, isReadOnly: boolean): PostgresPool {
    const under: Set<Promise<unknown>> = new Set()
    const track = <Result>(running: Promise<Result>) => {
      under.add(running)
      return running.finally(() => under.delete(running))
    }
    return {
      query: (query) => track(this.#alone(() => this.#readOnce(schema, query, isReadOnly))),
      connect: async () => {
        const { promise, resolve } = Promise.withResolvers<void>()
        const { promise: ready, resolve: start } = Promise.withResolvers<void>()
        void track(
          this.#alone(async () => {
            await this.#enter(schema)
            start()
            await promise
          }),
        )
        await ready
        return {
          query: (query) => this.#query(query),
          release: (isBroken) => {
            void (isBroken ? this.#server.exec('rollback') : Promise.resolve()).then(() => resolve())
          },
        }
      },
      end: async () => {
        await Promise.allSettled(under)
      },
    }
  }

  async #readOnce(schema: string, query: PostgresQuery, isReadOnly: boolean) {
    await this.#enter(schema)
    if (!isReadOnly) return this.#query(query)
    await this.#server.exec('begin read only')
    try {
      return await this.#query(query)
    } finally {
      await this.#server.exec('rollback')
    }
  }

  async #query({ text, values }: PostgresQuery) {
    const { rows, affectedRows, fields } = await this.#server.query(text, values ?? [])
    return { rows, rowCount: fields.length > 0 ? rows.length : (affectedRows ?? 0) }
  }

  async #enter(schema: string): Promise<void> {
    if (this.#path === schema) return
    await this.#server.exec(`set search_path to ${schema}`)
    this.#path = schema
  }

  #alone<Result>(run: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(run, run)
    this.#last = turn.catch(() => undefined)
    return turn
  }
}
