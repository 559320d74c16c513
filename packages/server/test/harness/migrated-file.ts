import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Config } from '#infra/config/index.ts'
import { openDatabase } from '#infra/db/index.ts'
import { keyOf, type Migrations, type RemovablePlace } from './database-place.ts'

// Files that are migrated, for tests that begin with the same migrations; made for the second of them.
const migratedFiles = new Map<string, Promise<Buffer> | undefined>()

/** A new SQLite file; with `migrations`, it may be one that has them already. */
export async function makeFile(migrations?: Migrations): Promise<RemovablePlace> {
  const folder = await mkdtemp(join(tmpdir(), 'kith-db-'))
  const path = join(folder, 'kith.db')
  const migrated = migrations && (await migratedFile(migrations))
  if (migrated) await writeFile(path, migrated, { mode: 0o600 })
  return {
    place: { url: `sqlite:${path}` },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Gives a server that begins in an empty folder a database that has its migrations. */
export async function placeMigratedFile(
  { database, dataDir }: Config,
  migrations: Migrations,
): Promise<void> {
  if (database.kind !== 'sqlite' || dirname(database.path) !== dataDir) return
  const present = await readdir(dataDir).catch(() => ['no folder'])
  const migrated = present.length === 0 && (await migratedFile(migrations))
  if (migrated) await writeFile(database.path, migrated, { mode: 0o600 })
}

function migratedFile(migrations: Migrations): Promise<Buffer> | undefined {
  const key = keyOf(migrations)
  const file = migratedFiles.has(key) ? (migratedFiles.get(key) ?? migrateFile(migrations)) : undefined
  migratedFiles.set(key, file)
  return file
}

async function migrateFile(migrations: Migrations): Promise<Buffer> {
  const { place, remove } = await makeFile()
  try {
    const database = await openDatabase({ ...place, migrations })
    await database.close()
    return await readFile(place.url.slice('sqlite:'.length))
  } finally {
    await remove()
  }
}
