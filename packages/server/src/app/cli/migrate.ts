import { listAppliedMigrations, serverTenant } from '#infra/db/index.ts'
import { listUpgradeCopies } from '../upgrade-copies.ts'
import { type Command, type CommandInput, hasFlag } from './command.ts'
import { readCommandConfig, withProgram } from './open-program.ts'
import { openPresentDatabase } from './present-database.ts'

export const migrate: Command = {
  name: 'migrate',
  summary: 'Bring the database up to date with this version of the program.',
  description:
    '`serve` does the same when it starts. All changes are made or none. A SQLite database is copied to `before-upgrade` beside it before that; the newest two copies stay. Stop servers of an older version first: they do not know the changed tables.',
  positionals: [],
  options: {
    'without-copy': {
      type: 'boolean',
      meaning: 'Make no copy of a SQLite database first, where the disk has no room for one.',
    },
  },
  async run(input) {
    const before = await countApplied(input)
    const all = await withProgram(
      input,
      ({ services }) => listAppliedMigrations(services.db.reader(serverTenant)),
      { mayBegin: true, mayMigrate: true, hasCopy: !hasFlag(input, 'without-copy') },
    )
    const added = all.slice(before)
    const copy = await findCopy(input, { before, added })
    const text = [
      added.length === 0 ? 'The database is up to date.' : `Applied: ${added.join(', ')}.`,
      ...(copy === undefined ? [] : [`The database as it was before is in ${copy}.`]),
    ]
    return { text, data: { applied: added, migrations: all, ...(copy === undefined ? {} : { copy }) } }
  },
}

/** Where this run has copied the database that it changed. */
async function findCopy(
  input: CommandInput,
  { before, added }: { readonly before: number; readonly added: readonly string[] },
): Promise<string | undefined> {
  if (before === 0 || added.length === 0 || hasFlag(input, 'without-copy')) return undefined
  const [newest] = await listUpgradeCopies(readCommandConfig(input))
  return newest?.path
}

async function countApplied(input: CommandInput): Promise<number> {
  const present = await openPresentDatabase(readCommandConfig(input))
  await present?.db.close()
  return present?.applied.length ?? 0
}
