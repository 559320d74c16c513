import { encodeCursor } from '@kith/protocol'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { Failure } from '#lib/failure.ts'
import { type Database, keysetPage, type Migration, serverTenant } from './index.ts'

interface PostTables {
  posts: { tenant_id: number; post_id: string; created_at: number; title: string | null; score: number }
}

const migrations: Migration[] = [
  {
    id: '0001_posts',
    async up(schema) {
      await schema.createTable(
        'posts',
        { tenant_id: 'integer', post_id: 'text', created_at: 'integer', title: 'text null', score: 'real' },
        { primaryKey: ['tenant_id', 'post_id'] },
      )
      await schema.createIndex('posts_by_created', 'posts', ['tenant_id', 'created_at', 'post_id'])
    },
  },
]

const byCreated = {
  sort: 'created',
  column: 'posts.created_at',
  kind: 'integer',
  idColumn: 'posts.post_id',
  idKind: 'text',
} as const
const byTitle = {
  ...byCreated,
  sort: 'title',
  column: 'posts.title',
  kind: 'text',
  isNullable: true,
} as const
const byScore = { ...byCreated, sort: 'score', column: 'posts.score', kind: 'real' } as const
const orders = [byCreated, byTitle, byScore]

type Post = Omit<PostTables['posts'], 'tenant_id'>

const insert = (db: Database, posts: readonly Post[]) =>
  db.transact(serverTenant, async (tx) => {
    for (const post of posts)
      await tx
        .tables<PostTables>()
        .insertInto('posts')
        .values({ tenant_id: 0, ...post })
        .execute()
  })
const page = (
  db: Database,
  order: (typeof orders)[number],
  request: { direction: 'asc' | 'desc'; cursor?: string | undefined; limit: number },
) => {
  const query = db
    .reader(serverTenant)
    .tables<PostTables>()
    .selectFrom('posts')
    .select('post_id')
    .where('tenant_id', '=', 0)
  return keysetPage(query, order, request)
}

// Few distinct values, so that many rows are equal in the sort column.
const somePost = fc.record({
  created_at: fc.integer({ min: -2, max: 2 }),
  title: fc.option(fc.constantFrom('', 'a', 'B', 'é', '🙂'), { nil: null }),
  score: fc.constantFrom(-0.5, 0, 0.1, 1e300),
})
const someIds = fc.uniqueArray(fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 3 }), {
  maxLength: 12,
})

eachDialect('keysetPage', (open) => {
  test('walked while rows come in, shows every old row once and in order', async () => {
    const db = await open({ migrations })
    const property = fc.asyncProperty(
      someIds.chain((ids) =>
        fc.tuple(...ids.map((id) => somePost.map((post) => ({ post_id: id, ...post })))),
      ),
      fc.array(somePost, { maxLength: 12 }),
      fc.constantFrom(...orders),
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.integer({ min: 1, max: 5 }),
      async (old, coming, order, direction, limit) => {
        await db.transact(serverTenant, (tx) => tx.tables<PostTables>().deleteFrom('posts').execute())
        await insert(db, old)
        const seen: string[] = []
        let cursor: string | undefined
        for (let turn = 0; ; turn += 1) {
          const { items, nextCursor } = await page(db, order, { direction, cursor, limit })
          expect(items.length).toBeLessThanOrEqual(limit)
          seen.push(...items.map(({ post_id }) => post_id))
          if (nextCursor === null) break
          cursor = nextCursor
          const next = coming[turn]
          if (next) await insert(db, [{ post_id: `new-${turn}`, ...next }])
        }
        const seenOld = seen.filter((id) => !id.startsWith('new-'))
        expect(new Set(seen).size).toBe(seen.length)
        expect(seenOld).toEqual(sorted(old, order.sort, direction))
      },
    )
    await fc.assert(property, { numRuns: open.runs(15) })
  })

  test('answers the columns that were asked for and no others', async () => {
    const db = await open({ migrations })
    await insert(db, [{ post_id: 'a', created_at: 1, title: null, score: 0 }])
    expect(await page(db, byCreated, { direction: 'asc', limit: 1 })).toStrictEqual({
      items: [{ post_id: 'a' }],
      nextCursor: null,
    })
  })

  test('has no next page after a last page that is full', async () => {
    const db = await open({ migrations })
    await insert(
      db,
      ['a', 'b'].map((post_id) => ({ post_id, created_at: 1, title: null, score: 0 })),
    )
    const first = await page(db, byCreated, { direction: 'desc', limit: 1 })
    expect(first.items).toEqual([{ post_id: 'b' }])
    const second = await page(db, byCreated, { direction: 'desc', limit: 1, cursor: first.nextCursor! })
    expect(second).toEqual({ items: [{ post_id: 'a' }], nextCursor: null })
  })

  test.each([
    ['of another order', encodeCursor({ s: 'title', v: 'x', id: 'a' })],
    ['with a text for a number', encodeCursor({ s: 'created', v: 'x', id: 'a' })],
    ['with a fraction for an integer', encodeCursor({ s: 'created', v: 1.5, id: 'a' })],
    ['without a value', encodeCursor({ s: 'created', v: null, id: 'a' })],
    ['with a number for an id', encodeCursor({ s: 'created', v: 1, id: 1 })],
    ['with a NUL', encodeCursor({ s: 'created', v: 1, id: 'a\0' })],
    ['that is none', 'x'],
  ])('refuses a cursor %s', async (_name, cursor) => {
    const db = await open({ migrations })
    const asked = page(db, byCreated, { direction: 'asc', limit: 1, cursor })
    await expect(asked).rejects.toBeInstanceOf(Failure)
    await expect(asked).rejects.toMatchObject({
      code: 'E-VALIDATION',
      details: { issues: [{ path: '/query/cursor' }] },
    })
  })
})

function sorted(posts: readonly Post[], sort: string, direction: 'asc' | 'desc'): string[] {
  const sortValue = (post: Post) =>
    sort === 'created' ? post.created_at : sort === 'title' ? post.title : post.score
  const sign = direction === 'asc' ? 1 : -1
  return posts
    .toSorted((a, b) => sign * (compare(sortValue(a), sortValue(b)) || compare(a.post_id, b.post_id)))
    .map(({ post_id }) => post_id)
}

function compare(a: string | number | null, b: string | number | null): number {
  if (a === b) return 0
  if (a === null) return -1
  if (b === null) return 1
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}
