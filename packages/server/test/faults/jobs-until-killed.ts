import { appendFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Generated } from 'kysely'
import Type from 'typebox'
import { type Migration, openDatabase, serverTenant, type TenantId } from '#infra/db/index.ts'
import { countByState, jobKind, jobsMigrations, openJobs } from '#infra/jobs/index.ts'
import { systemClock } from '#lib/clock.ts'

// A server that notes something in its database, with a job that writes it to a file. With `work` it goes on until it
// is killed, and prints each number once it is acknowledged; with `drain` it does what is left and ends.
const [, , url = '', effectsPath = '', mode] = process.argv
const notesMigration: Migration = {
  id: '0001_notes',
  up: (schema) => schema.createTable('notes', { id: 'autoincrement', worker: 'integer' }),
}
const note = jobKind({
  name: 'note',
  payload: Type.Object({ id: Type.Integer(), worker: Type.Integer() }),
  retry: { maxAttempts: 1000, firstDelayMs: 5, longestDelayMs: 5 },
  concurrency: 16,
})

const db = await openDatabase({ url, migrations: [...jobsMigrations, notesMigration] })
const logger = { info: () => undefined, warn: () => undefined, error: console.error }
const jobs = openJobs({ db, clock: systemClock, logger, nodeId: 'the only one' })
jobs.handle(note, async ({ id, worker }) => {
  await nextTurn()
  appendFileSync(effectsPath, `${worker} ${id}\n`)
  await nextTurn()
})
await jobs.start()

if (mode === 'work') await Promise.all(Array.from({ length: 8 }, (_, worker) => work(worker)))
else {
  while (await hasNotes()) await jobs.settle()
  await jobs.stop()
  await db.close()
}

async function work(worker: number): Promise<never> {
  while (true) {
    const id = await db.transact(1 as TenantId, async (tx) => {
      const added = await tx
        .tables<{ notes: { id: Generated<number>; worker: number } }>()
        .insertInto('notes')
        .values({ worker })
        .returning('id')
        .executeTakeFirstOrThrow()
      await jobs.enqueue(tx, note, { id: added.id, worker }, { orderingKey: `worker ${worker}` })
      return added.id
    })
    process.stdout.write(`${id}\n`)
  }
}

async function hasNotes(): Promise<boolean> {
  const counts = await countByState(db.reader(serverTenant))
  return counts.some(({ kind }) => kind === note.name)
}
