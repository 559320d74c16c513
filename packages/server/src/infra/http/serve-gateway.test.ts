import { contract } from '@kith/protocol'
import Type from 'typebox'
import { expect, test } from 'vitest'
import { alice, bearer, httpSites, idTag } from '#harness/http-site.ts'
import { ownerOf } from '#infra/caller/index.ts'
import { bind } from './endpoint.ts'
import type { Gateway } from './gateway.ts'
import { createMemoryRateLimits, defaultRateLimits } from './rate-limits.ts'

const site = httpSites()
const reply = { kind: 'data', status: 200, schema: Type.Object({ from: Type.String() }) } as const
const about = { tag: 'Things', summary: 'A thing', auth: 'optional', errors: [] } as const
const shown = bind(
  contract({
    ...about,
    name: 'getThing',
    method: 'GET',
    path: '/api/things/{id}',
    params: Type.Object({ id: Type.String() }),
    gateway: true,
    reply,
  }),
  async ({ params }) => ({ from: `here ${params.id}` }),
)
const hidden = bind(
  contract({ ...about, name: 'getSecret', method: 'GET', path: '/api/secrets', reply }),
  async () => ({ from: 'here' }),
)
const gateway: Gateway = {
  enter: async ({ target }) => ({
    kind: 'elsewhere',
    ask: async (_, { params }) => ({ from: `${target} ${JSON.stringify(params)}` }) as never,
  }),
  forget: () => undefined,
}
const clock = { now: () => 1_700_000_000_000 }
const inPerson = { ...ownerOf(alice), signedInAt: 1 }

/** With two calls a minute through the gateway. */
function open() {
  return site([shown, hidden], {
    gateway,
    rateLimits: createMemoryRateLimits(clock, { ...defaultRateLimits, gateway: 2 }),
    hooks: {
      findTenant: () => alice,
      authenticate: ({ bearer: shownBearer }) => ({ caller: { ...inPerson, idTag: idTag(shownBearer) } }),
    },
  })
}

const asAlice = { headers: bearer(alice.idTag) }

test('an endpoint of the gateway is found by its own path, with its parameters', async () => {
  const { send } = await open()
  const { json } = await send('/api/at/bob.example/things/a%2Fb', asAlice)
  expect(json.data).toEqual({ from: 'bob.example {"id":"a/b"}' })
  expect((await send('/api/things/a', asAlice)).json.data).toEqual({ from: 'here a' })
})

test('others are not there, and neither is the gateway within itself', async () => {
  const { send } = await open()
  for (const path of ['/api/at/bob.example/secrets', '/api/at/bob.example/at/carol.example/things/a'])
    expect((await send(path, asAlice)).status).toBe(404)
  expect((await send('/api/at/bob.example/things/a', { ...asAlice, method: 'DELETE' })).status).toBe(405)
})

test('its calls have a bucket of their own, by the owner', async () => {
  const { send } = await open()
  const statuses = []
  for (const target of ['bob', 'carol', 'dora'])
    statuses.push((await send(`/api/at/${target}.example/things/a`, asAlice)).status)
  expect(statuses).toEqual([200, 200, 429])
  expect((await send('/api/things/a', asAlice)).status).toBe(200)
  expect((await send('/api/at/bob.example/things/a', { headers: bearer('eve.example') })).status).toBe(200)
})

test('the host itself is 400, and what is no identity 404', async () => {
  const { send } = await open()
  expect((await send(`/api/at/${alice.idTag}/things/a`, asAlice)).status).toBe(400)
  expect((await send('/api/at/127.0.0.1/things/a', asAlice)).status).toBe(404)
})
