import { randomBytes } from 'node:crypto'
import type { OpenDatabaseOptions } from '#infra/db/index.ts'

/** Where an empty database is: for `openDatabase`, or for a whole server that opens it itself. */
export type DatabasePlace = Pick<OpenDatabaseOptions, 'url'>

/** A place that is given back after a test. */
export interface RemovablePlace {
  readonly place: DatabasePlace
  remove(): Promise<void>
}

export type Migrations = NonNullable<OpenDatabaseOptions['migrations']>

// By the migrations themselves: two files of tests may give the same id to different ones.
const numbers = new WeakMap<Migrations[number], number>()
let lastNumber = 0

/** The same for the same migrations, in this process. */
export function keyOf(migrations: Migrations): string {
  return migrations
    .map((migration) => {
      const number = numbers.get(migration) ?? ++lastNumber
      numbers.set(migration, number)
      return number
    })
    .join()
}

/** A name for a schema, by which the end of the run finds it. */
export function freshName(): string {
  return `${process.env.TEST_SCHEMAS ?? 'test_'}${randomBytes(8).toString('hex')}`
}
