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
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: `Applied: ${ids.slice(-2).join(', ')}.\n` })
})

test('refuses a database that a newer program has changed', async () => {
  await using line = await CommandLine.open()
  const url = `sqlite:${line.folder}/kith.db`
  const later = { id: '9999_later', up: async () => undefined }
  await (await openDatabase({ url, migrations: [...migrations, later] })).close()
  expect(await line.with({ DATABASE_URL: url }).run(['migrate'])).toEqual({
    exitCode: 1,
    out: '',
    err: 'Another version of the program has changed the database (9999_later): run that version.\n',
  })
})
