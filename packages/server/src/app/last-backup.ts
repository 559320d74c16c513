import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '#lib/durable-file.ts'
import { unlessMissing } from '#lib/system-error.ts'

const fileOf = (dataDir: string) => join(dataDir, 'last-backup')

/** Notes that a backup was made, for the running server to tell. */
export async function noteBackup(dataDir: string, atMs: number): Promise<void> {
  await writeDurably(fileOf(dataDir), `${new Date(atMs).toISOString()}\n`)
}

/** When the last backup was made, in Unix milliseconds; undefined where none is known. */
export async function findLastBackup(dataDir: string): Promise<number | undefined> {
  const text = await unlessMissing(readFile(fileOf(dataDir), 'utf8'))
  const atMs = Date.parse(text?.trim() ?? '')
  return Number.isNaN(atMs) ? undefined : atMs
}
