import { listAppliedMigrations, serverTenant } from '#infra/db/index.ts'
import type { Command, CommandInput } from './command.ts'
import { readCommandConfig, withProgram } from './open-program.ts'
import { openPresentDatabase } from './present-database.ts'

export const migrate: Command = {
  name: 'migrate',
  summary: 'Bring the database up to date with this version of the program.',
  description:
    '`serve` does the same when it starts. All changes are made or none. Stop servers of an older version first: they do not know the changed tables.',
  positionals: [],
  options: {},
  async run(input) {
    const before = await countApplied(input)
    const all = await withProgram(
      input,
      ({ services }) => listAppliedMigrations(services.db.reader(serverTenant)),
      { mayBegin: true, mayMigrate: true },
    )
    const added = all.slice(before)
    const text = added.length === 0 ? 'The database is up to date.' : `Applied: ${added.join(', ')}.`
    return { text, data: { applied: added, migrations: all } }
  },
}

async function countApplied(input: CommandInput): Promise<number> {
  const present = await openPresentDatabase(readCommandConfig(input))
  await present?.db.close()
  return present?.applied.length ?? 0
}
