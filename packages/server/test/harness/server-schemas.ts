import pg from 'pg'
import { openDatabase } from '#infra/db/index.ts'
import { freshName, keyOf, type Migrations, type RemovablePlace } from './database-place.ts'
import { commandToEmpty, hasRows } from './empty-schema.ts'

/** The schemas of one suite on a server. Those that are migrated are emptied and used again, if their migrations make
 * no rows. */
export class ServerSchemas {
  readonly #server: string
  // As many as the databases that one test opens, for each list of migrations.
  readonly #emptied = new Map<string, string[]>()
  readonly #reusable = new Map<string, Promise<boolean>>()

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
        if (key === undefined || !(await this.#empty(schema, ids))) await this.#drop([schema])
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
    const isEmpty = await this.#run(
      async (client) => !(await hasRows((text, values) => client.query(text, [...values]), schema)),
      schema,
    )
    if (isEmpty) this.#keep(key, schema)
    else await this.#drop([schema])
    return isEmpty
  }

  #keep(key: string, schema: string): void {
    this.#emptied.set(key, [...(this.#emptied.get(key) ?? []), schema])
  }

  async #create(): Promise<string> {
    const schema = freshName()
    await this.#run((client) => client.query(`create schema ${schema}`))
    return schema
  }

  #urlOf(schema: string): string {
    const url = new URL(this.#server)
    url.searchParams.set('options', `-c search_path=${schema}`)
    return url.href
  }

  async drop(): Promise<void> {
    const schemas = [...this.#emptied.values()].flat()
    this.#emptied.clear()
    if (schemas.length > 0) await this.#drop(schemas)
  }

  /** False where it is to be dropped instead. */
  #empty(schema: string, migrationIds: readonly string[]): Promise<boolean> {
    return this.#run(async (client) => {
      const query = (text: string, values: readonly string[]) => client.query(text, [...values])
      const command = await commandToEmpty(query, schema, migrationIds)
      if (command === undefined) return false
      return await client.query(command).then(
        () => true,
        () => false,
      )
    }, schema)
  }

  // One by one: the locks of all tables at once may be more than the server has room for.
  async #drop(schemas: readonly string[]): Promise<void> {
    await this.#run(async (client) => {
      for (const schema of schemas) await client.query(`drop schema ${schema} cascade`)
    })
  }

  async #run<Result>(work: (client: pg.Client) => Promise<Result>, schema?: string): Promise<Result> {
    const client = new pg.Client({
      connectionString: schema === undefined ? this.#server : this.#urlOf(schema),
    })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }
}
