import { existsSync } from 'node:fs'
import type { Config } from '#infra/config/index.ts'
import { type Database, listAppliedMigrations, openDatabase, serverTenant } from '#infra/db/index.ts'
import { migrations } from '../migrations.ts'
import type { Command } from './command.ts'
import { readCommandConfig, withProgram } from './open-program.ts'

export const migrate: Command = {
  name: 'migrate',
  summary: 'Bring the database up to date with this version of the program.',
  description:
    '`serve` does the same when it starts. All changes are made or none. Stop servers of an older version first: they do not know the changed tables.',
  positionals: [],
  options: {},
  async run(input) {
    const before = await applied(readCommandConfig(input))
    const all = await withProgram(input, ({ services }) => listApplied(services.db))
    const added = all.slice(before.length)
    const text = added.length === 0 ? 'The database is up to date.' : `Applied: ${added.join(', ')}.`
    return { text, data: { applied: added, migrations: all } }
  },
}

async function applied({ database }: Config): Promise<string[]> {
  if (database.kind === 'sqlite' && !existsSync(database.path)) return []
  const db = await openDatabase({ url: database.url.reveal(), migrations, schema: 'as it is' })
  try {
    return await listApplied(db)
  } finally {
    await db.close()
  }
}

function listApplied(db: Database): Promise<string[]> {
  return listAppliedMigrations(db.reader(serverTenant))
}
