import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { serverTenant } from '#infra/db/index.ts'
import { Events } from './index.ts'

type Happened =
  | { readonly kind: 'made'; readonly name: string }
  | { readonly kind: 'moved' | 'gone'; readonly to: number }

eachDialect('events', (open) => {
  test('are answered in their transaction, one reaction after the other, as the table says', async () => {
    const db = await open({ migrations: [] })
    const events = new Events<Happened>()
    const seen: unknown[] = []
    events.subscribe({
      made: [
        async (tx, { name }) => void seen.push(tx.tenantId, name),
        (tx) => tx.afterCommit(() => seen.push('later')),
      ],
      moved: [(_, { to }) => void seen.push(to)],
      gone: [],
    })
    await db.transact(serverTenant, async (tx) => {
      await events.emit(tx, { kind: 'made', name: 'one' })
      await events.emit(tx, { kind: 'moved', to: 2 })
      await events.emit(tx, { kind: 'gone', to: 3 })
      seen.push('end')
    })
    expect(seen).toEqual([serverTenant, 'one', 2, 'end', 'later'])
  })

  test('take what stored them back when a reaction fails', async () => {
    const db = await open({ migrations: [] })
    const events = new Events<Happened>()
    let isTold = false
    events.subscribe({
      made: [() => Promise.reject(new Error('no room'))],
      moved: [],
      gone: [],
    })
    const work = db.transact(serverTenant, async (tx) => {
      tx.afterCommit(() => {
        isTold = true
      })
      await events.emit(tx, { kind: 'made', name: 'one' })
    })
    await expect(work).rejects.toThrow('no room')
    expect(isTold).toBe(false)
  })

  test('have one table of reactions, before the first of them', async () => {
    const db = await open({ migrations: [] })
    const events = new Events<Happened>()
    const early = db.transact(serverTenant, (tx) => events.emit(tx, { kind: 'gone', to: 1 }))
    await expect(early).rejects.toThrow('no reactions were subscribed')
    const nobody = { made: [], moved: [], gone: [] }
    events.subscribe(nobody)
    expect(() => events.subscribe(nobody)).toThrow('set once')
  })
})
