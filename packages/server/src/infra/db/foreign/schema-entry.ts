/** A row of `sqlite_schema`. */
export interface SchemaEntry {
  readonly type: string
  readonly name: string
  readonly table: string
  /** With runs of blanks and line breaks as one blank; null for the indexes that belong to the keys of tables. */
  readonly sql: string | null
}

/** What ANALYZE makes, which somebody may have run by hand: numbers about indexes, for the planner. */
const statistics = new Map([
  ['sqlite_stat1', 'CREATE TABLE sqlite_stat1(tbl,idx,stat)'],
  ['sqlite_stat4', 'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)'],
])

/** The first thing of `found` that is not in `made`, or of `made` that is not in `found`. */
export function schemaDifference(
  found: readonly SchemaEntry[],
  made: readonly SchemaEntry[],
): string | undefined {
  const missing = new Map(made.map((entry) => [keyOf(entry), entry]))
  for (const entry of found) {
    const { type, name, table, sql } = entry
    const isStatistics = type === 'table' && name === table && sql !== null && statistics.get(name) === sql
    if (isStatistics || missing.delete(keyOf(entry))) continue
    const isChanged = made.some((other) => other.type === type && other.name === name)
    return isChanged ? `its ${type} ${name} is not that of this program` : `it has the ${type} ${name}`
  }
  // Tables go before their indexes.
  const [first] = [...missing.values()].sort((one, other) => other.type.localeCompare(one.type))
  return first && `it lacks the ${first.type} ${first.name}`
}

function keyOf({ type, name, table, sql }: SchemaEntry): string {
  return JSON.stringify([type, name, table, sql])
}
