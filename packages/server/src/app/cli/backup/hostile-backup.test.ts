import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { packTar, type TarHeader, unpackTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { findForeignSchema, openDatabase } from '#infra/db/index.ts'
import { migrations } from '../../migrations.ts'

type Entry = readonly [header: Partial<TarHeader> & { readonly name: string }, body: Buffer]

let source: CommandLine
let honest: readonly Entry[]
beforeAll(async () => {
  source = await CommandLine.open()
  await source.json('tenant', 'create', 'alice.localhost', '--password', 'correct horse battery')
  const path = join(source.folder, 'honest.tar')
  await source.json('backup', '--to', path, '--with-master-key')
  const entries = await unpackTar(await readFile(path))
  honest = entries.map(({ header, data }) => [{ name: header.name }, Buffer.from(data ?? [])])
})
afterAll(() => source[Symbol.asyncDispose]())

/** Packs these files as a backup and runs `kith restore` with it where there is no server yet. Answers how that
 * went, and checks that a backup that was refused has left no file behind. */
async function restore(entries: readonly Entry[]) {
  await using line = await CommandLine.open()
  await using folder = await temporary()
  const path = join(folder.path, 'hostile.tar')
  const packed = entries.map(([header, body]) => ({ header: { size: body.length, ...header }, body }))
  await writeFile(path, await packTar(packed as never))
  const { exitCode, out, err } = await line.run(['restore', path, '--json'])
  if (exitCode === 0) return { exitCode, tenants: (await line.json('tenant', 'list')).tenants.length }
  expect({ out, left: await readdir(line.folder) }).toEqual({ out: '', left: [] })
  return { exitCode, ...JSON.parse(err).error }
}

async function temporary() {
  const path = await mkdtemp(join(tmpdir(), 'kith-hostile-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

/** The files of the honest backup, but with a database that `change` has altered. The manifest names the size and the
 * hash of the altered database, as a forger would write them: only a look into the database itself can tell. */
async function withDatabase(change: (database: DatabaseSync) => void): Promise<readonly Entry[]> {
  await using folder = await temporary()
  const path = join(folder.path, 'kith.db')
  const bytesOf = (wanted: string) => honest.find(([{ name }]) => name === wanted)?.[1] ?? Buffer.alloc(0)
  await writeFile(path, bytesOf('kith.db'))
  const database = new DatabaseSync(path, { defensive: false })
  database.exec('pragma journal_mode = delete')
  change(database)
  database.close()
  const body = await readFile(path)
  const manifest = JSON.parse(bytesOf('manifest.json').toString())
  const sha256 = createHash('sha256').update(body).digest('hex')
  const changed = JSON.stringify({ ...manifest, database: { bytes: body.length, sha256 } })
  const bodies: Readonly<Record<string, Buffer>> = { 'kith.db': body, 'manifest.json': Buffer.from(changed) }
  return honest.map(([header, old]) => [header, bodies[header.name] ?? old])
}

/** Writes into the schema itself, where no statement leads. */
function rewriteSchema(statement: string) {
  return (database: DatabaseSync) =>
    database.exec(`pragma writable_schema = on; ${statement}; pragma writable_schema = off`)
}

const rewriteTable = (name: string, from: string, to: string) =>
  rewriteSchema(`update sqlite_schema set sql = replace(sql, '${from}', '${to}') where name = '${name}'`)

const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n'
const hostile: Readonly<Record<string, readonly [(database: DatabaseSync) => void, problem: string]>> = {
  'a trigger': [
    (db) =>
      db.exec(`create trigger evil after insert on sessions begin update tenants set created_at = 0; end`),
    'it has the trigger evil',
  ],
  'a view': [(db) => db.exec(`create view evil as ${endless}`), 'it has the view evil'],
  'a view in the place of a table': [
    (db) => db.exec(`drop table audit_log; create view audit_log as ${endless}`),
    'it has the view audit_log',
  ],
  'a view in the place of the list of migrations': [
    (db) => db.exec(`drop table kith_migrations; create view kith_migrations as ${endless}`),
    'it has the view kith_migrations',
  ],
  'a trigger on the list of migrations': [
    (db) => db.exec(`create trigger evil after insert on kith_migrations begin delete from audit_log; end`),
    'it has the trigger evil',
  ],
  'a column that is computed': [
    (db) => db.exec('alter table audit_log add column evil text as (hex(zeroblob(99))) virtual'),
    'its table audit_log is not that of this program',
  ],
  'an index over an expression': [
    (db) => db.exec('create index evil on audit_log (tenant_id + 1)'),
    'it has the index evil',
  ],
  'a virtual table': [(db) => db.exec('create virtual table evil using fts5(body)'), 'it has the table evil'],
  'a check': [
    rewriteTable('audit_log', 'tenant_id integer', 'tenant_id integer check (length(hex(zeroblob(99))) > 0)'),
    'its table audit_log is not that of this program',
  ],
  'another default': [
    rewriteTable('jobs', 'default 0', 'default 7'),
    'its table jobs is not that of this program',
  ],
  'another collation': [
    rewriteTable('tenants', 'id_tag text', 'id_tag text collate nocase'),
    'its table tenants is not that of this program',
  ],
  'statistics that are a view': [
    rewriteSchema(
      `insert into sqlite_schema values ('view', 'sqlite_stat1', 'sqlite_stat1', 0, 'create view sqlite_stat1 as ${endless}')`,
    ),
    'it has the view sqlite_stat1',
  ],
  'a line of the schema twice': [
    rewriteSchema(`insert into sqlite_schema select * from sqlite_schema where name = 'audit_log'`),
    'malformed database schema',
  ],
  'two tables in one place': [
    rewriteSchema(
      `update sqlite_schema set rootpage = (select rootpage from sqlite_schema where name = 'audit_log') where name = 'tenants'`,
    ),
    'its database is damaged',
  ],
  'no table': [(db) => db.exec('drop table audit_log'), 'it lacks the table audit_log'],
  'no list of migrations': [
    (db) => db.exec('drop table kith_migrations'),
    'it lacks the table kith_migrations',
  ],
}

describe('a backup of a stranger', () => {
  test('that is honest is restored, also after ANALYZE and VACUUM', async () => {
    expect(await restore(honest)).toEqual({ exitCode: 0, tenants: 1 })
    const tidied = await withDatabase((db) => db.exec('analyze; vacuum'))
    expect(await restore(tidied)).toEqual({ exitCode: 0, tenants: 1 })
  })

  test.each(Object.entries(hostile))('whose database has %s is refused', async (_, [change, problem]) => {
    const refused = await restore(await withDatabase(change))
    expect(refused).toMatchObject({ exitCode: 1, code: 'E-VALIDATION' })
    expect(refused.message).toContain(problem)
  })

  test('whose database no bytes of ours would be compared in is refused', async () => {
    await using folder = await temporary()
    const path = join(folder.path, 'utf16.db')
    const database = new DatabaseSync(path)
    database.exec(`pragma encoding = 'UTF-16le'; create table some (id integer)`)
    database.close()
    const place = { migrations, scratchPath: join(folder.path, 'made') }
    expect(await findForeignSchema(path, place)).toBe('it keeps texts as UTF-16le')
    await writeFile(path, 'no database at all, but long enough to look like one'.repeat(100))
    expect(await findForeignSchema(path, place)).toBe('file is not a database')
  })

  test('holds each file once, plain and under its own name', async () => {
    const twice = (name: string) =>
      honest.flatMap((entry) => (entry[0].name === name ? [entry, entry] : [entry]))
    const before = (entry: Entry) => [...honest.slice(0, 1), entry, ...honest.slice(1)]
    const link = (type: string, name: string) =>
      [{ name, type, linkname: '/etc/passwd' } as never, Buffer.alloc(0)] as const
    for (const entries of [
      twice('kith.db'),
      twice('master.key'),
      twice('about.json'),
      before(link('symlink', 'kith.db')),
      before(link('link', 'master.key')),
      before(link('character-device', 'blobs/1/x')),
      before([{ name: '/etc/cron.d/evil' }, Buffer.from('x')]),
      before([{ name: '../kith.db' }, Buffer.from('x')]),
      before([{ name: 'KITH.DB' }, Buffer.from('x')]),
      before([{ name: 'kith.db-wal' }, Buffer.from('x')]),
      before([{ name: `blobs/1/../${'a'.repeat(64)}` }, Buffer.from('x')]),
      before([{ name: `blobs/1/${'A'.repeat(64)}` }, Buffer.from('x')]),
    ])
      expect(await restore(entries)).toMatchObject({ exitCode: 1, code: 'E-VALIDATION' })
  })

  test('brings a master key only where it says so', async () => {
    const entries = honest.map(([header, body]): Entry => {
      if (header.name !== 'about.json') return [header, body]
      return [header, Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), withMasterKey: false }))]
    })
    expect((await restore(entries)).message).toContain('it holds a file master.key')
  })
})

test('a backup says of one’s own database what would be refused', async () => {
  await using line = await CommandLine.open()
  await line.json('tenant', 'create', 'alice.localhost', '--password', 'correct horse battery')
  const path = (name: string) => join(line.folder, name)
  expect((await line.json('backup', '--to', path('one.tar'))).warnings).toHaveLength(1)
  const database = new DatabaseSync(join(line.dataDir, 'kith.db'))
  database.exec('create index mine on audit_log (tenant_id)')
  database.close()
  const { warnings } = await line.json('backup', '--to', path('two.tar'))
  expect(warnings[1]).toContain('refuses its database: it has the index mine.')
})

test('the databases of all former versions are known', async () => {
  await using folder = await temporary()
  for (const [at] of migrations.entries()) {
    const path = join(folder.path, `${at}.db`)
    const database = await openDatabase({ url: `sqlite:${path}`, migrations: migrations.slice(0, at) })
    await database.close()
    const scratchPath = join(folder.path, `${at}.made`)
    expect(await findForeignSchema(path, { migrations, scratchPath })).toBeUndefined()
  }
})
