import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder, writeDurably } from '#lib/durable-file.ts'
import { unlessMissing } from '#lib/system-error.ts'

/** The last steps of a restore: from where the checked files lie to where they belong. */
export interface RestorePlan {
  /** In this order; what was there before is moved away first. Both ends of a move are in one file system. */
  readonly moves: readonly { readonly from: string; readonly to: string }[]
  /** Folders that are of no use afterwards. */
  readonly leftovers: readonly string[]
}

function planFile(dataDir: string): string {
  return join(dataDir, '.restoring.json')
}

/** Carries out the last steps of a restore, so that after a crash the next start carries on where they stopped. */
export async function carryOutRestore(dataDir: string, plan: RestorePlan): Promise<void> {
  await writeDurably(planFile(dataDir), JSON.stringify(plan))
  await finishRestore(dataDir)
}

/** Finishes a restore that was interrupted in its last steps, if there is one. */
export async function finishRestore(dataDir: string): Promise<void> {
  const text = await unlessMissing(readFile(planFile(dataDir), 'utf8'))
  if (text === undefined) return
  const { moves, leftovers }: RestorePlan = JSON.parse(text)
  for (const { from, to } of moves) {
    // Done before the interruption: what lies at `from` now may be the new file already.
    if ((await isThere(to)) || !(await isThere(from))) continue
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    await rename(from, to)
  }
  for (const folder of new Set(moves.map(({ to }) => dirname(to)))) await syncFolder(folder)
  for (const folder of leftovers) await rm(folder, { recursive: true, force: true })
  await rm(planFile(dataDir))
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}
