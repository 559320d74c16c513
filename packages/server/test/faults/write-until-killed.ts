import { openDatabase, type TenantId } from '#infra/db/index.ts'

// Writes from several places at once and prints each number once it is acknowledged, until it is killed.
const db = await openDatabase({
  url: `sqlite:${process.argv[2]}`,
  migrations: [
    { id: '0001_items', up: (schema) => schema.createTable('items', { id: 'autoincrement', body: 'text' }) },
  ],
})
let last = 0
await Promise.all(
  Array.from({ length: 8 }, async () => {
    while (true) {
      last += 1
      const id = last
      await db.transact(1 as TenantId, (tx) =>
        tx
          .tables<{ items: { id: number; body: string } }>()
          .insertInto('items')
          .values({ id, body: 'x' })
          .execute(),
      )
      process.stdout.write(`${id}\n`)
    }
  }),
)
