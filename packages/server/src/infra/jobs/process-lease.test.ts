import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { jobsMigrations } from './index.ts'
import { ProcessLease } from './process-lease.ts'

eachDialect('the lease of a process', (open) => {
  test('is not lost where there was none, nor while it is renewed', async () => {
    const db = await open({ migrations: jobsMigrations })
    const lease = new ProcessLease({ db, nodeId: 'one', leaseMs: 30_000 })
    expect(await lease.renew(1000)).toBe(true)
    const { token } = lease
    expect(await lease.renew(2000)).toBe(true)
    expect(lease.token).toBe(token)
    expect([lease.endIfOver(31_999), lease.endIfOver(32_000)]).toEqual([false, true])
    expect(await lease.renew(32_000)).toBe(true)
    expect(lease.token).not.toBe(token)
  })
})
