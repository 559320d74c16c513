import type { RtdbOperation } from '@kith/protocol'
import { expect, test } from 'vitest'
import { type DatabaseLab, openDatabaseLab } from '#harness/database-lab.ts'
import { eachDialect, type OpenTestDatabase } from '#harness/each-dialect.ts'
import { applyTransaction, listChanges } from './index.ts'

/** A database in which the turns of the event loop are counted that come between the first operation of a transaction and the
 * count of its bytes. */
async function openCounting(open: OpenTestDatabase) {
  let turns = 0
  let inTransaction = 0
  const lab = await openDatabaseLab(open, {
    countContent: async () => {
      inTransaction = turns
    },
  })
  return {
    lab,
    async turnsOf(...operations: readonly object[]): Promise<number> {
      const count = () => {
        turns += 1
        counting = setImmediate(count)
      }
      let counting = setImmediate(count)
      const assertUnlocked = async () => {
        turns = 0
      }
      await applyTransaction(lab.deps, lab, {
        operations: operations as RtdbOperation[],
        account: 'alice.example.com',
        assertUnlocked,
      })
      clearImmediate(counting)
      return inTransaction
    },
  }
}

const replace = (path: string, data: object) => ({ type: 'replace', path, data })

eachDialect('A long transaction', (open) => {
  const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)

  test('lets others run between its operations', async () => {
    const { turnsOf } = await openCounting(open)
    const documents = numbers(20).map((at) => replace(`a/${at}`, { list: numbers(40_000) }))
    expect(await turnsOf(...documents)).toBeGreaterThan(1)
  })

  test('lets others run between its computed values', async () => {
    const { lab, turnsOf } = await openCounting(open)
    await lab.write(replace('a/b', { text: 'é'.repeat(150_000) }))
    const slug = { $fn: 'slugify', args: [{ $field: 'text' }] }
    const data = Object.fromEntries(numbers(40).map((at) => [`f${at}`, { $fn: 'length', args: [slug] }]))
    const more = replace('a/c', { text: 'x'.repeat(70_000) })
    expect(await turnsOf({ type: 'update', path: 'a/b', data }, more)).toBeGreaterThan(1)
    expect(await lab.get('a/b')).toMatchObject({ f0: 150_000, f39: 150_000 })
  })
})

eachDialect('A transaction', (open) => {
  const write = (lab: DatabaseLab, ...texts: string[]) =>
    lab.write(...texts.map((text, at) => replace(`a/${at}`, { text })))

  test('of more than 4 MiB is not in the log, and those after it are', async () => {
    const lab = await openDatabaseLab(open)
    await write(lab, 'small')
    const large = Array.from({ length: 5 }, (_, at) => String(at).repeat(900_000))
    const { seq, changes } = await write(lab, ...large)
    expect(changes).toHaveLength(5)
    await write(lab, 'small again')
    expect(await listChanges(lab.deps, lab, seq - 1)).toEqual({ isComplete: false, changes: [] })
    expect(await listChanges(lab.deps, lab, seq)).toMatchObject({
      isComplete: true,
      changes: [{ seq: seq + 1 }],
    })
    expect(await lab.query('a', { select: [] })).toHaveLength(5)
  })

  test('counts documents, those of other collections apart', async () => {
    const lab = await openDatabaseLab(open)
    await lab.write(...['a/1', 'a/2', 'a/2/b/1', 'b/1'].map((path) => replace(path, {})))
    await lab.write(
      replace('c/1', { n: { $query: 'count', path: 'a' }, none: { $query: 'count', path: 'z' } }),
    )
    expect(await lab.get('c/1')).toMatchObject({ n: 2, none: 0 })
  })
})
