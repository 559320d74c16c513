import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { PGlite, parse, protocol, types } from '@electric-sql/pglite'
import type { ConnectPostgres, PostgresPool, PostgresQuery } from '#infra/db/index.ts'
import { safeNumber } from '#infra/db/safe-number.ts'
import { commandToEmpty, isMigratedBy } from './empty-schema.ts'

const { serialize } = protocol
const parsers = { [types.INT8]: safeNumber, [types.NUMERIC]: safeNumber }
const cacheFolder = join(import.meta.dirname, '../../../../node_modules/.cache/kith')

/** PostgreSQL inside this process. It has one connection, which schemas and transactions take in turns. */
export class EmbeddedPostgres {
  readonly #server: PGlite
  // As many as the program has statements, for each schema.
  readonly #prepared = new Map<string, string>()
  readonly #emptying = new Map<string, string>()
  #named = 0
  #schema = ''
  #readOnly = 'off'
  #last: Promise<unknown> = Promise.resolve()

  private constructor(server: PGlite) {
    this.#server = server
  }

  static async start(): Promise<EmbeddedPostgres> {
    const server = await startServer()
    await server.exec('set plan_cache_mode = force_generic_plan')
    return new EmbeddedPostgres(server)
  }

  async createSchema(name: string): Promise<void> {
    await this.#command(`create schema ${name}`)
  }

  async dropSchema(name: string): Promise<void> {
    await this.#command(`drop schema ${name} cascade`)
  }

  /** Removes all rows and begins the numbers anew. False where the schema is not what exactly these migrations made. */
  async emptySchema(name: string, migrationIds: readonly string[] = []): Promise<boolean> {
    return await this.#alone(async () => {
      await this.#enter(name, 'off')
      const query = (text: string, values: readonly string[]) => this.#server.query<object>(text, [...values])
      const known = this.#emptying.get(name)
      const command =
        known === undefined
          ? await commandToEmpty(query, name, migrationIds)
          : (await isMigratedBy(query, migrationIds)) && known
      if (!command) return false
      this.#emptying.set(name, command)
      await this.#server.exec(command)
      return true
    })
  }

  /** Pools on one schema, as a server of its own would give. */
  pools(schema: string): ConnectPostgres {
    return () => ({ readers: this.#readers(schema), writers: this.#writers(schema) })
  }

  #readers(schema: string): PostgresPool {
    const gate = new Gate()
    return {
      query: (query) => gate.pass(() => this.#alone(() => this.#readOnce(schema, query))),
      connect: () => Promise.reject(new Error('Readers run single queries')),
      end: () => gate.close(),
    }
  }

  #writers(schema: string): PostgresPool {
    const gate = new Gate()
    return {
      query: () => Promise.reject(new Error('Writers run transactions')),
      connect: async () => {
        const entered = Promise.withResolvers<void>()
        const released = Promise.withResolvers<boolean>()
        const turn = gate.pass(() =>
          this.#alone(async () => {
            await this.#enter(schema, 'off')
            entered.resolve()
            if (await released.promise) await this.#reset()
          }),
        )
        turn.catch(entered.reject)
        await entered.promise
        return { query: (query) => this.#query(query), release: released.resolve }
      },
      end: () => gate.close(),
    }
  }

  async #readOnce(schema: string, query: PostgresQuery) {
    await this.#enter(schema, 'on')
    return await this.#query(query)
  }

  // All messages of a query at once: PGlite's own `query` takes twice the time for asking about the parameters.
  async #query({ name, text, values }: PostgresQuery) {
    const statement = name === undefined ? '' : await this.#prepare(name, text)
    const { messages } = await this.#server.execProtocol(
      Buffer.concat([
        ...(statement === '' ? [serialize.parse({ text })] : []),
        serialize.bind({ statement, values: values?.map(boundValue) ?? [] }),
        serialize.describe({ type: 'P' }),
        serialize.execute(),
        serialize.sync(),
      ]),
    )
    const [result] = parse.parseResults(messages, this.#server.parsers)
    if (!result) throw new Error(`"${text}" has no result`)
    const { rows, affectedRows, fields } = result
    return { rows, rowCount: fields.length > 0 ? rows.length : (affectedRows ?? 0) }
  }

  async #command(command: string): Promise<void> {
    await this.#alone(async () => {
      await this.#enter('public', 'off')
      await this.#server.exec(command)
    })
  }

  // Planning is most of what a query takes here.
  async #prepare(name: string, text: string): Promise<string> {
    const key = `${this.#schema} ${name}`
    const known = this.#prepared.get(key)
    if (known !== undefined) return known
    this.#named += 1
    const statement = `prepared_${this.#named}`
    // Known at once: queries of one transaction may come together, and are done in their order.
    this.#prepared.set(key, statement)
    try {
      await this.#server.execProtocol(
        Buffer.concat([serialize.parse({ name: statement, text }), serialize.sync()]),
      )
    } catch (error) {
      this.#prepared.delete(key)
      throw error
    }
    return statement
  }

  /** What closing a broken connection does on a server. */
  async #reset(): Promise<void> {
    await this.#server.exec('rollback')
    await this.#server.exec('deallocate all')
    this.#prepared.clear()
  }

  async #enter(schema: string, readOnly: 'on' | 'off'): Promise<void> {
    if (this.#schema !== schema) await this.#server.exec(`set search_path to ${schema}`)
    this.#schema = schema
    if (this.#readOnly !== readOnly)
      await this.#server.exec(`set default_transaction_read_only = ${readOnly}`)
    this.#readOnly = readOnly
  }

  #alone<Result>(run: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(run)
    this.#last = turn.catch(() => undefined)
    return turn
  }
}

/** Starting takes seconds the first time; later ones begin with a copy of that first empty database. */
async function startServer(): Promise<PGlite> {
  const copyPath = join(cacheFolder, `pglite-${await installedVersion()}.tar`)
  const copy = await readFile(copyPath).catch(() => undefined)
  if (copy) return PGlite.create({ parsers, loadDataDir: new Blob([copy]) })
  const server = await PGlite.create({ parsers })
  await mkdir(cacheFolder, { recursive: true })
  const newPath = `${copyPath}.${process.pid}`
  await writeFile(newPath, (await server.dumpDataDir('none')).stream())
  await rename(newPath, copyPath)
  return server
}

function boundValue(value: unknown): string | Uint8Array | null {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array) return value
  if (typeof value === 'object') throw new Error(`${JSON.stringify(value)} cannot be bound`)
  return String(value)
}

async function installedVersion(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const { version } = JSON.parse(await readFile(join(dirname(entry), '../package.json'), 'utf8'))
  return version
}

/** Lets calls through until it is closed, and then waits for those under way. */
class Gate {
  readonly #running = new Set<Promise<unknown>>()
  #isClosed = false

  pass<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new Error('Cannot use a pool after calling end on the pool'))
    const running = call()
    this.#running.add(running)
    return running.finally(() => this.#running.delete(running))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#running)
  }
}
