import { describe, expect, test } from 'vitest'
import type { TenantId } from '#infra/db/index.ts'
import { SubscriptionBudget } from './subscription-budget.ts'

const cost = { characters: 100, conditions: 2 }
const refusal = (message: string) =>
  expect.objectContaining({ code: 429, message: expect.stringContaining(message) })

function people(budget: SubscriptionBudget) {
  const account = (idTag: string, tenant = 1) =>
    budget.of({ tenantId: tenant as TenantId, idTag, address: '192.0.2.1' })
  const guest = (address: string, tenant = 1) =>
    budget.of({ tenantId: tenant as TenantId, idTag: undefined, address })
  return { account, guest }
}

describe('Subscriptions are bounded', () => {
  test('for an account, whatever tenant it visits and on whichever connection', () => {
    const { account } = people(new SubscriptionBudget({ account: { subscriptions: 2 } }))
    account('mallory').open(cost)
    account('mallory', 2).open(cost)
    expect(() => account('mallory', 3).open(cost)).toThrow(refusal('account'))
    account('alice').open(cost)
    account('mallory').close(cost)
    account('mallory', 3).open(cost)
  })

  test('for the guests of an address, which does not count for those who are signed in there', () => {
    const { account, guest } = people(new SubscriptionBudget({ guest: { subscriptions: 1 } }))
    guest('192.0.2.1').open(cost)
    expect(() => guest('192.0.2.1', 2).open(cost)).toThrow(refusal('address'))
    guest('192.0.2.2').open(cost)
    account('alice').open(cost)
  })

  test('for all guests of a tenant: members have room left', () => {
    const { account, guest } = people(new SubscriptionBudget({ guests: { subscriptions: 1 } }))
    guest('192.0.2.1').open(cost)
    expect(() => guest('192.0.2.2').open(cost)).toThrow(refusal('guests'))
    guest('192.0.2.2', 2).open(cost)
    account('alice').open(cost)
  })

  test('for a tenant: two accounts cannot use up what others need', () => {
    const { account } = people(new SubscriptionBudget({ tenant: { subscriptions: 2 } }))
    account('mallory').open(cost)
    account('mallet').open(cost)
    expect(() => account('alice').open(cost)).toThrow(refusal('tenant'))
    account('bob', 2).open(cost)
  })

  test.each([
    ['characters', { characters: 250 }],
    ['conditions', { conditions: 5 }],
    ['values of aggregates', { weight: 10 }],
  ])('by their %s as well', (_, bounds) => {
    const { account } = people(new SubscriptionBudget({ account: bounds }))
    const fill = () => {
      account('mallory').open(cost)
      if (!account('mallory').takeWeight(5)) throw Object.assign(new Error('account'), { code: 429 })
    }
    fill()
    fill()
    expect(fill).toThrow(refusal('account'))
    account('alice').open(cost)
  })
})
