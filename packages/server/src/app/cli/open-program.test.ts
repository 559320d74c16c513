import { readdir, readFile, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { closedPort } from '#harness/addresses.ts'
import { CommandLine } from '#harness/command-line.ts'
import { openDatabase } from '#infra/db/index.ts'

const needServer = [
  ['tenant', 'suspend', 'a.localhost'],
  ['tenant', 'resume', 'a.localhost'],
  ['tenant', 'purge', 'a.localhost', '--yes'],
  ['tenant', 'password', 'a.localhost'],
  ['ref', 'create', 'invite'],
  ['keys', 'rotate', 'a.localhost'],
  ['export', 'a.localhost', '--to', '/dev/null/x'],
  ['blobs', 'verify'],
  ['blobs', 'migrate', '--to', 'file:/dev/null/x'],
]

describe('before the first start', () => {
  test.each(needServer)('kith %s %s makes nothing', async (...words) => {
    await using line = await CommandLine.open()
    expect(await line.fails(...words)).toEqual({
      exitCode: 1,
      code: 'E-STATE',
      message: `There is no server in ${line.dataDir} yet: the first start makes it (kith serve). If yours is elsewhere, run kith in its working directory, or set DATA_DIR.`,
    })
    expect(await readdir(line.folder)).toEqual([])
  })
})

test('a database that does not answer is named, without its password', async () => {
  await using line = await CommandLine.open({
    DATABASE_URL: `postgres://kith:secret-word@127.0.0.1:${closedPort}/people`,
  })
  const { exitCode, err } = await line.run(['tenant', 'list'])
  expect(exitCode).toBe(1)
  expect(err).toMatch(
    /^The database people of DATABASE_URL cannot be reached at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/,
  )
  expect(err).not.toContain('secret-word')
})

describe('a database of another version', () => {
  const later = { id: '9999_later', up: async () => undefined }
  const versions = { older: migrations.slice(0, -1), newer: [...migrations, later] }
  const files = new Map<string, Buffer>()
  beforeAll(async () => {
    await using place = await CommandLine.open()
    for (const [name, known] of Object.entries(versions)) {
      const path = `${place.folder}/${name}.db`
      await (await openDatabase({ url: `sqlite:${path}`, migrations: known })).close()
      files.set(name, await readFile(path))
    }
  })

  test.each([
    ['older', /^The database is that of an older version of the program\. .*kith migrate\n$/],
    [
      'newer',
      /^Another version of the program has changed the database \(9999_later\)\. Run the version that did, or .*\n$/,
    ],
  ])('that is %s is left alone', async (version, message) => {
    await using line = await CommandLine.open()
    const path = `${line.folder}/kith.db`
    await writeFile(path, files.get(version) ?? '')
    const other = line.with({ DATABASE_URL: `sqlite:${path}` })
    for (const words of [
      ['tenant', 'list'],
      ['tenant', 'create', 'a.localhost'],
      ['ref', 'create', 'invite'],
    ]) {
      const { exitCode, err } = await other.run(words)
      expect(exitCode).toBe(1)
      expect(err).toMatch(message)
    }
    expect(await readFile(path)).toEqual(files.get(version))
    expect(await readdir(line.folder)).toEqual(['kith.db'])
  })
})
