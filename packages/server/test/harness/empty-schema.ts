/** Runs one statement on the connection that the schema is emptied on. */
type Query = (text: string, values: readonly string[]) => Promise<{ readonly rows: readonly object[] }>

/** The command that removes all rows of a schema of PostgreSQL and begins its numbers anew; only a superuser may run it.
 * Undefined where the schema, which the connection searches, is not what exactly these migrations made. */
export async function commandToEmpty(
  query: Query,
  schema: string,
  migrationIds: readonly string[],
): Promise<string | undefined> {
  if (!(await isMigratedBy(query, migrationIds))) return undefined
  const { rows } = await query(
    `select format('delete from %I', tablename) as command from pg_tables
        where schemaname = $1 and tablename <> 'kith_migrations'
      union all
      select format('select setval(%L, %s, false)', sequencename, start_value) from pg_sequences
        where schemaname = $1`,
    [schema],
  )
  // Rows go in no order that foreign keys would like; all of them go.
  return [
    'set session_replication_role = replica',
    ...(rows as { command: string }[]).map(({ command }) => command),
    'set session_replication_role = origin',
  ].join('; ')
}

/** Whether a schema has rows beside those of its migrations, which may have made some themselves. */
export async function hasRows(query: Query, schema: string): Promise<boolean> {
  const { rows } = await query(
    `select format('select 1 as one from %I', tablename) as look from pg_tables
      where schemaname = $1 and tablename <> 'kith_migrations'`,
    [schema],
  )
  const looks = (rows as { look: string }[]).map(({ look }) => `(${look} limit 1)`)
  return looks.length > 0 && (await query(looks.join(' union all '), [])).rows.length > 0
}

async function isMigratedBy(query: Query, migrationIds: readonly string[]): Promise<boolean> {
  const applied = await query('select id from kith_migrations order by position', []).catch(() => undefined)
  return (applied?.rows as { id: string }[] | undefined)?.map(({ id }) => id).join() === migrationIds.join()
}
