import pg from 'pg'
import { openDatabase } from '#infra/db/index.ts'
import { freshName, keyOf, type Migrations, type RemovablePlace } from './database-place.ts'
import { commandToEmpty, hasRows } from './empty-schema.ts'

/** The schemas of this process on a server. Those that are migrated are emptied and used again, if their migrations make
 * no rows; what is left at the end of a run is dropped then (drop-schemas.ts). */
export class ServerSchemas {
  readonly #server: string
  // As many as the databases that one test opens, for each list of migrations.
  readonly #emptied = new Map<string, string[]>()
  readonly #reusable = new Map<string, Promise<boolean>>()
  #client: Promise<pg.Client> | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(server: string) {
    this.#server = server
  }

  async make(migrations?: Migrations): Promise<RemovablePlace> {
    const key = await this.#keyOf(migrations)
    const known = key === undefined ? undefined : this.#emptied.get(key)?.pop()
    const schema = known ?? (await this.#create())
    return {
      place: { url: this.#urlOf(schema) },
      remove: async () => {
        const ids = migrations?.map(({ id }) => id) ?? []
        if (key === undefined || !(await this.#empty(schema, ids))) await this.#drop(schema)
        else this.#keep(key, schema)
      },
    }
  }

  /** Undefined where a schema with these migrations serves but once. */
  async #keyOf(migrations?: Migrations): Promise<string | undefined> {
    if (!migrations) return undefined
    const key = keyOf(migrations)
    const reusable = this.#reusable.get(key) ?? this.#migrate(key, migrations)
    this.#reusable.set(key, reusable)
    return (await reusable) ? key : undefined
  }

  /** Makes the first schema with these migrations; answers whether it has no rows. */
  async #migrate(key: string, migrations: Migrations): Promise<boolean> {
    const schema = await this.#create()
    const database = await openDatabase({ url: this.#urlOf(schema), migrations })
    await database.close()
    const isEmpty = await this.#run(schema, async (query) => !(await hasRows(query, schema)))
    if (isEmpty) this.#keep(key, schema)
    else await this.#drop(schema)
    return isEmpty
  }

  #keep(key: string, schema: string): void {
    this.#emptied.set(key, [...(this.#emptied.get(key) ?? []), schema])
  }

  async #create(): Promise<string> {
    const schema = freshName()
    await this.#run('public', (query) => query(`create schema ${schema}`, []))
    return schema
  }

  #urlOf(schema: string): string {
    const url = new URL(this.#server)
    url.searchParams.set('options', `-c search_path=${schema}`)
    return url.href
  }

  /** False where it is to be dropped instead. */
  #empty(schema: string, migrationIds: readonly string[]): Promise<boolean> {
    return this.#run(schema, async (query) => {
      const command = await commandToEmpty(query, schema, migrationIds)
      if (command === undefined) return false
      return await query(command, []).then(
        () => true,
        () => false,
      )
    })
  }

  async #drop(schema: string): Promise<void> {
    await this.#run('public', (query) => query(`drop schema ${schema} cascade`, []))
  }

  /** One after the other, on the one connection of the process: to connect takes longer than to empty a schema. */
  #run<Result>(
    schema: string,
    work: (
      query: (text: string, values: readonly string[]) => Promise<{ rows: object[] }>,
    ) => Promise<Result>,
  ): Promise<Result> {
    const turn = this.#last.then(async () => {
      const client = await this.#connect()
      await client.query(`set search_path to ${schema}`)
      return await work((text, values) =>
        values.length > 0 ? client.query(text, [...values]) : client.query(text),
      )
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }

  #connect(): Promise<pg.Client> {
    this.#client ??= (async () => {
      const client = new pg.Client({ connectionString: this.#server })
      await client.connect()
      return client
    })()
    return this.#client
  }
}
