import Type from 'typebox'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { jobsLab, otherTenant, someTenant } from '#harness/jobs-lab.ts'
import type { TenantId } from '#infra/db/index.ts'
import { jobKind } from './index.ts'

const picture = jobKind({
  name: 'picture',
  payload: Type.Object({ name: Type.String() }),
  retry: { maxAttempts: 3, firstDelayMs: 1000, longestDelayMs: 10_000 },
  concurrency: 1,
  group: 'by tenant',
  keepDoneMs: 0,
})
const third = 4711 as TenantId

eachDialect('a kind whose tenants take turns', (open) => {
  const newLab = jobsLab(open)

  async function painter(handler: (name: string) => Promise<void> | void = () => undefined) {
    const { db, clock, addNode } = await newLab()
    const { jobs } = addNode('a')
    const made: string[] = []
    jobs.handle(picture, async ({ name }) => {
      made.push(name)
      await handler(name)
    })
    const add = (tenantId: TenantId, names: readonly string[]) =>
      db.transact(tenantId, (tx) =>
        jobs.enqueueAll(
          tx,
          picture,
          names.map((name) => ({ payload: { name } })),
        ),
      )
    return { jobs, clock, made, add }
  }

  const many = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}`)

  test('does one of each after the other, however many wait', async () => {
    const { jobs, made, add } = await painter()
    await add(someTenant, many('a', 60))
    await add(otherTenant, many('b', 3))
    await add(third, many('c', 1))
    await jobs.start()
    await jobs.settle()
    expect(made).toHaveLength(64)
    expect(
      made
        .slice(0, 7)
        .map((name) => name.charAt(0))
        .sort()
        .join(''),
    ).toBe('aaabbbc')
    expect(made.filter((name) => name.startsWith('a'))).toEqual(many('a', 60))
  })

  test('lets one who comes wait for a single job of thousands that wait', async () => {
    const { jobs, made, add } = await painter(async (name) => {
      if (name === 'a0') await add(otherTenant, ['b0'])
      // Long enough for the runner to look at all of them.
      for (let turns = 0; turns < 400 && name === 'a1'; turns += 1)
        await new Promise((resolve) => setImmediate(resolve))
    })
    await add(someTenant, many('a', 3000))
    await jobs.start()
    while (!made.includes('b0')) await new Promise((resolve) => setImmediate(resolve))
    expect(made.indexOf('b0')).toBeLessThan(10)
    await jobs.stop()
  })

  test('does not make a tenant rest whose jobs fail', async () => {
    const { jobs, clock, made, add } = await painter((name) => {
      if (name.startsWith('a')) throw new Error('broken')
    })
    await add(someTenant, many('a', 30))
    await jobs.start()
    await jobs.settle()
    await add(someTenant, ['b'])
    await jobs.settle()
    clock.advance(60_000)
    await jobs.settle()
    expect(made).toContain('b')
    expect(new Set(made).size).toBe(31)
  })
})
