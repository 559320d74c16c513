import {
  allContracts,
  type Contract,
  getAccessToken,
  getProxyToken,
  logout,
  putSetting,
  type ScopeArea,
  scopeAreas,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

const hash = 'A'.repeat(43)
const samples: Readonly<Record<string, string>> = {
  actionId: `a1~${hash}`,
  fileId: `b1~${hash}`,
  variantId: `b1~${hash}~tn`,
  refId: '0123456789ABCDEFabcdefgh',
  idTag: 'nobody.localhost',
  preset: 'default',
  fileName: 'a.txt',
  uploadId: 'nothing',
}

let server: TestServer
const tokens: Record<string, string> = {}

beforeAll(async () => {
  server = await TestServer.start()
  await server.createTenant('alice.localhost')
  await server.createTenant('bob.localhost')
  tokens.expired = await server.signIn('alice.localhost')
  server.clock.advance(25 * 3_600_000)
  tokens.alice = await server.signIn('alice.localhost')
  // Everything that a tenant may offer is there.
  const params = { name: 'idp.enabled' }
  await (await server.as('alice.localhost')).call(putSetting, { params, body: { value: true } })
  tokens.bob = await server.signIn('bob.localhost')
  tokens.revoked = await server.signIn('alice.localhost')
  await server.client('alice.localhost', tokens.revoked).call(logout, {})
  const proxy = await server
    .client('bob.localhost', tokens.bob)
    .call(getProxyToken, { query: { target: 'alice.localhost' } })
  tokens.proxy = proxy.data.token
  for (const area of scopeAreas) {
    tokens[`read:${area}`] = await narrow(`read:${area}`)
    tokens[`write:${area}`] = await narrow(`write:${area}`)
  }
})

afterAll(() => server.stop())

async function narrow(scope: string): Promise<string> {
  const { data } = await server
    .client('alice.localhost', tokens.alice)
    .call(getAccessToken, { query: { scope } })
  return data.token
}

/** A request that is right in everything but perhaps its bearer; most bodies are missing, which is looked at later. */
async function attempt(contract: Contract, token: string | undefined) {
  // There are more endpoints than an address may show bad bearers in one minute.
  server.clock.advance(300)
  const path = contract.path.replace(/\{(\w+)\*?\}/g, (_, name: string) => samples[name] ?? '1')
  const response = await server.request('alice.localhost', path, {
    method: contract.method,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  const code = isJson ? (JSON.parse(text) as { error?: { code: string } }).error?.code : undefined
  return { status: response.status, code }
}

function otherArea(area: string): ScopeArea {
  return area === 'notifications' ? 'collections' : 'notifications'
}

const unauthenticated = { status: 401, code: 'E-AUTH-UNAUTH' }
const forbidden = { status: 403, code: 'E-AUTH-FORBIDDEN' }
const named = allContracts.map((contract) => ({ name: contract.name, contract }))
const strict = named.filter(({ contract }) => !contract.ignoresBadBearer)
const required = named.filter(({ contract }) => contract.auth === 'required')
const scoped = required.filter(({ contract }) => contract.scope)
const unscoped = required.filter(({ contract }) => contract.unscoped)
const ofLeaders = required.filter(({ contract }) => contract.role && contract.role !== 'public')
const ofAdmins = required.filter(({ contract }) => contract.role === 'SADM')

test('every contract is bound, and nothing else is', () => {
  const bound = server.running.features.endpoints.map(({ contract }) => contract.name).sort()
  expect(bound).toEqual(named.map(({ name }) => name).sort())
})

describe('without a bearer', () => {
  test.each(required)('$name is refused', async ({ contract }) => {
    expect(await attempt(contract, undefined)).toEqual(unauthenticated)
  })
})

describe.each(['garbage', 'expired', 'revoked', 'bob'])(
  'with a bearer that is not good here (%s)',
  (kind) => {
    test.each(strict)('$name is refused', async ({ contract }) => {
      expect(await attempt(contract, tokens[kind] ?? kind)).toEqual(unauthenticated)
    })
  },
)

describe('with a scope that does not reach', () => {
  test.each(scoped)('another area: $name is forbidden', async ({ contract }) => {
    const [, area = ''] = contract.scope?.split(':') ?? []
    expect(await attempt(contract, tokens[`write:${otherArea(area)}`])).toEqual(forbidden)
  })

  test.each(scoped.filter(({ contract }) => !contract.scope?.startsWith('read:')))(
    'reading only: $name is forbidden',
    async ({ contract }) => {
      const [, area = ''] = contract.scope?.split(':') ?? []
      expect(await attempt(contract, tokens[`read:${area}`])).toEqual(forbidden)
    },
  )

  test.each(unscoped)('any narrowing: $name is forbidden', async ({ contract }) => {
    expect(await attempt(contract, tokens['write:profile'])).toEqual(forbidden)
  })
})

describe('with too low a role', () => {
  test.each(ofLeaders)('a stranger: $name is forbidden', async ({ contract }) => {
    expect(await attempt(contract, tokens.proxy)).toEqual(forbidden)
  })

  test.each(ofAdmins)('an owner who is no administrator: $name is forbidden', async ({ contract }) => {
    expect(await attempt(contract, tokens.alice)).toEqual(forbidden)
  })
})

describe('with a good bearer', () => {
  test.each(required.filter(({ contract }) => !contract.role || contract.role !== 'SADM'))(
    '$name does not say that it is the bearer',
    async ({ contract }) => {
      if (contract.name === 'logout') return
      const { code } = await attempt(contract, tokens.alice)
      expect(code).not.toBe('E-AUTH-UNAUTH')
    },
  )
})
