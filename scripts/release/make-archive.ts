import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The release of this repository that the trials try. */
    archive: string
  }
}

/** Makes the release once for all trials, as docs/operations/upgrade.md has it. */
export default async function makeArchive(project: TestProject): Promise<() => Promise<void>> {
  const root = resolve(import.meta.dirname, '../..')
  const folder = await mkdtemp(join(tmpdir(), 'kith-archive-'))
  const words = ['run', '--silent', 'release', '--', '--out', folder]
  const { stdout } = await promisify(execFile)('npm', words, { cwd: root })
  project.provide('archive', resolve(root, stdout.trim().split('\n').at(-1) ?? ''))
  return () => rm(folder, { recursive: true, force: true })
}
