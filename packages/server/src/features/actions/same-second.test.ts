import type { ActionId, NewAction } from '@kith/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ActionLab, type Actor, actionLab } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { Failure } from '#lib/failure.ts'
import { findSendable } from './find-sendable.ts'

const fileId = `b1~${'A'.repeat(43)}`

/** For each type of which an issuer has one live action: what makes it, and what ends it besides a deletion. */
const kinds = {
  FLLW: (to: Actor) => ({ type: 'FLLW', audienceTag: to.idTag }),
  CONN: (to: Actor) => ({ type: 'CONN', audienceTag: to.idTag }),
  FSHR: (to: Actor) => ({
    type: 'FSHR',
    audienceTag: to.idTag,
    subject: fileId,
    content: { permission: 'READ' },
  }),
  REPOST: (_: Actor, subject: string) => ({ type: 'REPOST', subject, visibility: 'P' }),
  REACT: (_: Actor, subject: string) => ({ type: 'REACT', subType: 'LIKE', subject }),
} satisfies Record<string, (to: Actor, postId: string) => object>
type Kind = keyof typeof kinds

interface Step {
  readonly does: 'set' | 'end' | 'delete'
  /** Whether tokens that may be sent are sent before the next step, and how long that takes. */
  readonly leaves: boolean
  readonly restMs: number
}

const plans = fc.record({
  kind: fc.constantFrom(...(Object.keys(kinds) as Kind[])),
  steps: fc.array(
    fc.record({
      does: fc.constantFrom<Step['does']>('set', 'set', 'end', 'delete'),
      leaves: fc.boolean(),
      restMs: fc.constantFrom(0, 0, 0, 300),
    }),
    { minLength: 2, maxLength: 9 },
  ),
  /** The order in which the tokens arrive, and which of them arrive twice. */
  order: fc.array(fc.nat(99), { minLength: 10, maxLength: 10 }),
  twice: fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
})

eachDialect('What is made and ended several times within a second', (open) => {
  const openLab = actionLab(open)

  test('is the same at the receiver as at the issuer, in whatever order the tokens arrive', async () => {
    const lab = await openLab()
    let runs = 0
    const standing: Record<string, number> = {}
    await fc.assert(
      fc.asyncProperty(plans, async ({ kind, steps, order, twice }) => {
        runs += 1
        const [alice, bob] = [
          await lab.makeTenant(`alice.of${runs}.com`),
          await lab.makeTenant(`bob.of${runs}.com`),
        ]
        const postId = await sharedPost(lab, alice, bob)
        const left = new Set<string>()
        let last: 'set' | 'ended' = 'ended'
        for (const step of steps) {
          last = (await take(alice, { step, body: kinds[kind](bob, postId) as NewAction })) ?? last
          if (step.leaves) await leave(lab, alice, left)
          lab.clock.advance(step.restMs)
        }
        lab.clock.advance(10_000)
        await leave(lab, alice, left)
        const tokens = [...left].flatMap((token, at) => (twice[at % 10] ? [token, token] : [token]))
        for (const token of shuffled(tokens, order)) await lab.receive(bob.tenant, token)
        const atIssuer = await standingOf(lab, alice, alice, kind)
        expect(await standingOf(lab, bob, alice, kind)).toEqual(atIssuer)
        expect(atIssuer).toBe(last)
        standing[`${kind} ${atIssuer}`] = (standing[`${kind} ${atIssuer}`] ?? 0) + 1
      }),
      { numRuns: 25 },
    )
    // Both outcomes and several kinds, or else the agreement proves nothing.
    expect(Object.keys(standing).length).toBeGreaterThan(3)
  })
})

/** A post by one that the other holds. */
async function sharedPost(lab: ActionLab, alice: Actor, bob: Actor): Promise<string> {
  const { actionId } = await bob.create({ type: 'POST', content: { text: 'Look' }, visibility: 'P' })
  lab.sent.length = 0
  await lab.receive(alice.tenant, await lab.tokenOf(bob.tenant.tenantId, actionId as ActionId))
  lab.clock.advance(1000 - (lab.clock.now() % 1000))
  return actionId as string
}

/** The state after a step; undefined where the step was refused and changed nothing. */
async function take(
  by: Actor,
  { step, body }: { readonly step: Step; readonly body: NewAction },
): Promise<'set' | 'ended' | undefined> {
  try {
    if (step.does === 'set') await by.create(body)
    else if (step.does === 'end' && body.type !== 'REPOST') {
      await by.create({ ...body, subType: 'DEL' })
    } else {
      const [own] = await by.list({ type: [body.type as never], issuer: by.idTag })
      if (!own) return undefined
      await by.remove(own.actionId)
    }
    return step.does === 'set' ? 'set' : 'ended'
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

/** Takes the tokens that may be sent now; later actions may replace the others. */
async function leave(lab: ActionLab, { tenant, reader }: Actor, left: Set<string>): Promise<void> {
  const now = Math.floor(lab.clock.now() / 1000)
  for (const { actionId, tenantId } of lab.sent) {
    if (tenantId !== tenant.tenantId) continue
    const found = await findSendable(reader, actionId, now)
    const [, payload = ''] = found?.token.split('.') ?? []
    if (found && JSON.parse(Buffer.from(payload, 'base64url').toString()).iat <= now) left.add(found.token)
  }
}

function shuffled<Item>(items: readonly Item[], order: readonly number[]): Item[] {
  return items
    .map((item, at) => ({ item, place: ((order[at % order.length] ?? 0) * (at + 7)) % 101 }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item)
}

/** Whether the issuer's action of this kind is live at a tenant. */
async function standingOf(lab: ActionLab, at: Actor, issuer: Actor, kind: Kind): Promise<'set' | 'ended'> {
  const rows = await lab.db
    .reader(at.tenant.tenantId)
    .tables<{
      actions: {
        tenant_id: number
        issuer_tag: string
        type: string
        status: string
        sub_type: string | null
      }
    }>()
    .selectFrom('actions')
    .select('sub_type')
    .where('tenant_id', '=', at.tenant.tenantId)
    .where('issuer_tag', '=', issuer.idTag)
    .where('type', '=', kind)
    .where('status', 'not in', ['D', 'T'])
    .execute()
  const set = rows.filter((row) => row.sub_type !== 'DEL')
  expect(set.length).toBeLessThan(2)
  return set.length > 0 ? 'set' : 'ended'
}
