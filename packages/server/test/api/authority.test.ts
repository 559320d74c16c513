import {
  allContracts,
  type CommunityRole,
  type Contract,
  createAction,
  createApiKey,
  createManagedIdentity,
  createReference,
  downloadFile,
  getAccessToken,
  getAction,
  getIdentityDocument,
  getManagedIdentity,
  getMe,
  getProxyToken,
  getSetting,
  getVapidKey,
  listApiKeys,
  listDomainBlocks,
  listReferences,
  logout,
  putSetting,
  refreshLogin,
  updateAdminProfile,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Holder, refusalOf, scopesOfOneItem } from '#harness/contract-authority.ts'
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
const bob = 'bob.localhost'
const club = 'club.localhost'
const members: readonly CommunityRole[] = ['contributor', 'moderator', 'leader']

let server: TestServer
let fileId: string

beforeAll(async () => {
  server = await TestServer.start()
  for (const idTag of [alice, bob, 'deputy.localhost']) await server.createTenant(idTag)
  await server.createTenant(club, { type: 'community' })
  for (const role of members) {
    await server.createTenant(`${role}.localhost`)
    await server.relate(club, `${role}.localhost`, { role, connection: 'connected' })
  }
  // Everything that a tenant may offer is there.
  for (const idTag of [alice, server.baseIdTag])
    await (await server.as(idTag)).call(putSetting, {
      params: { name: 'idp.enabled' },
      body: { value: true },
    })
  await (await server.as(server.baseIdTag)).call(updateAdminProfile, {
    params: { idTag: 'deputy.localhost' },
    body: { roles: ['SADM'] },
  })
  const { data } = await (await server.as(alice)).upload(uploadFile, {
    params: { preset: 'raw', fileName: 'note.txt' },
    body: new Blob(['hello']),
  })
  fileId = data.fileId
})

afterAll(() => server.stop())

/** A request that is right in everything but perhaps its bearer; most bodies are missing, which is looked at later. */
async function attempt(contract: Contract, token: string | undefined, host: string) {
  // There are more endpoints than an address may show bad bearers in one minute.
  server.clock.advance(300)
  const path = contract.path.replace(/\{(\w+)\*?\}/g, (_, name: string) => samples[name] ?? '1')
  const response = await server.request(host, path, {
    method: contract.method,
    headers: {
      // A secret of another kind, which is asked for before anything is looked up.
      'x-qr-secret': hash,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  const code = isJson ? (JSON.parse(text) as { error?: { code: string } }).error?.code : undefined
  return `${response.status} ${code ?? ''}`.trim()
}

const unauthenticated = '401 E-AUTH-UNAUTH'
const forbidden = '403 E-AUTH-FORBIDDEN'
// No two ask for the same. What each contract asks for is told by protocol/src/api/authority.test.ts, and all decisions
// about that by infra/http/authorize-rules.test.ts: here credentials are real ones, and the server asks about them.
const unlike: readonly Contract[] = [
  getIdentityDocument,
  getMe,
  getAction,
  createAction,
  downloadFile,
  uploadFile,
  listReferences,
  refreshLogin,
  getProxyToken,
  createApiKey,
  listApiKeys,
  getSetting,
  updateAdminProfile,
  listDomainBlocks,
  getManagedIdentity,
  getVapidKey,
]

interface Shown {
  readonly host?: string
  readonly token: string | undefined
}

/** Each endpoint once. `expected`: how it refuses; undefined where the contract lets in, and where no more is asked than
 * that the bearer is believed, since the thing that is named is not there. */
async function tryAll(
  { host = alice, token }: Shown,
  expected: (contract: Contract) => string | undefined,
  contracts: readonly Contract[] = unlike,
) {
  const wrong: Record<string, { got: string; wanted: string }> = {}
  for (const contract of contracts) {
    const wanted = expected(contract)
    const got = await attempt(contract, token, host)
    const isRight = wanted === undefined ? got !== unauthenticated : got === wanted
    if (!isRight) wrong[contract.name] = { got, wanted: wanted ?? `not ${unauthenticated}` }
  }
  expect(wrong).toEqual({})
}

const owner = async () => server.client(alice, await server.signIn(alice))
const admin = () => server.as(server.baseIdTag)

async function proxyToken(by: string, target: string): Promise<string> {
  return (await (await server.as(by)).call(getProxyToken, { query: { target } })).data.token
}

async function visit(by: string, host: string): Promise<string> {
  const token = await proxyToken(by, host)
  return (await server.client(host).call(getAccessToken, { query: { token } })).data.token
}

async function access(bearer: string, scope?: string, host = alice): Promise<string> {
  const query = scope === undefined ? {} : { scope }
  return (await server.client(host, bearer).call(getAccessToken, { query })).data.token
}

async function key(scope?: string): Promise<string> {
  const body = { name: 'script', ...(scope === undefined ? {} : { scope }) }
  return (await (await owner()).call(createApiKey, { body })).data.key
}

test('every contract is bound, and nothing else is', () => {
  const bound = server.running.features.endpoints.map(({ contract }) => contract.name).sort()
  expect(bound).toEqual(allContracts.map(({ name }) => name).sort())
})

test('without a bearer, at each endpoint', () =>
  tryAll(
    { token: undefined },
    ({ auth, role, name }) => {
      // There is nothing to exchange.
      if (name === 'getAccessToken' || name === 'refreshLogin') return unauthenticated
      return auth === 'none' || (auth === 'optional' && !role) ? undefined : unauthenticated
    },
    allContracts,
  ))

describe('with a bearer that is not good here', () => {
  const bad: Record<string, () => Promise<string>> = {
    'made up': async () => 'garbage',
    'an invented API key': async () => `sk_${hash}`,
    'an invented key of an identity': async () => `idp_${hash}`,
    revoked: async () => {
      const token = await server.signIn(alice)
      await server.client(alice, token).call(logout, {})
      return token
    },
    'a deleted API key’s': async () => {
      const client = await owner()
      const { data } = await client.call(createApiKey, { body: { name: 'script' } })
      const token = await access(data.key)
      await server.request(alice, `/api/auth/api-keys/${data.keyId}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${await server.signIn(alice)}` },
      })
      return token
    },
    'another tenant’s': () => server.signIn(bob),
    'for another tenant': () => proxyToken(bob, server.baseIdTag),
    'an action token': async () => {
      const { data } = await (await server.as(alice)).call(createAction, {
        body: { type: 'POST', content: { text: 'hello' }, visibility: 'P' },
      })
      return server.tokenOf(alice, data.actionId)
    },
    'another server’s': async () => {
      await using second = await TestServer.start({ clock: server.clock })
      await second.createTenant(alice)
      return await second.signIn(alice)
    },
    expired: async () => {
      const token = await server.signIn(alice)
      server.clock.advance(25 * 3_600_000)
      return token
    },
  }

  test.each(Object.entries(bad))('%s', async (_, make) => {
    const token = await make()
    await tryAll({ token }, ({ ignoresBadBearer }) => (ignoresBadBearer ? undefined : unauthenticated))
  })
})

describe('with a good bearer', () => {
  interface Kind extends Partial<Holder> {
    readonly host?: string
    readonly make: () => Promise<string>
  }
  const grants = new Map(scopesOfOneItem('ID'))
  const of = (scope: string) => ({
    grants: grants.get(scope.replace(/^file:.*:/, 'file:ID:')) ?? new Set<string>(),
  })
  const byOwner: Holder = { grants: 'all', isPersonal: false, role: 'leader', isAdmin: false }
  const kinds: Record<string, Kind> = {
    'a login token': { isPersonal: true, make: () => server.signIn(alice) },
    'an access token': { isPersonal: true, make: async () => access(await server.signIn(alice)) },
    'an API key': { make: () => key() },
    'a token made from an API key': { make: async () => access(await key()) },
    'a proxy token of a stranger': { role: 'public', make: () => proxyToken(bob, alice) },
    'an access token of a stranger': { role: 'public', make: () => visit(bob, alice) },
    'an administrator on another host': { role: 'public', make: () => visit('deputy.localhost', alice) },
    'an appointed administrator': {
      role: 'public',
      isAdmin: true,
      host: 'home.localhost',
      make: () => proxyToken('deputy.localhost', server.baseIdTag),
    },
    'the base tenant’s owner': {
      isPersonal: true,
      isAdmin: true,
      host: 'home.localhost',
      make: () => server.signIn(server.baseIdTag),
    },
    'an API key of the base tenant’s owner': {
      host: 'home.localhost',
      make: async () => (await (await admin()).call(createApiKey, { body: { name: 'script' } })).data.key,
    },
  }
  for (const scope of ['read', 'admin', 'admin:keys'])
    kinds[`an access token with ${scope}`] = {
      ...of(scope),
      isPersonal: true,
      make: async () => access(await server.signIn(alice), scope),
    }
  for (const scope of ['write', 'admin', 'admin:refs'])
    kinds[`an API key with ${scope}`] = { ...of(scope), make: () => key(scope) }
  kinds['an access token for one file'] = {
    ...of('file:ID:write'),
    isPersonal: true,
    make: async () => access(await server.signIn(alice), `file:${fileId}:write`),
  }

  test.each(Object.entries(kinds))('%s', async (_, { host = alice, make, ...given }) => {
    const holder = { ...byOwner, ...given }
    const refuses = (contract: Contract) => {
      const code = refusalOf(contract, holder)
      return code && `403 ${code}`
    }
    await tryAll({ host, token: await make() }, refuses)
  })

  test.each(members)('in a community, as its %s', async (role) => {
    const holder = { ...byOwner, role }
    const refuses = (contract: Contract) => {
      // It offers no names.
      if (contract.feature) return '404 E-NOTFOUND'
      return refusalOf(contract, holder) && forbidden
    }
    await tryAll({ host: club, token: await proxyToken(`${role}.localhost`, club) }, refuses)
  })

  test.each(['read', 'write'] as const)('of a reference to %s a file', async (level) => {
    const body = { type: 'share.file', resourceId: fileId, accessLevel: level } as const
    const { refId } = (await (await owner()).call(createReference, { body })).data
    const { token } = (await server.client(alice).call(getAccessToken, { query: { ref: refId } })).data
    const holder = { ...byOwner, role: undefined, ...of(`file:ID:${level}`) }
    await tryAll({ token }, (contract) => {
      if (contract.auth === 'none') return undefined
      if (!contract.guests) return forbidden
      return refusalOf(contract, holder) && forbidden
    })
  })

  test('of a managed identity', async () => {
    const body = { idTag: `machine.${alice}`, ownerIdTag: bob, createApiKey: true } as const
    const { data } = await (await owner()).call(createManagedIdentity, { body: body as never })
    await tryAll({ token: data.apiKey }, ({ auth, identityKeys }) =>
      auth === 'none' || identityKeys ? undefined : forbidden,
    )
  })
})
