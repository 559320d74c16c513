import { createSecretKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { FakeAuthority } from '#harness/fake-authority.ts'
import { TestClock } from '#harness/test-clock.ts'
import { openVault } from '#infra/keys/index.ts'
import { certificatesMigrations } from './certificates-migrations.ts'
import { type Account, openAccount } from './open-account.ts'

const hour = 3_600_000
const vault = openVault({ masterKey: createSecretKey(Buffer.alloc(32, 1)) })

eachDialect('the account with an authority', (open) => {
  async function lab() {
    const db = await open({ migrations: certificatesMigrations })
    const clock = new TestClock()
    const authority = new FakeAuthority(clock)
    const { directoryUrl } = authority
    const addProcess = () =>
      openAccount({ db, vault, clock, egress: authority, directoryUrl, email: undefined })
    /** Places an order; answers the number of the account. */
    const order = (account: Account) =>
      account.use(async (client) => {
        const { url } = await client.newOrder('alice.example.org')
        return Number(authority.orders[Number(url.split('/').at(-1))]?.account.split('/').at(-1))
      })
    return { clock, authority, addProcess, order, first: addProcess(), second: addProcess() }
  }

  test('is one for all processes, now and later', async () => {
    const { first, second, addProcess, order } = await lab()
    expect(await Promise.all([first, second, first].map(order))).toEqual([1, 1, 1])
    expect(await order(addProcess())).toBe(1)
  })

  test('is replaced where it was deactivated, by one for all processes', async () => {
    const { clock, authority, first, second, addProcess, order } = await lab()
    await Promise.all([first, second].map(order))
    clock.advance(2 * hour)
    authority.deactivateAccounts()
    expect(await order(first)).toBe(2)
    expect(await order(second)).toBe(2)
    clock.advance(2 * hour)
    authority.deactivateAccounts()
    expect(await Promise.all([first, second].map(order))).toEqual([3, 3])
    expect(await order(addProcess())).toBe(3)
  })

  test('is not replaced more than once an hour', async () => {
    const { clock, authority, first, second, order } = await lab()
    await order(first)
    authority.deactivateAccounts()
    for (const account of [first, second])
      await expect(order(account)).rejects.toMatchObject({ type: 'accountRefused' })
    clock.advance(hour + 1000)
    expect(await order(second)).toBe(2)
    authority.deactivateAccounts()
    await expect(order(first)).rejects.toMatchObject({ type: 'accountRefused' })
  })

  test('is kept where something else was refused', async () => {
    const { clock, authority, first, order } = await lab()
    await order(first)
    clock.advance(2 * hour)
    const other = await first.use((client) => client.newOrder('bob.example.org'))
    Object.assign(authority.orders[1] ?? {}, { account: 'https://authority.example/account/9' })
    await expect(first.use((client) => client.order(other.url))).rejects.toMatchObject({
      type: 'accountRefused',
      message: 'the order is of another account',
    })
    expect(await order(first)).toBe(1)
  })
})
