import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { readConfig } from '#infra/config/index.ts'
import { findFolderTrouble } from '#infra/disk/index.ts'
import { assertStartable } from './assert-startable.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-folders-'))
  await writeFile(join(folder, 'file'), '')
})
afterAll(() => rm(folder, { recursive: true }))

describe('a folder', () => {
  test('that is there or can be made is no trouble, and nothing is left in it', async () => {
    expect(await findFolderTrouble(folder)).toBeUndefined()
    expect(await findFolderTrouble(join(folder, 'a/b'))).toBeUndefined()
    expect(await readdir(folder)).toEqual(['file'])
  })

  test('in the place of a file, or below one, is told', async () => {
    const path = join(folder, 'file')
    expect(await findFolderTrouble(path)).toEqual({ path, why: 'is no directory' })
    expect(await findFolderTrouble(join(path, 'a/b'))).toEqual({ path, why: 'is no directory' })
  })

  test('that cannot be made, such as one in /proc, is told at once', async () => {
    expect(await findFolderTrouble('/proc/nope')).toEqual({
      path: '/proc',
      why: 'takes nothing new (ENOENT)',
    })
  })
})

test('serve refuses a certificate of an authority that is none, and makes nothing', async () => {
  const made = join(folder, 'made')
  for (const [caFile, why] of [
    [join(folder, 'none.pem'), 'cannot be read (ENOENT)'],
    [join(folder, 'file'), 'has no certificate in PEM form'],
  ] as const) {
    const env = { TLS: 'acme', LISTEN: '127.0.0.1:0', LISTEN_TLS: '127.0.0.1:0', ACME_CA_FILE: caFile }
    await using line = await CommandLine.open({ ...env, BASE_ID_TAG: 'home.example', DATA_DIR: made })
    expect(await line.run(['serve'])).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining(`ACME_CA_FILE ${why}: ${caFile}`),
    })
  }
  expect(await readdir(folder)).not.toContain('made')
})

test('serve refuses what is no folder, by the names of the variables, and ends', async () => {
  await using line = await CommandLine.open({ DATA_DIR: '/proc/nope' })
  const { exitCode, out, err } = await line.run(['serve'])
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' })
  expect(err).toContain('wrong:\n  DATA_DIR cannot be used: /proc takes nothing new (ENOENT)\n')
  const env = { DATABASE_URL: `sqlite:${folder}/file/kith.db`, BLOB_STORE: `file:${folder}/file` }
  await expect(assertStartable(readConfig({ DATA_DIR: join(folder, 'data'), ...env }))).rejects.toMatchObject(
    {
      problems: [{ variable: 'DATABASE_URL' }, { variable: 'BLOB_STORE' }],
    },
  )
})
