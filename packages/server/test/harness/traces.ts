import { DatabaseSync } from 'node:sqlite'

/** Every row of a SQLite database that is of this tenant or holds one of the words. */
export function tracesIn(
  path: string,
  { tenantId, words }: { readonly tenantId: number; readonly words: readonly string[] },
): { readonly table: string; readonly tenantId: number; readonly text: string }[] {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const all = (sql: string) => {
      const statement = db.prepare(sql)
      statement.setReadBigInts(true)
      return statement.all()
    }
    return all("select name from sqlite_schema where type = 'table'").flatMap(({ name }) =>
      all(`select * from "${name}"`)
        .map((row) => ({
          table: String(name),
          tenantId: Number(row.tenant_id),
          text: Object.values(row).map(shown).join(' '),
        }))
        .filter((row) => row.tenantId === tenantId || words.some((word) => row.text.includes(word))),
    )
  } finally {
    db.close()
  }
}

/** The tables that have them, sorted. */
export function tablesIn(traces: ReturnType<typeof tracesIn>): string[] {
  // The index of words is several tables on SQLite.
  return [...new Set(traces.map(({ table }) => table.replace(/^action_texts_\w+$/, 'action_texts')))].sort()
}

function shown(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)
}
