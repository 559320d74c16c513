import pg from 'pg'

/** Drops what the processes of a test run have left on the server at TEST_POSTGRES_URL. */
export default function (): (() => Promise<void>) | undefined {
  const { TEST_POSTGRES_URL: server, TEST_SCHEMAS: prefix } = process.env
  if (server === undefined || prefix === undefined) return undefined
  return async () => {
    const client = new pg.Client({ connectionString: server })
    await client.connect()
    try {
      const { rows } = await client.query<{ name: string }>(
        'select nspname as name from pg_namespace where starts_with(nspname, $1)',
        [prefix],
      )
      // One by one: the locks of all tables at once may be more than the server has room for.
      for (const { name } of rows) await client.query(`drop schema ${name} cascade`)
    } finally {
      await client.end()
    }
  }
}
