import { auditCommand } from '#features/audit/index.ts'
import { findBaseTenant } from '#features/tenants/index.ts'
import type { Config } from '#infra/config/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { systemClock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { noteBackup } from '../../last-backup.ts'
import { type Command, hasFlag, textOption } from '../command.ts'
import { counted } from '../help.ts'
import { noteCopy } from '../note-copy.ts'
import { readCommandConfig } from '../open-program.ts'
import { openPresentDatabase } from '../present-database.ts'
import { backupPlace } from './backup-place.ts'
import { writeBackup } from './write-backup.ts'

export const backup: Command = {
  name: 'backup',
  summary: 'Write the database and the bytes of files to one tar file, while the server runs.',
  description:
    'The database is copied as it is at one moment, then the bytes of files, which never change. The file appears under its name when it is whole, and the audit trail of the base tenant tells of it. `docs/operations/backup.md` tells more.',
  positionals: [],
  options: {
    to: {
      type: 'string',
      value: 'FILE|DIR',
      meaning: 'A new file, or a directory for one named after the time; the working directory when absent.',
    },
    'with-master-key': {
      type: 'boolean',
      meaning: 'Put the master key into the file. It gives access to every identity of the server.',
    },
  },
  async run(input) {
    const config = readCommandConfig(input)
    const withMasterKey = hasFlag(input, 'with-master-key')
    const path = await backupPlace(textOption(input, 'to') ?? '.', systemClock)
    const signal = input.interruption()
    const written = await writeBackup(config, { path, withMasterKey, signal, clock: systemClock })
    // The backup is good whether or not its time can be noted.
    await noteBackup(config.dataDir, systemClock.now()).catch(() => undefined)
    await noteCopy(input, () => auditBackup(config, withMasterKey))
    const { tenants, database, blobs, bytes, foreignSchema } = written
    const ofKey = withMasterKey
      ? 'It holds the master key: this file gives access to every identity of the server.'
      : 'It does not hold the master key, without which it cannot be restored: keep a copy of the key elsewhere.'
    const warnings = [
      ofKey,
      ...(foreignSchema === undefined
        ? []
        : [`kith restore refuses its database: ${foreignSchema}. Undo that, and write another backup.`]),
    ]
    return {
      text: [
        `${path}: ${counted(tenants, 'tenant')}, a database of ${database.bytes} bytes, ${counted(blobs.count, 'blob')} of ${blobs.bytes} bytes.`,
        ...warnings,
      ],
      data: { path, bytes, tenants, database, blobs, withMasterKey, warnings },
    }
  },
}

/** Notes a backup in the trail of the base tenant. Nothing is written into a database of another version: `E-STATE`. */
async function auditBackup(config: Config, withMasterKey: boolean): Promise<void> {
  const present = await openPresentDatabase(config)
  try {
    if (!present?.isCurrent)
      throw new Failure('E-STATE', { message: 'The database is that of another version of the program.' })
    const { db } = present
    const base = await findBaseTenant(db.reader(serverTenant))
    if (!base) throw new Failure('E-STATE', { message: 'There is no base tenant yet.' })
    const entry = { event: 'server.backed-up', details: { withMasterKey } } as const
    await db.transact(base.tenantId, (tx) => auditCommand({ clock: systemClock }, tx, entry))
  } finally {
    await present?.db.close()
  }
}
