import type { Contract, Requirements, TenantFeature } from '@kith/protocol'
import Type from 'typebox'
import { afterEach, describe, expect, test } from 'vitest'
import { alice, bearer } from '#harness/http-site.ts'
import { type SocketSite, type SocketSiteOptions, startSocketSite } from '#harness/socket-site.ts'
import { bind } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'

let site: SocketSite | undefined
afterEach(async () => {
  await site?.close()
  site = undefined
})

/** An endpoint and a socket that ask for the same. */
async function serving(
  requirements: Partial<Requirements>,
  options: Omit<SocketSiteOptions, 'requirements' | 'endpoints'> = {},
): Promise<SocketSite> {
  const contract: Contract = {
    tag: 'Things',
    summary: 'Who',
    name: 'who',
    method: 'GET',
    path: '/api/who',
    auth: 'optional',
    guests: true,
    ...requirements,
    reply: { kind: 'data', status: 200, schema: Type.Unknown() },
    errors: [],
  }
  const endpoint = bind(contract, async ({ caller }) => caller.kind as never)
  site = await startSocketSite({ ...options, requirements, endpoints: [endpoint] })
  return site
}

type Outcome = 'in' | `${number} ${string}`

async function overHttp(at: SocketSite, token: string | undefined): Promise<Outcome> {
  const { status, json } = await at.send('/api/who', { headers: token === undefined ? {} : bearer(token) })
  return status === 200 ? 'in' : `${status} ${json.error.code}`
}

/** What the socket says, as HTTP would have said it. */
const closes: Record<number, Outcome> = {
  1008: '401 E-AUTH-UNAUTH',
  4403: '403 E-AUTH-FORBIDDEN',
  1013: '429 E-RATELIMIT',
}

async function overSocket(at: SocketSite, token: string | undefined): Promise<Outcome> {
  const answer = await at.sendRaw(
    [
      'GET /ws/echo/x HTTP/1.1',
      `Host: ${alice.idTag}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
      '\r\n',
    ].join('\r\n'),
  )
  // Without its key a handshake that is let in is no good, and ends there.
  const [, status, body = ''] = /^HTTP\/1\.1 (\d+)[\s\S]*?\r\n\r\n([\s\S]*)$/.exec(answer) ?? []
  if (status !== '400') return `${Number(status)} ${JSON.parse(body).error.code}`
  await using client = await at.connect(token === undefined ? '/ws/echo/x' : `/ws/echo/x?token=${token}`)
  client.send('in?')
  const isIn = client.until(1).then(() => 'in' as const)
  for (;;) {
    at.clock.advance(1000)
    const outcome = await Promise.race([
      isIn,
      client.closed.then(({ code }) => closes[code]),
      new Promise<undefined>((resolve) => setImmediate(resolve, undefined)),
    ])
    if (outcome) return outcome
  }
}

const tokens = [undefined, '', 'bad', 'nobody', 'owner', 'admin', 'visitor', 'reader', 'reference'] as const

const asked: readonly (readonly [string, Partial<Requirements>])[] = [
  ['anybody', {}],
  ['anybody but references', { guests: undefined as never }],
  ['nothing', { auth: 'none' }],
  ['an identity or a reference', { auth: 'required' }],
  ['a person', { auth: 'personal' }],
  ['a scope', { auth: 'required', scope: 'write:files' }],
  ['a scope that a reference has', { auth: 'required', scope: 'read:files' }],
  ['no scope', { auth: 'required', unscoped: true }],
  ['a role', { auth: 'required', role: 'leader' }],
  ['an administrator', { auth: 'required', role: 'SADM' }],
  ['a role, or an administrator', { auth: 'required', role: 'leader', orAdmin: true }],
  ['no good bearer', { ignoresBadBearer: true }],
]

describe('a socket lets in whom an endpoint lets in', () => {
  test.each(asked)('that asks for %s', async (_, requirements) => {
    const at = await serving(requirements)
    for (const token of tokens)
      expect([token, await overSocket(at, token)]).toEqual([token, await overHttp(at, token)])
  })

  test('guests where the contract says so, and nowhere else', async () => {
    const open = await serving({ auth: 'optional' })
    expect([await overSocket(open, undefined), await overSocket(open, 'reference')]).toEqual(['in', 'in'])
    await open.close()
    const closed = await serving({ auth: 'required' })
    expect(await overSocket(closed, undefined)).toBe('401 E-AUTH-UNAUTH')
  })
})

describe('the tenant of a socket', () => {
  const suspended = {
    findTenant: async () => ({ ...alice, suspendedAt: 1 }),
    authenticate: async () => Promise.reject(new Failure('E-AUTH-UNAUTH')),
  }

  test.each([
    [{}, undefined, '404 E-PROFILE-NOTFOUND'],
    [{}, 'owner', '401 E-AUTH-UNAUTH'],
    [{ ignoresBadBearer: true }, 'owner', '404 E-PROFILE-NOTFOUND'],
    [{ bucket: 'sign-in' }, undefined, '403 E-AUTH-FORBIDDEN'],
  ] as const)(
    'that is suspended refuses the upgrade like a request: %o, %s',
    async (part, token, outcome) => {
      const at = await serving(part, { hooks: suspended })
      expect([await overHttp(at, token), await overSocket(at, token)]).toEqual([outcome, outcome])
      expect(at.visits).toHaveLength(0)
    },
  )

  test('that is suspended lets in where nothing may tell that it is', async () => {
    const at = await serving({ bucket: 'recovery', whileSuspended: true }, { hooks: suspended })
    expect([await overHttp(at, undefined), await overSocket(at, undefined)]).toEqual(['in', 'in'])
  })

  test('that is suspended has no socket to speak of at its path', async () => {
    const at = await serving({}, { hooks: suspended })
    expect((await at.send('/ws/echo/x')).status).toBe(404)
  })

  test.each([undefined, 'owner', 'bad'])(
    'offers what it has switched on, and the rest is 404 to %s',
    async (token) => {
      const hasFeature = async (_: unknown, feature: TenantFeature) => feature !== 'idp'
      const off = await serving({ feature: 'idp' }, { hooks: { hasFeature } })
      expect([await overHttp(off, token), await overSocket(off, token)]).toEqual([
        '404 E-NOTFOUND',
        '404 E-NOTFOUND',
      ])
      await off.close()
      const on = await serving({ feature: 'idp' }, { hooks: { hasFeature: async () => true } })
      expect(await overSocket(on, token)).toBe(await overHttp(on, token))
    },
  )
})

describe('a tight bucket', () => {
  test('is taken from by requests and sockets together', async () => {
    const at = await serving({ auth: 'required', bucket: 'qr' }, { rates: { qr: 2 } })
    expect([await overHttp(at, 'owner'), await overHttp(at, 'owner')]).toEqual(['in', 'in'])
    expect([await overHttp(at, 'owner'), await overSocket(at, 'owner')]).toEqual([
      '429 E-RATELIMIT',
      '429 E-RATELIMIT',
    ])
    at.clock.advance(60_000)
    expect(await overSocket(at, 'owner')).toBe('in')
  })
})
