import { type Contract, receiveActionSync } from '@kith/protocol'
import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { alice, bearer, callers, type HttpSiteOptions, httpSites, idTag } from '#harness/http-site.ts'
import { TestClock } from '#harness/test-clock.ts'
import type { Caller, Identified } from '#infra/caller/index.ts'
import { Failure } from '#lib/failure.ts'
import { bind, type Endpoint } from './endpoint.ts'
import { createMemoryRateLimits, defaultRateLimits, type RateLimitName } from './rate-limits.ts'
import type { HttpHooks } from './request-admission.ts'

const serving = httpSites()

const clock = new TestClock()
function withLimits(limits: Partial<Record<RateLimitName, number>>): HttpSiteOptions {
  return { clock, rateLimits: createMemoryRateLimits(clock, { ...defaultRateLimits, ...limits }) }
}

const open = {
  tag: 'Things',
  summary: 'Who',
  name: 'who',
  method: 'GET',
  path: '/api/who',
  auth: 'none',
  reply: { kind: 'data', status: 200, schema: Type.Unknown() },
  errors: [],
} as const satisfies Contract

/** An endpoint that answers who called whom. */
function who(part: Partial<Contract> = {}): Endpoint {
  const get: Contract = { ...open, ...part }
  return bind(get, async ({ tenant, bearer: presented, ip, ...call }) => {
    const caller = call.caller as Caller
    const name = caller.kind === 'identity' ? caller.idTag : caller.kind
    return { tenant: tenant?.idTag ?? null, caller: name, bearer: presented ?? null, ip } as never
  })
}

describe('the tenant', () => {
  test.each(['alice.example', 'ALICE.example', 'alice.example:8080', 'alice.example.', 'alice.example.:80'])(
    'is found by the host %s',
    async (host) => {
      const { send } = await serving(who())
      expect((await send('/api/who', { headers: { host } })).json.data.tenant).toBe('alice.example')
    },
  )

  test('that is unknown is 404, before anything else is looked at', async () => {
    const { send } = await serving(who({ auth: 'required' }))
    const { status, json } = await send('/api/who', { headers: { host: 'bob.example', ...bearer('bad') } })
    expect([status, json.error.code]).toEqual([404, 'E-PROFILE-NOTFOUND'])
  })

  test('may be nobody where the contract answers on any host', async () => {
    const { send } = await serving(who({ anyHost: true }))
    const { json } = await send('/api/who', { headers: { host: 'bob.example', ...bearer('bad') } })
    expect(json.data).toMatchObject({ tenant: null, caller: 'guest' })
  })

  test('may be found slowly', async () => {
    const hooks = {
      findTenant: async () => alice,
      authenticate: () => ({ caller: callers.owner as Caller }),
    }
    const { send } = await serving(who(), { hooks })
    expect((await send('/api/who')).json.data.tenant).toBe('alice.example')
  })

  test('is what a trusted proxy forwards, and nobody else', async () => {
    const forwarded = {
      host: 'inner.example',
      'x-forwarded-host': 'alice.example',
      'x-forwarded-for': '203.0.113.9',
    }
    const trusting = await serving(who(), { trustedProxies: ['127.0.0.1/32'] })
    const { json } = await trusting.send('/api/who', { headers: forwarded })
    expect(json.data).toMatchObject({ tenant: 'alice.example', ip: '203.0.113.9' })
    await trusting.close()
    const { send } = await serving(who())
    expect((await send('/api/who', { headers: forwarded })).status).toBe(404)
    const { json: own } = await send('/api/who', { headers: { 'x-forwarded-for': '203.0.113.9' } })
    expect(own.data.ip).toBe('127.0.0.1')
  })
})

describe('the credential', () => {
  test.each<[string, Partial<Contract>, Record<string, string>, string]>([
    ['none', { auth: 'optional' }, {}, 'guest'],
    ['a bearer', { auth: 'optional' }, bearer('owner'), 'alice.example'],
    ['a bearer in small letters', { auth: 'required' }, { authorization: 'bearer owner' }, 'alice.example'],
    ['a bearer where none is asked', {}, bearer('owner'), 'guest'],
    ['another scheme', { auth: 'optional' }, { authorization: 'Basic b3duZXI6eA==' }, 'guest'],
    ['a bad bearer that is ignored', { auth: 'optional', ignoresBadBearer: true }, bearer('bad'), 'guest'],
    ['a reference where guests may', { auth: 'optional', guests: true }, bearer('reference'), 'reference'],
  ])('%s is received', async (_, part, headers, caller) => {
    const { send } = await serving(who(part))
    expect((await send('/api/who', { headers })).json.data.caller).toBe(caller)
  })

  test.each<[string, Partial<Contract>, Record<string, string>, number, string]>([
    ['none where one is required', { auth: 'required' }, {}, 401, 'E-AUTH-UNAUTH'],
    ['a bad bearer', { auth: 'required' }, bearer('bad'), 401, 'E-AUTH-UNAUTH'],
    ['a bad bearer where it is optional', { auth: 'optional' }, bearer('bad'), 401, 'E-AUTH-UNAUTH'],
    ['a bad bearer where none is asked', {}, bearer('bad'), 401, 'E-AUTH-UNAUTH'],
    ['an empty bearer', { auth: 'optional' }, { authorization: 'Bearer ' }, 401, 'E-AUTH-UNAUTH'],
    ['a reference where guests may not', { auth: 'optional' }, bearer('reference'), 403, 'E-AUTH-FORBIDDEN'],
    [
      'a token without the scope',
      { auth: 'required', scope: 'write:files' },
      bearer('reader'),
      403,
      'E-AUTH-FORBIDDEN',
    ],
    ['a narrowed token', { auth: 'required', unscoped: true }, bearer('reader'), 403, 'E-AUTH-FORBIDDEN'],
    [
      'a caller without the role',
      { auth: 'required', role: 'leader' },
      bearer('visitor'),
      403,
      'E-AUTH-FORBIDDEN',
    ],
    [
      'an owner where SADM is asked',
      { auth: 'required', role: 'SADM' },
      bearer('owner'),
      403,
      'E-AUTH-FORBIDDEN',
    ],
  ])('%s is refused', async (_, part, headers, status, code) => {
    const { send } = await serving(who(part))
    const answer = await send('/api/who', { headers })
    expect([answer.status, answer.json.error.code]).toEqual([status, code])
    expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined)
  })

  test('is checked before the input', async () => {
    const { send } = await serving(who({ auth: 'required', query: Type.Object({ a: Type.Integer() }) }))
    expect((await send('/api/who?a=x')).status).toBe(401)
    expect((await send('/api/who?a=x', { headers: bearer('owner') })).status).toBe(400)
  })

  test('may stand in the query only where the contract says so, and the header comes first', async () => {
    const { send } = await serving([
      who({ auth: 'optional' }),
      who({ auth: 'required', queryToken: true, name: 'image', path: '/api/image' }),
    ])
    expect((await send('/api/who?token=owner')).json.data).toMatchObject({ caller: 'guest', bearer: null })
    expect((await send('/api/image?token=owner')).json.data).toMatchObject({
      caller: 'alice.example',
      bearer: 'owner',
    })
    expect((await send('/api/image?token=bad')).status).toBe(401)
    expect((await send('/api/image?token=bad', { headers: bearer('owner') })).status).toBe(200)
    expect((await send('/api/image?token=owner', { headers: bearer('bad') })).status).toBe(401)
    expect((await send('/api/image?token=owner&token=bad')).status).toBe(401)
  })

  test('that is empty is nobody’s, whatever the check would say', async () => {
    const hooks = { findTenant: () => alice, authenticate: () => ({ caller: callers.owner as Caller }) }
    const { send } = await serving(who({ auth: 'optional' }), { hooks })
    expect((await send('/api/who', { headers: { authorization: 'Bearer ' } })).status).toBe(401)
  })

  test('whose check fails otherwise is not taken for a bad one', async () => {
    const down = { findTenant: () => alice, authenticate: () => Promise.reject(new Failure('E-UNAVAILABLE')) }
    const { send } = await serving(who({ auth: 'optional', ignoresBadBearer: true }), { hooks: down })
    expect((await send('/api/who', { headers: bearer('owner') })).status).toBe(503)
  })
})

describe('what a tenant does not offer', () => {
  const offering = (isOffered: boolean): HttpHooks => ({
    findTenant: () => alice,
    authenticate({ bearer: shown }) {
      const caller = callers[shown]
      if (!caller) throw new Failure('E-AUTH-UNAUTH')
      return { caller }
    },
    hasFeature: async () => isOffered,
  })
  const names = who({ feature: 'idp', auth: 'required' })

  test.each([[{}], [bearer('bad')], [bearer('owner')]])('is nothing to whoever shows %o', async (headers) => {
    const { send } = await serving(names, { hooks: offering(false) })
    const { status, json } = await send('/api/who', { headers })
    expect([status, json.error.code]).toEqual([404, 'E-NOTFOUND'])
  })

  test('is counted like anything else', async () => {
    const { send } = await serving(names, { ...withLimits({ anonymous: 2 }), hooks: offering(false) })
    const statusOf = async (headers = {}) => (await send('/api/who', { headers })).status
    expect([await statusOf(bearer('bad')), await statusOf(), await statusOf(bearer('owner'))]).toEqual([
      404, 404, 429,
    ])
  })

  test('takes no other method either', async () => {
    const answerOf = async (isOffered: boolean) => {
      const { send, close } = await serving(names, { hooks: offering(isOffered) })
      const { status, headers } = await send('/api/who', { method: 'PUT' })
      await close()
      return [status, headers.allow]
    }
    expect(await answerOf(false)).toEqual([404, undefined])
    expect(await answerOf(true)).toEqual([405, 'GET, HEAD'])
  })

  test('asks for a bearer where it is offered', async () => {
    const { send } = await serving(names, { hooks: offering(true) })
    expect((await send('/api/who')).status).toBe(401)
    expect((await send('/api/who', { headers: bearer('owner') })).status).toBe(200)
  })
})

describe('a suspended tenant', () => {
  const hooks = {
    findTenant: () => ({ ...alice, suspendedAt: 1 }),
    authenticate({ bearer: presented }: { bearer: string }) {
      if (presented === 'old') throw new Failure('E-AUTH-UNAUTH')
      return { caller: callers.owner as Caller }
    },
  }
  const answer = async (part: Partial<Contract>, headers = {}) => {
    const { send, close } = await serving(who(part), { ...withLimits({}), hooks })
    const { status, json } = await send('/api/who', { headers })
    await close()
    return [status, json.error?.code ?? json.data, json.error?.message]
  }

  const notFound = [404, 'E-PROFILE-NOTFOUND', expect.any(String)]

  test('is nowhere to be found, and its bearers are bad ones', async () => {
    for (const part of [{}, { auth: 'optional' }, { auth: 'required' }, { feature: 'idp' }] as const) {
      expect(await answer(part)).toEqual(notFound)
      expect(await answer(part, bearer('old'))).toEqual([401, 'E-AUTH-UNAUTH', expect.any(String)])
      expect(await answer(part, bearer('owner'))).toEqual(notFound)
    }
    const forgiving = { auth: 'optional', ignoresBadBearer: true } as const
    expect(await answer(forgiving, bearer('old'))).toEqual(notFound)
  })

  test('says so where people sign in', async () => {
    for (const bucket of ['sign-in', 'recovery', 'qr'] as const)
      for (const headers of [{}, bearer('old')])
        expect(await answer({ bucket }, headers)).toEqual([
          403,
          'E-AUTH-FORBIDDEN',
          'This account is suspended.',
        ])
  })

  test('counts each who would sign in once', async () => {
    const { send } = await serving(who({ bucket: 'sign-in' }), { ...withLimits({ anonymous: 3 }), hooks })
    const statuses = []
    for (const headers of [{}, bearer('old'), {}, {}])
      statuses.push((await send('/api/who', { headers })).status)
    expect(statuses).toEqual([403, 403, 403, 429])
  })

  test('is served by what must not tell that it is suspended', async () => {
    const alike = { bucket: 'recovery', whileSuspended: true } as const
    const served = expect.objectContaining({ tenant: alice.idTag, caller: 'guest' })
    expect(await answer(alike)).toEqual([200, served, undefined])
    expect(await answer(alike, bearer('old'))).toEqual([401, 'E-AUTH-UNAUTH', expect.any(String)])
  })

  test('is no tenant to what answers on every host', async () => {
    const nobody = expect.objectContaining({ tenant: null, caller: 'guest' })
    for (const headers of [{}, bearer('owner')])
      expect(await answer({ anyHost: true }, headers)).toEqual([200, nobody, undefined])
  })
})

describe('rates', () => {
  test('are shown by every answer: of the address, of the identity, none for the administrator', async () => {
    const { send } = await serving(who({ auth: 'optional' }), withLimits({}))
    const rate = async (headers: Record<string, string>) => {
      const answer = await send('/api/who', { headers })
      const of = (name: string) => Number(answer.headers[`x-ratelimit-${name}`])
      return [of('limit'), of('remaining'), of('reset')]
    }
    const reset = Date.UTC(2026, 0, 1) / 1000 + 60
    expect(await rate({})).toEqual([1000, 999, reset])
    expect(await rate({})).toEqual([1000, 998, reset])
    expect(await rate(bearer('owner'))).toEqual([5000, 4999, reset])
    expect(await rate(bearer('visitor'))).toEqual([5000, 4999, reset])
    expect(await rate(bearer('nobody'))).toEqual([1000, 997, reset])
    expect(await rate(bearer('admin'))).toEqual([2 ** 31 - 1, 2 ** 31 - 1, reset])
    expect(await rate(bearer('bad'))).toEqual([300, 299, reset])
    expect(await rate({ host: 'unknown.example' })).toEqual([1000, 996, reset])
  })

  test('beyond the limit are 429 until the minute is over', async () => {
    const own = new TestClock()
    const rateLimits = createMemoryRateLimits(own, { ...defaultRateLimits, anonymous: 2, identity: 3 })
    const { send } = await serving(who({ auth: 'optional' }), { clock: own, rateLimits })
    await send('/api/who')
    await send('/nowhere')
    own.advance(45_500)
    const refused = await send('/api/who')
    expect([refused.status, refused.json.error.code]).toEqual([429, 'E-RATELIMIT'])
    expect(refused.headers).toMatchObject({ 'retry-after': '15', 'x-ratelimit-remaining': '0' })
    expect((await send('/nowhere')).status).toBe(429)
    expect((await send('/api/who', { headers: bearer('owner') })).status).toBe(200)
    own.advance(15_000)
    expect((await send('/api/who')).status).toBe(200)
  })

  test('of an identity are its own', async () => {
    const { send } = await serving(who({ auth: 'required' }), withLimits({ identity: 1 }))
    const statusOf = async (token: string) => (await send('/api/who', { headers: bearer(token) })).status
    expect([await statusOf('owner'), await statusOf('owner')]).toEqual([200, 429])
    expect([await statusOf('visitor'), await statusOf('visitor')]).toEqual([200, 429])
    for (let time = 0; time < 5; time += 1) expect(await statusOf('admin')).toBe(200)
  })

  test('of an inbox that makes senders wait are lower, and those of the inbox on top', async () => {
    const endpoints = [
      who({ bucket: 'inbox-sync' }),
      who({ name: 'other', path: '/api/other', bucket: 'inbox' }),
    ]
    const { send } = await serving(endpoints, withLimits({ inbox: 3, 'inbox-sync': 2, anonymous: 0 }))
    const statuses = []
    for (const path of ['who', 'who', 'who', 'other']) statuses.push((await send(`/api/${path}`)).status)
    expect(statuses).toEqual([200, 200, 429, 429])
    expect(receiveActionSync.bucket).toBe('inbox-sync')
    expect(defaultRateLimits['inbox-sync']).toBeLessThan(defaultRateLimits.inbox)
  })

  test('of a tight bucket come on top', async () => {
    const { send } = await serving(
      [who({ bucket: 'sign-in' }), who({ name: 'other', path: '/api/other' })],
      withLimits({ 'sign-in': 2 }),
    )
    expect((await send('/api/who')).status).toBe(200)
    expect((await send('/api/who')).status).toBe(200)
    const refused = await send('/api/who')
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60'])
    // Of the bucket that refused: it is for this one that the client has to wait.
    expect(refused.headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Date.UTC(2026, 0, 1) / 1000 + 60),
    })
    expect((await send('/api/who', { headers: bearer('owner') })).status).toBe(429)
    const other = await send('/api/other')
    expect([other.status, other.headers['x-ratelimit-limit']]).toEqual([200, '1000'])
  })

  test('of bad bearers are for bad bearers: good ones and guests of the same address come through', async () => {
    const limits = withLimits({ 'bad-bearer': 3, anonymous: 1, 'sign-in': 1, identity: 9 })
    const tight = who({ auth: 'optional', bucket: 'sign-in', name: 'tight', path: '/api/tight' })
    const { send } = await serving([who({ auth: 'optional' }), tight], limits)
    const statuses = []
    for (const path of ['who', 'tight', 'who', 'tight', 'who'])
      statuses.push((await send(`/api/${path}`, { headers: bearer('bad') })).status)
    expect(statuses).toEqual([401, 401, 401, 429, 429])
    for (const headers of [{}, bearer('owner'), bearer('visitor')])
      expect((await send('/api/who', { headers })).status).toBe(200)
    expect((await send('/api/tight', { headers: bearer('owner') })).status).toBe(200)
  })

  test('of guests are for those too whose bad bearer is ignored', async () => {
    const part = { auth: 'optional', ignoresBadBearer: true } as const
    const { send } = await serving(who(part), withLimits({ anonymous: 2 }))
    const statuses = []
    for (const headers of [bearer('bad'), {}, bearer('bad')])
      statuses.push((await send('/api/who', { headers })).status)
    expect(statuses).toEqual([200, 200, 429])
  })

  test('of a visitor count for the identity and for the address, of the owner for the identity', async () => {
    const { send } = await serving(who({ auth: 'required' }), {
      ...withLimits({ visitor: 2 }),
      hooks: {
        findTenant: () => alice,
        authenticate: ({ bearer: name }) => ({
          caller: {
            ...(callers.visitor as Identified),
            idTag: idTag(`${name}.example`),
            isOwner: name === 'owner',
          },
        }),
      },
      trustedProxies: ['127.0.0.1/32'],
    })
    const statusOf = async (name: string, ip: string) =>
      (await send('/api/who', { headers: { ...bearer(name), 'x-forwarded-for': ip } })).status
    const one = ['a', 'b', 'c', 'owner']
    const statuses = []
    for (const name of one) statuses.push(await statusOf(name, '203.0.113.1'))
    expect(statuses).toEqual([200, 200, 429, 200])
    expect(await statusOf('c', '203.0.113.2')).toBe(200)
  })

  test('are counted by the address that a trusted proxy forwards', async () => {
    const { send } = await serving(who(), {
      ...withLimits({ anonymous: 1 }),
      trustedProxies: ['127.0.0.1/32'],
    })
    const statusOf = async (ip: string) =>
      (await send('/api/who', { headers: { 'x-forwarded-for': ip } })).status
    expect([await statusOf('203.0.113.1'), await statusOf('203.0.113.2')]).toEqual([200, 200])
    expect(await statusOf('203.0.113.1')).toBe(429)
    expect([await statusOf('2001:db8::1'), await statusOf('2001:db8::2')]).toEqual([200, 429])
  })
})
