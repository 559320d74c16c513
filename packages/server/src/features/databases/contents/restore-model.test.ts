import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DatabaseLab, openContentsLab } from '#harness/database-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import type { DocumentChange } from '../engine/database.ts'
import { createIndex, type ReadDocument } from '../index.ts'
import { databaseContents } from './database-contents.ts'
import { takeSnapshot } from './take-snapshot.ts'

const limits = { maxFileBytes: 2 ** 40, maxStorageBytes: 0 }
const collections = ['a', 'b', 'a/1/c', '\uE000', '\u{1F600}']

/** Documents by their paths. */
type Model = Map<string, ReadDocument>

function follow(model: Model, changes: readonly DocumentChange[]): void {
  for (const { action, path, before, after } of changes) {
    // What a listener is told fits to what it knows.
    expect(model.get(path)).toEqual(before)
    expect(action).toBe(before ? (after ? 'update' : 'delete') : 'create')
    if (after) model.set(path, after)
    else model.delete(path)
  }
}

async function stateOf(lab: DatabaseLab): Promise<Model> {
  const state: Model = new Map()
  for (const path of collections)
    for (const document of (await lab.query(path)) as ReadDocument[])
      state.set(`${path}/${document.id}`, document)
  return state
}

const path = fc
  .tuple(fc.constantFrom(...collections), fc.constantFrom('1', '2', '3', '\uFFFD', '\u{1F601}'))
  .map(([collection, id]) => `${collection}/${id}`)
const data = fc.dictionary(
  fc.constantFrom('n', 'tags', 'x'),
  fc.constantFrom<unknown>(1, 2, 'x', ['a', 'b'], {}),
  {
    noNullPrototype: true,
  },
)
const operation = fc.oneof(
  fc.record({ type: fc.constant('replace'), path, data }),
  fc.record({ type: fc.constant('delete'), path }),
)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ write: fc.array(operation, { minLength: 1, maxLength: 6 }) }) },
  { weight: 1, arbitrary: fc.constant({ keep: true as const }) },
  { weight: 1, arbitrary: fc.record({ restore: fc.nat() }) },
)

eachDialect('Restoring a database', (open) => {
  test('makes it what it was then, and tells the difference', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 15 }), async (steps) => {
        const { lab, contents, told } = await openContentsLab(open)
        await createIndex(lab.deps, lab, { path: 'a', field: 'n' })
        await createIndex(lab.deps, lab, { path: 'a', field: 'tags' })
        const model: Model = new Map()
        const kept: { readonly seq: number; readonly state: Model }[] = []
        for (const each of steps) {
          if ('write' in each) follow(model, (await lab.write(...each.write)).changes)
          else if ('keep' in each) {
            const seq = await takeSnapshot(lab.deps, lab)
            kept.push({ seq: seq ?? -1, state: new Map(model) })
          } else if (kept.length > 0) {
            const then = kept[each.restore % kept.length]!
            told.length = 0
            await contents.restore({ ...lab, seq: then.seq, by: undefined, limits })
            for (const { changes } of told) follow(model, changes)
            expect(model).toEqual(then.state)
          }
        }
        expect(await stateOf(lab)).toEqual(model)
        const direct = [...model].filter(([at]) => /^a\/[^/]+$/.test(at)).map(([, document]) => document)
        const ids = (found: readonly unknown[]) => found.map((it) => (it as ReadDocument).id)
        expect(ids(await lab.query('a', { filter: { equals: { n: 1 } } }))).toEqual(
          ids(direct.filter(({ n }) => n === 1)).toSorted(),
        )
        expect(ids(await lab.query('a', { filter: { arrayContains: { tags: 'a' } } }))).toEqual(
          ids(direct.filter(({ tags }) => Array.isArray(tags))).toSorted(),
        )
      }),
      { numRuns: open.runs(10), verbose: true },
    )
  })

  test('that ends between two portions leaves whole changes, and is completed by a second one', async () => {
    const { lab, contents, told } = await openContentsLab(open)
    const paths = Array.from({ length: 10 }, (_, at) => `a/${at}`)
    const fill = async (text: string) => {
      for (const at of paths) await lab.write({ type: 'replace', path: at, data: { text } })
    }
    await fill('x'.repeat(900_000))
    const model = await stateOf(lab)
    const then = new Map(model)
    const seq = (await takeSnapshot(lab.deps, lab)) ?? 0
    await fill('short')
    for (const [at, document] of await stateOf(lab)) model.set(at, document)
    let portions = 0
    const interrupted = databaseContents({
      ...lab.deps,
      countContent: async () => {
        portions += 1
        if (portions === 2) throw new Error('the server has ended')
      },
      onChanged: (_, { changes }) => follow(model, changes),
    })
    await expect(interrupted.restore({ ...lab, seq, by: undefined, limits })).rejects.toThrow('has ended')
    expect(await stateOf(lab)).toEqual(model)
    expect(model).not.toEqual(then)
    expect(await contents.check?.(lab.tenantId, lab.fileId)).toBeUndefined()
    told.length = 0
    await contents.restore({ ...lab, seq, by: undefined, limits })
    for (const { changes } of told) follow(model, changes)
    expect(await stateOf(lab)).toEqual(then)
    expect(model).toEqual(then)
  })

  // On PostgreSQL so many entries take half a minute to make.
  test.runIf(open.dialect === 'sqlite')(
    'of documents with many index entries takes as many portions as it needs',
    async () => {
      const { lab, contents, told } = await openContentsLab(open)
      await createIndex(lab.deps, lab, { path: 'a', field: 'tags' })
      const tags = (first: number) => Array.from({ length: 500 }, (_, at) => first + at)
      const fill = async (first: number) => {
        for (let at = 0; at < 36; at += 1)
          await lab.write({ type: 'replace', path: `a/${at}`, data: { tags: tags(first) } })
      }
      await fill(0)
      const seq = await takeSnapshot(lab.deps, lab)
      await fill(1000)
      await contents.restore({ ...lab, seq: seq ?? 0, by: undefined, limits })
      expect(told.length).toBeGreaterThan(1)
      expect(await lab.query('a', { filter: { arrayContains: { tags: 499 } } })).toHaveLength(36)
      expect(await lab.query('a', { filter: { arrayContains: { tags: 1000 } } })).toEqual([])
    },
  )
})
