import { sql } from 'kysely'
import type { Placeholder, Writer, WriteTables } from './database.ts'
import { statement } from './statement.ts'

const lock = statement((tables: WriteTables<unknown>, value: Placeholder<{ name: string }>) =>
  tables
    .selectFrom(
      sql<{
        held: string
      }>`(select pg_advisory_xact_lock(hashtextextended(${value('name')}, 0))::text as held)`.as('locked'),
    )
    .select('locked.held'),
)

/** Waits until no other transaction holds the name, and holds it until this one ends. On SQLite any transaction keeps out
 * all others. */
export async function lockName(tx: Writer, name: string): Promise<void> {
  if (tx.dialect === 'postgres') await tx.first(lock, { name })
}
