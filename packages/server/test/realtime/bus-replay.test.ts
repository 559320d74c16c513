import { getAccessToken } from '@kith/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BusDevice } from '#harness/bus-client.ts'
import { runsOf } from '#harness/property-runs.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
const total = 150

/** Stays for so many events, goes, and comes back with the last number it has seen. */
async function comeAndGo(server: TestServer, token: string, stays: readonly number[], isDone: () => boolean) {
  const seen: number[] = []
  for (let visit = 0; !isDone() || (seen.at(-1) ?? 0) < total; visit += 1) {
    const since = seen.at(-1) ?? 0
    const isFirstThing = visit % 2 === 0
    await using device = await BusDevice.open(
      server,
      home,
      `?token=${token}${isFirstThing ? `&since=${since}` : ''}`,
    )
    if (!isFirstThing) expect(await device.ask('subscribe', { since })).toMatchObject({ status: 'ok' })
    const stay = stays[visit % stays.length] ?? 1
    for (let turn = 0; turn < stay; turn += 1) await device.ask('ping')
    const told: number[] = device.client.json.flatMap(({ seq }) => (typeof seq === 'number' ? [seq] : []))
    // Whatever came before the answer and whatever after it: all there was, each once; and in order when it was asked first thing.
    const sorted = told.toSorted((one, other) => one - other)
    expect(isFirstThing ? told : sorted).toEqual(sorted.map((_, at) => since + at + 1))
    seen.push(...sorted)
  }
  return seen
}

test('whoever comes and goes while things happen sees each of them, and none twice', async () => {
  const plan = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 3, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 4, maxLength: 4 }), async (plans) => {
      await using server = await TestServer.start()
      const client = await server.as(home)
      const { data } = await client.call(getAccessToken, {})
      const { bus, identity } = server.running.features
      const tenant = await identity.tenants.base()
      await using _first = await BusDevice.connect(server, home, data.token)
      let isDone = false
      const devices = plans.map((stays) => comeAndGo(server, data.token, stays, () => isDone))
      const happening = (async () => {
        for (let at = 0; at < total; at += 1) {
          await server.db.transact(tenant.tenantId, (tx) =>
            bus.tell(tx, { kind: 'SETTING', name: `ui.x${at}`, to: [tenant.idTag] }),
          )
          if (at % 7 === 0) await new Promise((resolve) => setImmediate(resolve))
        }
        await bus.settled()
        isDone = true
      })()
      const seen = await Promise.all(devices)
      await happening
      for (const numbers of seen) expect(numbers).toEqual(Array.from({ length: total }, (_, at) => at + 1))
    }),
    { numRuns: runsOf(1), verbose: true },
  )
})
