import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { getAuditLog } from '@kith/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import type { CommandLine } from '#harness/command-line.ts'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import type { TestServer } from '#harness/test-server.ts'

const baseTag = 'home.localhost'
const aliceTag = 'alice.localhost'
const by = 'command line'

let beside: LineBesideServer
let line: CommandLine
let server: TestServer
let copies = 0
/** Where the next copy goes. */
let path: string

beforeAll(async () => {
  beside = await openLineBesideServer()
  ;({ line, server } = beside)
  await server.createTenant(aliceTag)
})
afterAll(() => beside?.[Symbol.asyncDispose]())

beforeEach(() => {
  copies += 1
  path = join(line.folder, `copy-${copies}.tar`)
})

/** What the trail of a tenant says of copies, the newest first. */
async function notedOf(idTag: string) {
  const { data } = await (await server.as(idTag)).call(getAuditLog, { query: { limit: 100 } })
  return data.flatMap(({ event, details }) =>
    event === 'tenant.exported' || event === 'server.backed-up' ? [{ event, ...details }] : [],
  )
}

/** Runs statements on the database of the server. */
function tamper(statements: string): void {
  using database = new DatabaseSync(join(line.dataDir, 'kith.db'))
  database.exec(statements)
}

describe('beside a running server', () => {
  test.each([
    [false, []],
    [true, ['--with-keys']],
  ])('an export stands in both trails: withKeys %s', async (withKeys, options) => {
    await line.json('export', aliceTag, '--to', path, ...options)
    const entry = { event: 'tenant.exported', withKeys, by }
    expect((await notedOf(aliceTag))[0]).toEqual(entry)
    expect((await notedOf(baseTag))[0]).toEqual({ ...entry, tenant: aliceTag })
  })

  test.each([
    [false, []],
    [true, ['--with-master-key']],
  ])('a backup stands in the trail of the base tenant: withMasterKey %s', async (withMasterKey, options) => {
    const ofAlice = await notedOf(aliceTag)
    const { err } = await line.run(['backup', '--to', path, ...options])
    expect(err).toBe('')
    expect((await notedOf(baseTag))[0]).toEqual({ event: 'server.backed-up', withMasterKey, by })
    expect(await notedOf(aliceTag)).toEqual(ofAlice)
  })

  test('nothing is noted of a copy that was not made', async () => {
    const before = [await notedOf(aliceTag), await notedOf(baseTag)]
    const signal = AbortSignal.abort(new Error('enough'))
    for (const words of [['export', aliceTag, '--with-keys'], ['backup']])
      expect(await line.run([...words, '--to', path], { signal })).toMatchObject({ exitCode: 1 })
    expect([await notedOf(aliceTag), await notedOf(baseTag)]).toEqual(before)
  })
})

describe('a copy is good where it cannot be noted', () => {
  const commands = [
    ['export', aliceTag, '--with-keys'],
    ['backup', '--with-master-key'],
  ]

  test.each(commands)('%s', async (...words) => {
    const before = [await notedOf(aliceTag), await notedOf(baseTag)]
    tamper(`create trigger full before insert on audit_log begin select raise(abort, 'no room'); end`)
    const { exitCode, out, err } = await line.run([...words, '--to', path])
    tamper('drop trigger full')
    expect({ exitCode, err }).toEqual({
      exitCode: 0,
      err: expect.stringMatching(/^The audit trail does not tell of this: .*no room.*\n$/),
    })
    expect(out).toContain(path)
    expect((await stat(path)).size).toBeGreaterThan(0)
    expect([await notedOf(aliceTag), await notedOf(baseTag)]).toEqual(before)
  })

  test('as in the database of an older version, into which a backup writes nothing', async () => {
    const before = await notedOf(baseTag)
    const last = { position: migrations.length, id: migrations.at(-1)?.id }
    tamper(`delete from kith_migrations where id = '${last.id}'`)
    const { exitCode, err } = await line.run(['backup', '--to', path])
    tamper(
      `insert into kith_migrations (position, id, applied_at) values (${last.position}, '${last.id}', 0)`,
    )
    expect({ exitCode, err }).toEqual({
      exitCode: 0,
      err: 'The audit trail does not tell of this: The database is that of another version of the program.\n',
    })
    expect(await notedOf(baseTag)).toEqual(before)
    expect(await readdir(line.folder)).toContain(`copy-${copies}.tar`)
  })
})
