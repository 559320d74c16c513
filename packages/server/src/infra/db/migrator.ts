import { type Clock, nowSecs } from '#lib/clock.ts'
import type { Writer } from './database.ts'
import { migrationLock } from './dialect.ts'
import type { WriterHandle } from './handles.ts'
import { type MigrationSchema, migrationSchema } from './migration-schema.ts'

/** One step in the life of the schema. Once released it is never edited, moved or taken out. */
export interface Migration {
  /** A number and a name, for instance `0010_files`; the place in the list decides the order. */
  readonly id: string
  up(schema: MigrationSchema): Promise<void>
}

export const migrationTable = 'kith_migrations'

export interface MigrationTables {
  [migrationTable]: { position: number; id: string; applied_at: number }
}

/** Another version of the program has changed the database, mostly a newer one. */
export class OtherVersion extends Error {
  override readonly name = 'OtherVersion'
}

/** Runs a transaction that may take as long as it needs, at read committed. */
type TransactMigrations = (work: (tx: WriterHandle) => Promise<void>) => Promise<void>

/** Applies the migrations that the database has not seen, all or none, so that a failed upgrade leaves a database that
 * the old program still takes. Refuses a database that a newer program has changed, or whose migrations came in
 * another order. Any number of processes may do this at once. */
export async function migrate(
  transact: TransactMigrations,
  migrations: readonly Migration[],
  clock: Pick<Clock, 'now'>,
): Promise<void> {
  assertDistinct(migrations)
  await transact(async (tx) => {
    await lock(tx)
    await tx.command(
      `create table if not exists ${migrationTable} (position bigint primary key, id text not null, applied_at bigint not null)`,
    )
    const first = await countApplied(tx, migrations)
    for (const [index, { id, up }] of migrations.slice(first).entries()) {
      await up(migrationSchema(tx))
      await tx
        .tables<MigrationTables>()
        .insertInto(migrationTable)
        .values({ position: first + index, id, applied_at: nowSecs(clock) })
        .execute()
    }
  })
}

async function lock(tx: WriterHandle): Promise<void> {
  const command = migrationLock(tx.dialect)
  if (command !== undefined) await tx.command(command)
}

async function countApplied(tx: Writer, migrations: readonly Migration[]): Promise<number> {
  const applied = await tx
    .tables<MigrationTables>()
    .selectFrom(migrationTable)
    .select('id')
    .orderBy('position')
    .execute()
  assertSameOrder(
    applied.map(({ id }) => id),
    migrations,
  )
  return applied.length
}

/** Throws `OtherVersion` where a database has seen a migration that this program has not, or has elsewhere. */
export function assertSameOrder(applied: readonly string[], migrations: readonly Migration[]): void {
  for (const [position, id] of applied.entries()) {
    const known = migrations[position]
    if (!known)
      throw new OtherVersion(`The database has the migration ${id}, which this program does not know`)
    if (known.id !== id)
      throw new OtherVersion(`The database has the migration ${id} where this program has ${known.id}`)
  }
}

function assertDistinct(migrations: readonly Migration[]): void {
  const ids = new Set<string>()
  for (const { id } of migrations) {
    if (ids.has(id)) throw new Error(`The migration ${id} is listed twice`)
    ids.add(id)
  }
}
