import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Clock } from '#lib/clock.ts'
import { UsageError } from '../command.ts'

/** The file of a new backup: what was given, or in a folder that was given one named after the time. */
export async function backupPlace(given: string, clock: Clock): Promise<string> {
  const path = resolve(given)
  const isFolder = await isDirectory(path)
  const folder = isFolder || given.endsWith('/') ? path : dirname(path)
  if (!isFolder && !(await isDirectory(folder)))
    throw new UsageError(`There is no folder ${folder}: make it first, then run the same command again`)
  if (!isFolder) return path
  const time = new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return join(path, `kith-${time}.tar`)
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false
}
