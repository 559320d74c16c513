import {
  allContracts,
  type CommunityRole,
  type Contract,
  createApiKey,
  createReference,
  getAccessToken,
  getProxyToken,
  logout,
  putSetting,
  roleLevel,
  type ScopeArea,
  scopeAreas,
  updateAdminProfile,
  uploadFile,
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

const alice = 'alice.localhost'
const club = 'club.localhost'

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
  tokens.proxy = await visit('bob.localhost', alice)
  await comeOtherwise()
  for (const area of scopeAreas) {
    tokens[`read:${area}`] = await narrow(`read:${area}`)
    tokens[`write:${area}`] = await narrow(`write:${area}`)
  }
})

afterAll(() => server.stop())

async function proxyToken(by: string, target: string): Promise<string> {
  return (await (await server.as(by)).call(getProxyToken, { query: { target } })).data.token
}

async function visit(by: string, host: string): Promise<string> {
  const token = await proxyToken(by, host)
  return (await server.client(host).call(getAccessToken, { query: { token } })).data.token
}

const members: readonly CommunityRole[] = ['follower', 'contributor', 'moderator', 'leader']

/** Those who come with something else than a sign-in of their own. */
async function comeOtherwise(): Promise<void> {
  const home = server.baseIdTag
  const owner = server.client(alice, tokens.alice)
  tokens['for another'] = await proxyToken('bob.localhost', home)
  tokens.key = (await owner.call(createApiKey, { body: { name: 'script' } })).data.key
  const admin = await server.as(home)
  tokens['admin key'] = (await admin.call(createApiKey, { body: { name: 'script' } })).data.key
  const { data: file } = await owner.upload(uploadFile, {
    params: { preset: 'raw', fileName: 'note.txt' },
    body: new Blob(['hello']),
  })
  const body = { type: 'share.file', resourceId: file.fileId, accessLevel: 'write' } as const
  const { data: reference } = await owner.call(createReference, { body })
  const { data: guest } = await server.client(alice).call(getAccessToken, { query: { ref: reference.refId } })
  tokens.reference = guest.token
  await server.createTenant('deputy.localhost')
  await admin.call(updateAdminProfile, {
    params: { idTag: 'deputy.localhost' },
    body: { roles: ['SADM'] },
  })
  tokens.deputy = await visit('deputy.localhost', home)
  tokens['deputy elsewhere'] = await visit('deputy.localhost', alice)
  await server.createTenant(club, { type: 'community' })
  for (const role of members) {
    await server.createTenant(`${role}.localhost`)
    await server.relate(club, `${role}.localhost`, { role, connection: 'connected' })
    tokens[role] = await visit(`${role}.localhost`, club)
  }
  await using second = await TestServer.start({ clock: server.clock })
  await second.createTenant(alice)
  tokens['another server'] = await second.signIn(alice)
}

async function narrow(scope: string): Promise<string> {
  const { data } = await server
    .client('alice.localhost', tokens.alice)
    .call(getAccessToken, { query: { scope } })
  return data.token
}

/** A request that is right in everything but perhaps its bearer; most bodies are missing, which is looked at later. */
async function attempt(contract: Contract, token: string | undefined, host = alice) {
  // There are more endpoints than an address may show bad bearers in one minute.
  server.clock.advance(300)
  const path = contract.path.replace(/\{(\w+)\*?\}/g, (_, name: string) => samples[name] ?? '1')
  const response = await server.request(host, path, {
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
const ofEverybody = required.filter(({ contract }) => !contract.feature)
// The last thing that anybody does with a token.
const without = (name: string) => (each: { name: string }) => each.name !== name

test('every contract is bound, and nothing else is', () => {
  const bound = server.running.features.endpoints.map(({ contract }) => contract.name).sort()
  expect(bound).toEqual(named.map(({ name }) => name).sort())
})

describe('without a bearer', () => {
  test.each(required)('$name is refused', async ({ contract }) => {
    expect(await attempt(contract, undefined)).toEqual(unauthenticated)
  })
})

describe.each(['garbage', 'expired', 'revoked', 'bob', 'for another', 'another server'])(
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

describe('with a reference to a file', () => {
  const taking = named.filter(({ contract }) => contract.auth !== 'none')

  test.each(taking.filter(({ contract }) => !contract.guests || contract.role))(
    '$name is forbidden',
    async ({ contract }) => {
      expect(await attempt(contract, tokens.reference)).toEqual(forbidden)
    },
  )

  test.each(taking.filter(({ contract }) => contract.guests && !contract.role))(
    '$name does not say that it is the bearer',
    async ({ contract }) => {
      expect((await attempt(contract, tokens.reference)).code).not.toBe('E-AUTH-UNAUTH')
    },
  )
})

describe('with an API key', () => {
  test.each(required)('$name does not say that it is the bearer', async ({ contract }) => {
    expect((await attempt(contract, tokens.key)).code).not.toBe('E-AUTH-UNAUTH')
  })

  test.each(ofAdmins)('of the server’s owner: $name is forbidden', async ({ contract }) => {
    expect(await attempt(contract, tokens['admin key'], server.baseIdTag)).toEqual(forbidden)
  })
})

describe('appointed as an administrator', () => {
  test.each(ofAdmins)('on the base tenant’s host $name is allowed', async ({ contract }) => {
    const { code } = await attempt(contract, tokens.deputy, server.baseIdTag)
    expect([unauthenticated.code, forbidden.code]).not.toContain(code)
  })

  test.each(ofLeaders)('on another host $name is forbidden', async ({ contract }) => {
    expect(await attempt(contract, tokens['deputy elsewhere'])).toEqual(forbidden)
  })
})

describe.each(members)('in a community, as its %s', (role) => {
  const isBeyond = ({ contract }: { contract: Contract }) =>
    contract.role === 'SADM' || (contract.role !== undefined && roleLevel(role) < roleLevel(contract.role))

  test.each(ofEverybody.filter(isBeyond))('$name is forbidden', async ({ contract }) => {
    expect(await attempt(contract, tokens[role], club)).toEqual(forbidden)
  })

  test.each(ofEverybody.filter((each) => !isBeyond(each)).filter(without('logout')))(
    '$name does not say that it is the bearer',
    async ({ contract }) => {
      expect((await attempt(contract, tokens[role], club)).code).not.toBe('E-AUTH-UNAUTH')
    },
  )
})
