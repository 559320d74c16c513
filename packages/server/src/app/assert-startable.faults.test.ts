import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { skipSuite } from '#harness/skip-suite.ts'
import { canMount, onSmallDisk } from '#harness/small-disk.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-folders-'))
  // Other users may enter it, but not what the tests put into it.
  await chmod(folder, 0o755)
})
afterAll(() => rm(folder, { recursive: true }))

/** A command that looks, and prints what it has found. `before` is done when the sources are loaded. */
const look = (path: string, before = '') => [
  process.execPath,
  '--input-type=module',
  '--eval',
  `import { findFolderTrouble } from ${JSON.stringify(import.meta.resolve('../infra/disk/folder-trouble.ts'))}
   ${before}
   console.log(JSON.stringify((await findFolderTrouble(${JSON.stringify(path)})) ?? null))`,
]

async function foundBy([program = '', ...args]: readonly string[]) {
  return JSON.parse((await promisify(execFile)(program, args)).stdout)
}

// The user `nobody` has this id on every Linux. It may not be able to read the sources, which may lie in a folder of root.
const becomeNobody = 'process.setgroups([]); process.setgid(65_534); process.setuid(65_534)'

if (process.getuid?.() !== 0) skipSuite('folders that are closed to a user', 'needs root, to be another user')
else
  describe('to a user without rights', () => {
    const asNobody = (path: string) => foundBy(look(path, becomeNobody))

    test.each([
      ['that may not be looked into', 0o700],
      ['that may be read alone', 0o755],
      ['that may be written, but not listed', 0o773],
    ])('a folder %s is closed', async (_, mode) => {
      const path = join(folder, `closed-${mode}`)
      await mkdir(path)
      await chmod(path, mode)
      expect(await asNobody(path)).toEqual({ path, why: 'is closed to this user (EACCES)' })
    })

    test('a folder below one that is closed is told by that one', async () => {
      const path = join(folder, 'shut/data')
      await mkdir(path, { recursive: true })
      await chmod(join(folder, 'shut'), 0o700)
      expect(await asNobody(path)).toEqual({ path, why: 'is closed to this user (EACCES)' })
    })

    test('a folder with one of another user in it is told by that one', async () => {
      const path = join(folder, 'mixed')
      await mkdir(join(path, 'blobs'), { recursive: true })
      await chmod(path, 0o777)
      await chmod(join(path, 'blobs'), 0o700)
      const why = 'is closed to this user (EACCES)'
      expect(await asNobody(path)).toEqual({ path: join(path, 'blobs'), why })
    })
  })

if (!canMount()) skipSuite('file systems that take nothing', 'needs the right to mount')
else
  describe('on a file system', () => {
    const onDisk = async (prepare: string) => {
      const path = join(folder, 'disk')
      await mkdir(path, { recursive: true })
      return await foundBy(onSmallDisk(path, 1, ['sh', '-c', `${prepare} && exec "$@"`, path, ...look(path)]))
    }

    test('that is read-only it is told', async () => {
      expect(await onDisk('mount -o remount,ro "$0"')).toEqual({
        path: join(folder, 'disk'),
        why: 'is on a file system that cannot be written (EROFS)',
      })
    })

    test('that is full it is no trouble', async () => {
      expect(await onDisk('! dd if=/dev/zero of="$0"/ballast bs=64k 2>/dev/null')).toBeNull()
    })
  })
