import { listAdminJobs, unsubscribePush } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnswerBody } from '#harness/push-service.ts'
import type { Person } from '#harness/test-network.ts'
import { letter, PushTown, previews } from './push-acts.ts'

let town: PushTown
beforeAll(async () => {
  town = await PushTown.start()
})
afterAll(() => town[Symbol.asyncDispose]())

const bodies: readonly AnswerBody[] = ['none', 'big', 'endless', 'gzip']
const outcomes = ['sent', 'removed', 'refused', 'retry'] as const

/** How often each outcome was counted, on the server of the browsers. */
async function counted(): Promise<Record<string, number>> {
  const { text } = await town.network.server(1).running.services.metrics.scrape()
  const count = (outcome: string) =>
    Number(
      new RegExp(`^kith_push_messages_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
    )
  return Object.fromEntries(outcomes.map((outcome) => [outcome, count(outcome)]))
}

/** The errors of the person's messages that wait, or were given up. */
async function errors({ idTag }: Person, state: 'waiting' | 'failed'): Promise<unknown[]> {
  const admin = await town.network.server(1).as(town.network.server(1).baseIdTag)
  const { data } = await admin.call(listAdminJobs, { query: { state, limit: 200 } })
  const own = data.filter(({ kind, tenant }) => kind === 'push.send' && tenant === idTag)
  return own.map(({ lastError }) => lastError)
}

async function pass(hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour += 1) {
    town.network.clock.advance(3_600_000)
    await town.network.settle()
  }
}

/** Which of these subscriptions there are. */
async function present(person: Person, ids: readonly number[]): Promise<boolean[]> {
  const client = await town.network.server(1).as(person.idTag)
  const ends = ids.map((id) =>
    client.call(unsubscribePush, { params: { id } }).then(
      () => true,
      ({ status }) => (status === 404 ? false : Promise.reject(status)),
    ),
  )
  return await Promise.all(ends)
}

/** Somebody with a browser for each kind of body with which a status comes; each is sent one message. */
async function answeredWith(status: number) {
  const { alice, bob, id } = await town.pair()
  await bob.client.call(unsubscribePush, { params: { id } })
  const subscribed: Awaited<ReturnType<PushTown['subscribe']>>[] = []
  for (const body of bodies) {
    const one = await town.subscribe(bob)
    subscribed.push(one)
    Object.assign(one.browser, { status, body, headers: status < 400 ? { location: '/elsewhere' } : {} })
  }
  const before = await counted()
  await town.say(alice, letter(bob, 'one'))
  const after = await counted()
  return {
    alice,
    bob,
    ids: subscribed.map((one) => one.id),
    posts: () => subscribed.map(({ browser }) => browser.pushed.length),
    counted: Object.fromEntries(
      outcomes.map((outcome) => [outcome, (after[outcome] ?? 0) - (before[outcome] ?? 0)]),
    ),
  }
}

const each = <Value>(value: Value) => bodies.map(() => value)

describe('a push service is taken by its status, whatever follows it,', () => {
  test.each([200, 201, 202])('%d: the message is sent', async (status) => {
    const { bob, ids, posts, ...seen } = await answeredWith(status)
    expect(seen.counted).toEqual({ sent: 4, removed: 0, refused: 0, retry: 0 })
    await pass(1)
    expect(posts()).toEqual(each(1))
    expect([await errors(bob, 'waiting'), await errors(bob, 'failed')]).toEqual([[], []])
    expect(await present(bob, ids)).toEqual(each(true))
  })

  test.each([404, 410])('%d: the subscription has ended', async (status) => {
    const { alice, bob, ids, posts, ...seen } = await answeredWith(status)
    expect(seen.counted).toEqual({ sent: 0, removed: 4, refused: 0, retry: 0 })
    await town.say(alice, letter(bob, 'two'))
    await pass(1)
    expect(posts()).toEqual(each(1))
    expect([await errors(bob, 'waiting'), await errors(bob, 'failed')]).toEqual([[], []])
    expect(await present(bob, ids)).toEqual(each(false))
  })

  test.each([301, 302, 307, 308, 400, 403, 413, 600])('%d: the message is refused', async (status) => {
    const { alice, bob, ids, posts, ...seen } = await answeredWith(status)
    expect(seen.counted).toEqual({ sent: 0, removed: 0, refused: 4, retry: 0 })
    await pass(2)
    expect(posts()).toEqual(each(1))
    expect([await errors(bob, 'waiting'), await errors(bob, 'failed')]).toEqual([[], each(`HTTP ${status}`)])
    await town.say(alice, letter(bob, 'two'))
    expect(posts()).toEqual(each(2))
    expect(await present(bob, ids)).toEqual(each(true))
  })

  test.each([429, 500, 503])('%d: the message is tried five times more', async (status) => {
    const { bob, ids, posts, ...seen } = await answeredWith(status)
    expect(seen.counted).toEqual({ sent: 0, removed: 0, refused: 0, retry: 4 })
    expect([await errors(bob, 'waiting'), await errors(bob, 'failed')]).toEqual([each(`HTTP ${status}`), []])
    await pass(12)
    expect(posts()).toEqual(each(6))
    expect([await errors(bob, 'waiting'), await errors(bob, 'failed')]).toEqual([[], each(`HTTP ${status}`)])
    expect(await present(bob, ids)).toEqual(each(true))
  })
})

test('a service that hangs up is asked again after ten seconds, five times in all', async () => {
  const { alice, bob, browser } = await town.pair()
  browser.status = 0
  await town.say(alice, letter(bob, 'lost'))
  town.network.clock.advance(9_000)
  await town.network.settle()
  expect(browser.pushed).toHaveLength(1)
  town.network.clock.advance(11_000)
  await town.network.settle()
  expect(browser.pushed).toHaveLength(2)
  await pass(12)
  expect(browser.pushed).toHaveLength(6)
})

test('a service that asks for time is asked again when it says', async () => {
  const { alice, bob, browser } = await town.pair()
  browser.status = 429
  browser.headers = { 'retry-after': '600' }
  await town.say(alice, letter(bob, 'later'))
  browser.status = 201
  town.network.clock.advance(599_000)
  await town.network.settle()
  expect(browser.pushed).toHaveLength(1)
  town.network.clock.advance(2_000)
  await town.network.settle()
  expect(browser.pushed).toHaveLength(2)
  expect(browser.pushed[1]?.headers.ttl).toBe(String(86_400 - 601))
  expect(previews(browser)).toEqual(['later', 'later'])
})
