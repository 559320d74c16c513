import { resolve } from 'node:path'
import { isThere } from '#infra/disk/index.ts'
import { systemClock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { assertNotForeignRoot } from '../../data-owner.ts'
import { argument, type Command, hasFlag } from '../command.ts'
import { counted } from '../help.ts'
import { readCommandConfig } from '../open-program.ts'
import { restoreBackup } from './restore-backup.ts'

export const restore: Command = {
  name: 'restore',
  summary: 'Put a backup in place, for the server that the environment describes.',
  description:
    'Stop the server first. Every byte is checked aside, and the database is brought up to date, before anything is put in place; when that is interrupted, the next start finishes it.',
  positionals: ['FROM'],
  options: {
    force: {
      type: 'boolean',
      meaning: 'Also when there is something already: it is moved to `.replaced-TIME` beside it.',
    },
    check: { type: 'boolean', meaning: 'Only check that the backup could be restored; changes nothing.' },
  },
  async run(input) {
    const config = readCommandConfig(input)
    const check = hasFlag(input, 'check')
    const path = resolve(argument(input, 'FROM'))
    if (!(await isThere(path))) throw new Failure('E-NOTFOUND', { message: `There is no file ${path}.` })
    if (!check) assertNotForeignRoot(config)
    const force = hasFlag(input, 'force')
    const restored = await restoreBackup(config, { path, force, check, clock: systemClock })
    const { about, tenants, blobs, replaced } = restored
    const what = `the backup of ${about.baseIdTag} of ${about.createdAt}: ${counted(tenants, 'tenant')}, ${counted(blobs.count, 'blob')}`
    const lines = [
      check ? `This can be restored, ${what}.` : `Restored ${what}.`,
      ...replaced.map((folder) => `What was there before lies in ${folder}; remove it when it is of no use.`),
    ]
    return {
      text: lines,
      data: { restored: !check, path, backup: about, tenants, blobs, replaced },
    }
  },
}
