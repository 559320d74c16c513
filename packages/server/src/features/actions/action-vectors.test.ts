import { readFileSync } from 'node:fs'
import { type ActionId, findActionType } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { changeRelation } from '#features/relations/index.ts'
import { actionLab, readToken } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { type ActionInput, parseAction } from './compose/parse-action.ts'
import { hooksOf } from './types/index.ts'

function vectors<Content>(name: string): Content {
  const url = new URL(`../../../../../vectors/actions/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(url, 'utf8')) as Content
}

describe('the vectors of members', () => {
  type Named = { name: string; action: ActionInput }
  const { valid, invalid } = vectors<{ valid: Named[]; invalid: Named[] }>('members')
  const read = (action: ActionInput) => {
    const body = parseAction(action)
    hooksOf(body.type).check?.(body)
    return body
  }

  test.each(valid)('accept $name', ({ action }) => {
    expect(read(action).type).toBe(action.type)
  })

  test.each(invalid)('refuse $name', ({ action }) => {
    expect(() => read(action)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^E-(VALIDATION|(ACTION|FILE)-NOTFOUND)$/) }),
    )
  })

  test('cover every type that is sent between servers', () => {
    const covered = new Set(valid.map(({ action }) => action.type))
    expect([...covered].every((type) => findActionType(type))).toBe(true)
    expect(covered.size).toBe(11)
  })
})

eachDialect('the vectors of outcomes', (open) => {
  const openLab = actionLab(open)
  type Told = { actionId: ActionId; status?: string | null; mismatched?: true; token: string }
  const { receiver, outcomes } = vectors<{ receiver: string; outcomes: { name: string; tokens: Told[] }[] }>(
    'outcomes',
  )

  const ordered = outcomes.flatMap(({ name, tokens }) =>
    ordersOf(tokens).map((order, at) => ({ name, tokens, order, number: at + 1 })),
  )
  test.each(ordered)('agree: $name (order $number)', async ({ tokens, order }) => {
    const lab = await openLab()
    const bob = await lab.makeTenant(receiver)
    const issuers = new Set(tokens.map(({ token }) => readToken(token).issuerTag))
    await lab.db.transact(bob.tenant.tenantId, async (tx) => {
      for (const issuer of issuers) await changeRelation(tx, issuer, { isFollowing: true, at: 1 })
    })
    for (const { token } of order) await lab.receive(bob.tenant, token)
    for (const { actionId, status, mismatched } of tokens) {
      const held = await bob.stored(actionId)
      expect(held?.isMismatched).toBe(mismatched)
      if (status !== undefined) expect(held && held.status !== 'T' ? held.status : null).toBe(status)
    }
  })
})

/** Every order of a few tokens. */
function ordersOf<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((first, at) =>
    ordersOf(items.filter((_, other) => other !== at)).map((rest) => [first, ...rest]),
  )
}
