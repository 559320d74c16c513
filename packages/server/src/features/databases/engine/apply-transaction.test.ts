import type { RtdbOperation } from '@kith/protocol'
import { expect, test } from 'vitest'
import { openDatabaseLab } from '#harness/database-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import type { TenantId } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { databasesMigrations } from '../databases-migrations.ts'
import { applyTransaction } from './apply-transaction.ts'
import { listChanges } from './list-changes.ts'
import { RtdbFailure } from './rtdb-failure.ts'
import { getDocument } from './run-query.ts'

// As it stands in paths.
const post = ['$', '{$post}'].join('')

const failure = (code: number) => expect.objectContaining({ name: 'RtdbFailure', code })

eachDialect('A transaction', (open) => {
  test('creates, merges, replaces and deletes in its order', async () => {
    const lab = await openDatabaseLab(open)
    const made = await lab.write({
      type: 'create',
      path: '/posts/',
      data: { id: 'x', title: 'A' },
      ref: '$post',
    })
    const [{ id } = { id: null }] = made.results
    expect(made).toEqual({
      seq: 1,
      isRepeated: false,
      results: [{ ref: '$post', id: expect.stringMatching(/^[0-9A-Za-z]{24}$/) }],
      changes: [{ action: 'create', path: `posts/${id}`, after: { id, title: 'A' }, keys: ['title'] }],
    })
    const path = `posts/${id}`
    const done = await lab.write(
      { type: 'update', path, data: { title: null, 'a.b': 1, a2: { x: 1 }, id: 'y' } },
      { type: 'update', path, data: { 'a.b': null, 'a.c': [1], a2: { y: 2 }, 'gone.deep': null } },
      { type: 'replace', path: 'posts/own', data: { n: 1 } },
      { type: 'replace', path: 'posts/own', data: { m: null } },
      { type: 'delete', path: 'posts/own' },
      { type: 'delete', path: 'posts/never' },
    )
    expect(done.results.map((it) => it.id)).toEqual([id, id, 'own', 'own', null, null])
    expect(done.changes.map(({ action, keys }) => [action, keys])).toEqual([
      ['update', ['title', 'a', 'a2']],
      ['update', ['a', 'a2']],
      ['create', ['n']],
      ['update', ['n', 'm']],
      ['delete', ['m']],
    ])
    expect(await lab.get(path)).toEqual({ id, a: { c: [1] }, a2: { y: 2 } })
    expect(await lab.get('posts/own')).toBeUndefined()
    const logged = await listChanges(lab.deps, lab, 1)
    expect(logged).toEqual({ isComplete: true, changes: [{ seq: 2, changes: done.changes }] })
  })

  test('updates a document that is not there: it is made of the data', async () => {
    const lab = await openDatabaseLab(open)
    const data = {
      ...{ n: { $op: 'increment' }, 'a.b.c': 1, 'a.d': { x: null }, gone: null, 'e.f': null },
      ...{ id: 'other', same: { $fn: 'uppercase', args: [{ $field: 'name' }] }, name: 'x' },
    }
    const { results, changes } = await lab.write(
      { type: 'update', path: 'a/new', data },
      { type: 'update', path: 'a/empty', data: {} },
      { type: 'delete', path: 'a/empty' },
      { type: 'update', path: 'a/empty', data: { n: 2 } },
    )
    expect(results[0]).toEqual({ ref: null, id: 'new' })
    expect(await lab.get('a/new')).toEqual({
      ...{ id: 'new', n: 1, a: { b: { c: 1 }, d: { x: null } }, same: 'X', name: 'x' },
    })
    expect(await lab.get('a/empty')).toEqual({ id: 'empty', n: 2 })
    expect(changes.map(({ action, path }) => `${action} ${path}`)).toEqual([
      ...['create a/new', 'create a/empty', 'delete a/empty', 'create a/empty'],
    ])
  })

  test('removes by null also what is null', async () => {
    const lab = await openDatabaseLab(open)
    await lab.write({ type: 'replace', path: 'a/b', data: { gone: null, kept: null } })
    const kept = { $op: 'setIfNotExists', value: 1 }
    await lab.write({ type: 'update', path: 'a/b', data: { gone: null, kept } })
    expect(await lab.get('a/b')).toEqual({ id: 'b', kept: null })
  })

  test('has an end to what its computed values read', async () => {
    const lab = await openDatabaseLab(open)
    await lab.write({
      type: 'replace',
      path: 'a/b',
      data: { text: 'x'.repeat(900_000), gone: [1, { b: 2, a: 1 }, 3] },
    })
    const many = (value: object) =>
      Object.fromEntries(Array.from({ length: 1200 }, (_, at) => [`f${at}`, value]))
    const readings = [
      { $fn: 'length', args: [{ $field: 'text' }] },
      { $query: 'count', path: 'a' },
    ]
    for (const value of [...readings, { $query: 'exists', path: 'a/b', field: 'none' }])
      await expect(lab.write({ type: 'update', path: 'a/b', data: many(value) })).rejects.toEqual(
        failure(413),
      )
    const few = {
      length: readings[0],
      count: readings[1],
      gone: { $op: 'remove', values: [{ a: 1, b: 2 }, 3] },
    }
    await lab.write({ type: 'update', path: 'a/b', data: few })
    expect(await lab.get('a/b')).toMatchObject({ length: 900_000, count: 1, gone: [1] })
  })

  test('makes refs known to later paths', async () => {
    const lab = await openDatabaseLab(open)
    const { results } = await lab.write(
      { type: 'create', path: 'posts', data: {}, ref: '$post' },
      { type: 'create', path: `posts/${post}/comments`, data: { text: 'first' } },
      {
        type: 'update',
        path: `posts/${post}`,
        data: { n: { $query: 'count', path: `posts/${post}/comments` } },
      },
    )
    expect(await lab.query(`posts/${results[0]?.id}/comments`)).toEqual([
      { id: results[1]?.id, text: 'first' },
    ])
    expect(await lab.get(`posts/${results[0]?.id}`)).toMatchObject({ n: 1 })
  })

  test('does nothing at all when one operation fails', async () => {
    const lab = await openDatabaseLab(open)
    await lab.write({ type: 'replace', path: 'a/1', data: { n: 1 } })
    await expect(
      lab.write(
        { type: 'update', path: 'a/1', data: { n: 2 } },
        { type: 'create', path: 'a', data: {} },
        { type: 'update', path: 'a/other', data: { n: { $op: 'divide' } } },
      ),
    ).rejects.toEqual(failure(400))
    expect(await lab.query('a')).toEqual([{ id: '1', n: 1 }])
    expect((await lab.write()).seq).toBe(1)
  })

  test('that changes nothing has no number of its own', async () => {
    const lab = await openDatabaseLab(open)
    await lab.write({ type: 'replace', path: 'a/1', data: { n: 1, o: { x: 1, y: 2 } } })
    const again = await lab.write(
      { type: 'replace', path: 'a/1', data: { o: { y: 2, x: 1 }, n: 1.0 } },
      { type: 'update', path: 'a/1', data: { m: null } },
    )
    expect(again).toMatchObject({ seq: 1, changes: [] })
  })

  test('with a txId is done once for each account, for a day', async () => {
    const lab = await openDatabaseLab(open)
    const send = (account: string) =>
      applyTransaction(lab.deps, lab, {
        operations: [{ type: 'create', path: 'a', data: { by: account } }],
        txId: 't1',
        account,
      })
    const first = await send('alice')
    const second = await send('alice')
    expect(second).toEqual({ seq: 1, results: first.results, changes: [], isRepeated: true })
    expect((await send('bob')).isRepeated).toBe(false)
    expect(await lab.query('a')).toHaveLength(2)
    for (const txId of ['', 'x'.repeat(65), 'a\0', '\ud800'])
      await expect(
        applyTransaction(lab.deps, lab, { operations: [], txId, account: 'alice' }),
      ).rejects.toEqual(failure(400))
    lab.clock.advance(24 * 3600 * 1000)
    expect((await send('alice')).isRepeated).toBe(false)
    expect(await lab.query('a')).toHaveLength(3)
  })

  test('waits for others of its database, whatever process they run in', async () => {
    const lab = await openDatabaseLab(open)
    await lab.write({ type: 'replace', path: 'a/1', data: { n: 0 } })
    // On SQLite one process has the file.
    const other =
      open.dialect === 'sqlite' ? lab.db : await open.again(lab.db, { migrations: databasesMigrations })
    const operations = [{ type: 'update' as const, path: 'a/1', data: { n: { $op: 'increment' } } }]
    const increment = (_: unknown, index: number) =>
      applyTransaction({ ...lab.deps, db: index % 2 ? other : lab.db }, lab, { operations, account: 'alice' })
    const done = await Promise.all(Array.from({ length: 30 }, increment))
    expect(await lab.get('a/1')).toEqual({ id: '1', n: 30 })
    expect(done.map(({ seq }) => seq).toSorted((a, b) => a - b)).toEqual(done.map((_, index) => index + 2))
  })

  test('of a locked document does nothing', async () => {
    const lab = await openDatabaseLab(open)
    const asked: unknown[] = []
    const locked = applyTransaction(lab.deps, lab, {
      operations: [
        { type: 'create', path: 'a', data: {} },
        { type: 'update', path: 'a/1', data: {} },
      ] as RtdbOperation[],
      account: 'alice',
      assertUnlocked: async (_, paths) => {
        asked.push(...paths)
        throw new RtdbFailure(423, 'bob')
      },
    })
    await expect(locked).rejects.toEqual(failure(423))
    expect(asked).toEqual([expect.stringMatching(/^a\/\w{24}$/), 'a/1'])
    expect(await lab.query('a')).toEqual([])
  })

  test('keeps databases and tenants apart', async () => {
    const lab = await openDatabaseLab(open)
    await lab.write({ type: 'replace', path: 'a/1', data: {} })
    const elsewhere = { ...lab, tenantId: 2 as TenantId }
    expect((await getDocument(lab.deps, elsewhere, 'a/1')).document).toBeUndefined()
  })

  test('takes any names and texts', async () => {
    const lab = await openDatabaseLab(open)
    const data = JSON.parse(
      `{"__proto__":{"x":1},"constructor":"c","a'\\"; drop table rtdb_documents --":1,"nul":"\\u0000","😀":"\\uffff"}`,
    )
    const path = `__proto__/'"; drop table rtdb_documents --😀`
    await lab.write({ type: 'replace', path, data }, { type: 'update', path, data: { '__proto__.y': 2 } })
    expect(JSON.stringify(await lab.get(path))).toBe(
      `{"id":"'\\"; drop table rtdb_documents --😀","__proto__":{"x":1,"y":2},"constructor":"c","a'\\"; drop table rtdb_documents --":1,"nul":"\\u0000","😀":"\uffff"}`,
    )
    expect((Object.prototype as { y?: number }).y).toBeUndefined()
  })

  test('takes the longest paths', async () => {
    const lab = await openDatabaseLab(open)
    const path = Array.from({ length: 16 }, () => '😀'.repeat(128)).join('/')
    await lab.write({ type: 'replace', path, data: { n: 1 } })
    expect(await lab.get(path)).toMatchObject({ n: 1 })
    expect(await lab.query(path.slice(0, path.lastIndexOf('/')))).toHaveLength(1)
  })
})

eachDialect('Operations', (open) => {
  test.each<[string, number, object]>([
    ['an unknown type', 400, { type: 'upsert', path: 'a/1', data: {} }],
    ['no path', 400, { type: 'delete' }],
    ['a collection to delete', 400, { type: 'delete', path: 'a' }],
    ['a document to create in', 400, { type: 'create', path: 'a/1', data: {} }],
    ['no data', 400, { type: 'replace', path: 'a/1' }],
    ['an array as data', 400, { type: 'replace', path: 'a/1', data: [] }],
    ['a malformed ref', 400, { type: 'create', path: 'a', data: {}, ref: 'post' }],
    ['an unknown ref', 400, { type: 'delete', path: `a/${post}` }],
    ['half a character', 400, { type: 'replace', path: 'a/1', data: { x: '\ud800' } }],
    ['half a character as a name', 400, { type: 'replace', path: 'a/1', data: { '\udfff': 1 } }],
    ['a number beyond all', 400, { type: 'replace', path: 'a/1', data: JSON.parse('{"x":1e999}') }],
    ['a field without a name', 400, { type: 'update', path: 'a/one', data: { 'x..y': 1 } }],
    ['too much', 413, { type: 'replace', path: 'a/1', data: { x: 'x'.repeat(1024 ** 2) } }],
    ['too deep', 400, { type: 'update', path: 'a/one', data: { [Array(65).fill('x').join('.')]: 1 } }],
    [
      'far too deep',
      400,
      { type: 'replace', path: 'a/1', data: { x: JSON.parse('['.repeat(1e5) + ']'.repeat(1e5)) } },
    ],
  ])('with %s are refused with %d', async (_, code, operation) => {
    const lab = await openDatabaseLab(open)
    await lab.write({ type: 'replace', path: 'a/one', data: {} })
    await expect(lab.write(operation)).rejects.toEqual(failure(code))
  })

  test('leave a document with 20 000 different names of members at most', async () => {
    const lab = await openDatabaseLab(open)
    const named = (prefix: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, { x: 1, y: 2 }]))
    await lab.write({ type: 'replace', path: 'a/1', data: named('a', 19_997) })
    await lab.write({ type: 'update', path: 'a/1', data: { z: 1 } })
    await expect(lab.write({ type: 'update', path: 'a/1', data: { q: 1 } })).rejects.toEqual(failure(413))
    const list = Array.from({ length: 3 }, () => named('b', 10_000))
    await lab.write({ type: 'replace', path: 'a/2', data: { list } })
    expect(await lab.get('a/2')).toEqual({ id: '2', list })
  })

  test('touch 64 MiB of documents at most', async () => {
    const lab = await openDatabaseLab(open)
    const paths = Array.from({ length: 66 }, (_, at) => `a/${at}`)
    const replace = (path: string) => ({ type: 'replace', path, data: { x: 'x'.repeat(1024 ** 2 - 100) } })
    for (const from of [0, 33]) await lab.write(...paths.slice(from, from + 33).map(replace))
    const deletions = paths.map((path) => ({ type: 'delete', path }))
    await expect(lab.write(...deletions)).rejects.toEqual(failure(413))
    expect(await lab.query('a', { select: [] })).toHaveLength(66)
    const changes = paths.slice(0, 31).map((path) => ({ type: 'update', path, data: { n: 1 } }))
    await lab.write(...changes)
    const larger = paths.slice(0, 33).map((path) => ({ type: 'update', path, data: { n: 2 } }))
    await expect(lab.write(...larger)).rejects.toEqual(failure(413))
    await lab.write(...deletions.slice(0, 60))
    expect(await lab.query('a', { select: [] })).toHaveLength(6)
  })

  test('are 500 at most', async () => {
    const lab = await openDatabaseLab(open)
    const operations = Array.from({ length: 501 }, () => ({ type: 'create', path: 'many', data: {} }))
    await expect(lab.write(...operations)).rejects.toEqual(failure(400))
    await lab.write(...operations.slice(1))
    expect(await lab.query('many')).toHaveLength(500)
  })

  test('count every 64 KiB, and a full quota refuses them', async () => {
    const lab = await openDatabaseLab(open)
    const { counted, write } = lab
    await write({ type: 'replace', path: 'q/1', data: { x: 'x'.repeat(60_000) } })
    const before = counted.reduce((sum, { bytes }) => sum + bytes, 0)
    await write({ type: 'replace', path: 'q/2', data: { x: 'x'.repeat(200_000) } })
    const after = counted.reduce((sum, { bytes }) => sum + bytes, 0)
    expect(after - before).toBeGreaterThan(200_000)
    await write({ type: 'delete', path: 'q/2' })
    expect(counted.at(-1)?.bytes).toBe(-200_011)
    const full = { ...lab.deps, countContent: async () => Promise.reject(new Failure('E-QUOTA')) }
    const large = { type: 'replace' as const, path: 'q/3', data: { x: 'x'.repeat(200_000) } }
    await expect(applyTransaction(full, lab, { operations: [large], account: 'alice' })).rejects.toEqual(
      failure(413),
    )
    expect(await lab.get('q/3')).toBeUndefined()
  })
})
