import { describe, expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { ArchiveTurns } from './archive-turns.ts'

const refused = expect.objectContaining({ code: 'E-RATELIMIT', retryAfterSecs: 30 })

const limits = { total: 4, perAccount: 2, perAddress: 3, unnamed: 16, othersPerTenant: 16, keptFree: 0 }

test('archives at a time are few of one account, of one address, and in all', () => {
  const turns = new ArchiveTurns(new TestClock(), limits)
  const enter = (account: string | undefined, address: string) =>
    turns.enter({ tenantId: 1, standing: 'identity', account, address })
  const leaves = [enter('alice', 'a'), enter('alice', 'b')]
  expect(() => enter('alice', 'c')).toThrow(refused)
  enter('bob', 'a')
  enter(undefined, 'a')
  for (const address of ['a', 'd']) expect(() => enter(undefined, address)).toThrow(refused)
  // To leave twice is to leave once.
  for (const leave of [...leaves, ...leaves]) leave()
  enter('alice', 'a')
  expect(() => enter('carol', 'a')).toThrow(refused)
  enter('alice', 'e')
  expect(() => enter(undefined, 'f')).toThrow(refused)
})

test('guests and holders of references leave turns to identities', () => {
  const turns = new ArchiveTurns(new TestClock(), { ...limits, unnamed: 2 })
  const enter = (tenantId: number, account?: string) =>
    turns.enter({ tenantId, standing: 'unnamed', account, address: `${tenantId}` })
  const leave = enter(1)
  enter(2, 'a reference')
  for (const account of [undefined, 'another reference']) expect(() => enter(3, account)).toThrow(refused)
  turns.enter({ tenantId: 3, standing: 'identity', account: 'bob', address: 'b' })
  leave()
  enter(3)
})

test('others than the owner leave turns to other tenants, and to the owner', () => {
  const turns = new ArchiveTurns(new TestClock(), { ...limits, total: 16, othersPerTenant: 2 })
  const enter = (tenantId: number, account: string, standing: 'owner' | 'identity' = 'identity') =>
    turns.enter({ tenantId, standing, account, address: account })
  const leave = enter(1, 'bob')
  enter(1, 'carol')
  expect(() => enter(1, 'dave')).toThrow(refused)
  expect(() => turns.enter({ tenantId: 1, standing: 'unnamed', account: undefined, address: 'x' })).toThrow(
    refused,
  )
  enter(1, 'alice', 'owner')
  enter(2, 'dave')
  leave()
  enter(1, 'erin')
})

test('four addresses that read slowly do not take all turns of the server', () => {
  const turns = new ArchiveTurns(new TestClock())
  let taken = 0
  for (let at = 0; at < 64; at += 1) {
    const guest = { standing: 'unnamed', account: undefined, address: `${at % 4}` } as const
    try {
      turns.enter({ ...guest, tenantId: at })
      taken += 1
    } catch {
      // Refused.
    }
  }
  expect(taken).toBe(8)
  turns.enter({ tenantId: 1, standing: 'owner', account: 'alice', address: 'home' })
})

describe('visitors of many tenants', () => {
  const flood = (turns: ArchiveTurns, tenantId: number, standing: 'identity' | 'unnamed' = 'identity') => {
    let taken = 0
    for (let at = 0; at < 20; at += 1)
      try {
        const account = standing === 'unnamed' ? undefined : `${tenantId} ${at}`
        turns.enter({ tenantId, standing, account, address: `${tenantId} ${at}` })
        taken += 1
      } catch {
        // Refused.
      }
    return taken
  }

  test.each(['identity', 'unnamed'] as const)('leave a turn to further tenants: %s', (standing) => {
    const turns = new ArchiveTurns(new TestClock())
    for (let tenantId = 1; tenantId <= 4; tenantId += 1) flood(turns, tenantId, standing)
    expect(flood(turns, 5, standing)).toBe(1)
    expect(flood(turns, 6, 'identity')).toBeGreaterThan(0)
  })

  test('who have all turns lose the oldest of ten minutes to a tenant that has none', () => {
    const clock = new TestClock()
    const turns = new ArchiveTurns(clock)
    const ended: number[] = []
    const enter = (tenantId: number) =>
      turns.enter({ tenantId, standing: 'identity', account: undefined, address: `${tenantId}` }, () =>
        ended.push(tenantId),
      )
    for (let tenantId = 1; tenantId <= 16; tenantId += 1) {
      enter(tenantId)
      clock.advance(1000)
    }
    clock.advance(9 * 60_000)
    expect(() => enter(17)).toThrow(expect.objectContaining({ code: 'E-RATELIMIT', retryAfterSecs: 30 }))
    clock.advance(44_000)
    const leave = enter(17)
    expect(ended).toEqual([1])
    expect(() => enter(18)).toThrow(expect.objectContaining({ retryAfterSecs: 1 }))
    leave()
    enter(18)
  })
})
