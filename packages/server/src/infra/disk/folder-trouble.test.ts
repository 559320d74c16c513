import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findFolderTrouble } from './folder-trouble.ts'

test('looks at the same folder at the same time do not find each other', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kith-trouble-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const looks = Array.from({ length: 200 }, (_, at) =>
    findFolderTrouble(at % 2 === 0 ? folder : join(folder, 'blobs')),
  )
  expect((await Promise.all(looks)).filter((trouble) => trouble !== undefined)).toEqual([])
  expect(await readdir(folder)).toEqual([])
})
