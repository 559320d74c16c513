import { randomUUID } from 'node:crypto'
import { copyFile, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '#lib/clock.ts'
import { syncFolder } from '#lib/durable-file.ts'
import { unlessMissing } from '#lib/system-error.ts'
import { listAssets, type WebBuild } from './web-build.ts'

/** The present build and the two before it: a page that is open asks for files of the build that it came with. */
const keptBuilds = 3
const idForm = /^[0-9a-f]{32}$/

/** The assets of a build in a folder of their own. */
export type KeptBuild = Pick<WebBuild, 'folder' | 'names'>

/** Copies the assets of a build to a folder of its own below `home`, and removes all builds but the newest. Answers those that
 * are there, the newest first. */
export async function keepBuild(
  build: WebBuild,
  { home, clock }: { readonly home: string; readonly clock: Clock },
): Promise<KeptBuild[]> {
  await mkdir(home, { recursive: true, mode: 0o700 })
  const folder = join(home, build.id)
  if (!(await listAssets(folder)).isSupersetOf(build.names)) await copyBuild(build, folder)
  // By it the newest are told from the others.
  const now = clock.now() / 1000
  await utimes(folder, now, now)
  const [kept, dropped] = await newestFirst(home, build.id)
  for (const name of dropped) await rm(join(home, name), { recursive: true, force: true })
  return await listKept(kept.map((name) => join(home, name)))
}

/** Under its name a folder is whole: a crash leaves a draft, which the next start removes. */
async function copyBuild({ folder: source, names }: WebBuild, folder: string): Promise<void> {
  const draft = `${folder}.${randomUUID()}`
  try {
    await mkdir(draft, { mode: 0o700 })
    for (const name of names) {
      await copyFile(join(source, name), join(draft, name))
      const file = await open(join(draft, name), 'r+')
      try {
        await file.chmod(0o600)
        await file.sync()
      } finally {
        await file.close()
      }
    }
    await syncFolder(draft)
    await rm(folder, { recursive: true, force: true })
    await rename(draft, folder)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  await syncFolder(join(folder, '..'))
}

/** What is to stay, and what is to go. */
async function newestFirst(home: string, presentId: string): Promise<[kept: string[], dropped: string[]]> {
  const names = await readdir(home)
  const dated = await Promise.all(
    names.map(async (name) => ({ name, time: (await unlessMissing(stat(join(home, name))))?.mtimeMs ?? 0 })),
  )
  const builds = dated
    .filter(({ name }) => idForm.test(name) && name !== presentId)
    .sort((a, b) => b.time - a.time)
    .map(({ name }) => name)
  const kept = [presentId, ...builds.slice(0, keptBuilds - 1)]
  return [kept, names.filter((name) => !kept.includes(name))]
}

function listKept(folders: readonly string[]): Promise<KeptBuild[]> {
  return Promise.all(folders.map(async (folder) => ({ folder, names: await listAssets(folder) })))
}
