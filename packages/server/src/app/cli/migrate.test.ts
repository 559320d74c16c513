import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { CommandLine } from '#harness/command-line.ts'
import { openDatabase } from '#infra/db/index.ts'

const ids = migrations.map(({ id }) => id)

test('makes the tables of a new server, and then has nothing to do', async () => {
  await using line = await CommandLine.open()
  expect(await line.json('migrate')).toEqual({ applied: ids, migrations: ids })
  expect(await line.json('migrate')).toEqual({ applied: [], migrations: ids })
  expect((await line.run(['migrate'])).out).toBe('The database is up to date.\n')
})

test('brings an older database up to date', async () => {
  await using line = await CommandLine.open()
  const url = `sqlite:${line.folder}/kith.db`
  await (await openDatabase({ url, migrations: migrations.slice(0, -2) })).close()
  const { exitCode, out } = await line.with({ DATABASE_URL: url }).run(['migrate'])
  expect(exitCode).toBe(0)
  expect(out).toMatch(
    new RegExp(
      `^Applied: ${ids.slice(-2).join(', ')}\\.\nThe database as it was before is in \\S+/before-upgrade/kith-\\d{8}T\\d{6}Z-${ids.at(-3)}\\.db\\.\n$`,
    ),
  )
})

test('makes no copy where that is asked for', async () => {
  await using line = await CommandLine.open()
  const url = `sqlite:${line.folder}/kith.db`
  await (await openDatabase({ url, migrations: migrations.slice(0, -1) })).close()
  expect(await line.with({ DATABASE_URL: url }).json('migrate', '--without-copy')).toEqual({
    applied: ids.slice(-1),
    migrations: ids,
  })
  expect(await readdir(line.folder)).not.toContain('before-upgrade')
})

test('refuses a database that a newer program has changed', async () => {
  await using line = await CommandLine.open()
  const url = `sqlite:${line.folder}/kith.db`
  const later = { id: '9999_later', up: async () => undefined }
  await (await openDatabase({ url, migrations: [...migrations, later] })).close()
  expect(await line.with({ DATABASE_URL: url }).run(['migrate'])).toEqual({
    exitCode: 1,
    out: '',
    err: 'Another version of the program has changed the database (9999_later). Run the version that did, or restore a backup of this version; what was written since is lost then (docs/operations/upgrade.md).\n',
  })
})
