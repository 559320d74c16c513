import { fork } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { assertSameOrder, type Migration, migrationTable } from '../migrator.ts'
import { openDatabase } from '../open-database.ts'
import { type Inspected, type Inspection, inspectFile, readSchema } from './inspect-file.ts'
import { type SchemaEntry, schemaDifference } from './schema-entry.ts'

interface SchemaOptions {
  /** Every migration of the program, in order. */
  readonly migrations: readonly Migration[]
  /** Where there is no file yet: a database to compare with is made there, which the caller removes. */
  readonly scratchPath: string
}

/** Says what a SQLite file has, or has not, that those migrations would have made which it has seen; undefined where
 * all of it is theirs. Throws `OtherVersion` for migrations that this program has not. */
export async function findForeignSchema(path: string, options: SchemaOptions): Promise<string | undefined> {
  return await compare(options, async (request) => inspectFile({ ...request, path, looksForDamage: false }))
}

/** The same of a file of a stranger, and what is damaged in it. It could run code of its own by triggers, views,
 * checks, defaults, generated columns and expressions in indexes: here it is read without any of them, by a process of
 * its own with a limit of time, since pages that lead to each other have no end. */
export async function examineForeignFile(
  path: string,
  options: SchemaOptions & { readonly limitMs?: number },
): Promise<string | undefined> {
  const limitMs = options.limitMs ?? (await usualLimitMs(path))
  return await compare(options, (request) =>
    inspectApart({ ...request, path, looksForDamage: true }, limitMs),
  )
}

type Request = Pick<Inspection, 'migrationTable' | 'known'>

async function compare(
  { migrations, scratchPath }: SchemaOptions,
  inspect: (request: Request) => Promise<Inspected>,
): Promise<string | undefined> {
  const known = await madeBy([], `${scratchPath}-none`)
  const inspected = await inspect({ migrationTable, known })
  if ('problem' in inspected) return inspected.problem
  const { found, applied } = inspected
  assertSameOrder(applied, migrations)
  return schemaDifference(found, await madeBy(migrations.slice(0, applied.length), scratchPath))
}

// A slow disk gives ten megabytes in a second.
async function usualLimitMs(path: string): Promise<number> {
  const { size } = await stat(path)
  return 30_000 + Math.ceil(size / 10_000)
}

function inspectApart(inspection: Inspection, limitMs: number): Promise<Inspected> {
  const child = fork(join(import.meta.dirname, 'inspect-worker.ts'), [], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: {},
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    timeout: limitMs,
    killSignal: 'SIGKILL',
  })
  const { promise, resolve, reject } = Promise.withResolvers<Inspected>()
  child.once('message', (inspected) => resolve(inspected as Inspected))
  child.once('error', reject)
  child.once('exit', (_, signal) => {
    if (signal === 'SIGKILL') resolve({ problem: 'to look through it takes too long' })
    else reject(new Error('The process that looks through the database has ended'))
  })
  child.send(inspection)
  return promise
}

/** What the migrations make, in a file that is not there yet. */
async function madeBy(migrations: readonly Migration[], path: string): Promise<SchemaEntry[]> {
  const database = await openDatabase({ url: `sqlite:${path}`, migrations })
  await database.close()
  using file = new DatabaseSync(path, { readOnly: true })
  return readSchema(file)
}
