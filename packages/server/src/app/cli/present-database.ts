import type { Config } from '#infra/config/index.ts'
import { type Database, listAppliedMigrations, openDatabase, serverTenant } from '#infra/db/index.ts'
import { isThere } from '#infra/disk/index.ts'
import { Failure } from '#lib/failure.ts'
import { errorCode } from '#lib/system-error.ts'
import { migrations } from '../migrations.ts'

/** A database that was there already, as it is. */
export interface PresentDatabase {
  readonly db: Database
  /** The migrations that it has seen. */
  readonly applied: readonly string[]
  /** How many more this version of the program has. */
  readonly pending: number
  /** One that this version has not: another version has changed the database. */
  readonly foreign: string | undefined
  /** Its tables are those of this version. */
  readonly isCurrent: boolean
}

/** Opens the database without making or changing anything; undefined where there is none yet. The caller closes it. */
export async function openPresentDatabase({
  database,
}: Pick<Config, 'database'>): Promise<PresentDatabase | undefined> {
  if (database.kind === 'sqlite' && !(await isThere(database.path))) return undefined
  const db = await openDatabase({ url: database.url.reveal(), migrations, schema: 'as it is' }).catch(
    (error) => named(database, error),
  )
  try {
    const applied = await listAppliedMigrations(db.reader(serverTenant))
    if (applied.length > 0) return { db, applied, ...comparison(applied) }
  } catch (error) {
    await db.close()
    return named(database, error)
  }
  await db.close()
  return undefined
}

/** The same failure with the place that it is about. */
function named({ kind, url }: Config['database'], error: unknown): never {
  if (kind !== 'postgres' || !(error instanceof Failure) || error.code !== 'E-UNAVAILABLE') throw error
  const { host, pathname } = new URL(url.reveal())
  const code = errorCode(error.cause)
  throw new Failure('E-UNAVAILABLE', {
    message: `The database ${pathname.slice(1)} of DATABASE_URL cannot be reached at ${host}${code === undefined ? '' : ` (${code})`}.`,
    cause: error.cause,
  })
}

function comparison(applied: readonly string[]): Pick<PresentDatabase, 'pending' | 'foreign' | 'isCurrent'> {
  const foreign = applied.find((id, position) => migrations[position]?.id !== id)
  const pending = Math.max(0, migrations.length - applied.length)
  return { pending, foreign, isCurrent: foreign === undefined && pending === 0 }
}

/** Whether a server has been started on it before. */
export async function hasDatabase(config: Pick<Config, 'database'>): Promise<boolean> {
  const present = await openPresentDatabase(config)
  await present?.db.close()
  return present !== undefined
}
