import { allContracts, busSocket, type Contract, crdtSocket, rtdbSocket, socketCloses } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SocketClient } from '#harness/socket-client.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
const samples: Readonly<Record<string, string>> = {
  idTag: home,
  fileId: `f1~${'A'.repeat(43)}`,
  preset: 'default',
  sid: 'nothing',
}

let server: TestServer
let token: string

beforeAll(async () => {
  server = await TestServer.start({ env: { CORS_ORIGINS: '*' } })
  token = await server.signIn(home)
})
afterAll(() => server.stop())

const sockets = [busSocket, crdtSocket, rtdbSocket]
const pathOf = (path: string) => path.replace(/\{(\w+)\*?\}/g, (_, name: string) => samples[name] ?? '1')

async function newCookie(): Promise<string> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await server.request(home, '/api/auth/browser-session', { method: 'POST', headers })
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}

/** What a page of the tenant sends, and the answer without what differs each time. */
async function ask({ method, path }: Pick<Contract, 'method' | 'path'>, more: Record<string, string> = {}) {
  server.clock.advance(300)
  const headers = { 'sec-fetch-site': 'same-origin', 'x-kith-browser': '1', ...more }
  const answer = await server.request(home, pathOf(path), { method, headers })
  const body = await answer.text()
  const told =
    answer.status === 200 ? body.replace(/"(?:time|reqId|sessionId|secret|code|challenge)":"[^"]*"/g, '') : ''
  return { status: answer.status, told, cookies: answer.headers.getSetCookie(), headers: answer.headers }
}

const others = (allContracts as readonly Contract[]).filter(({ browserCookie }) => browserCookie !== 'used')

test('the cookie of a browser is good at one endpoint', () => {
  const declared = (allContracts as readonly Contract[]).filter(
    ({ browserCookie }) => browserCookie === 'used',
  )
  expect(declared.map(({ name }) => name)).toEqual(['refreshLogin'])
})

test('at every other endpoint the cookie of a browser changes nothing', async () => {
  const cookie = await newCookie()
  const wrong: string[] = []
  for (const contract of others) {
    const without = await ask(contract)
    const answer = await ask(contract, { cookie })
    const isSame = answer.status === without.status && answer.told === without.told
    if (!isSame || answer.cookies.length > 0) wrong.push(contract.name)
  }
  expect(wrong).toEqual([])
  expect((await ask({ method: 'GET', path: '/api/auth/login-token' }, { cookie })).status).toBe(200)
})

test.each(sockets)('$path takes no cookie', async ({ path }) => {
  const { port } = new URL(server.urlOf(home))
  const headers = { cookie: await newCookie(), 'sec-fetch-site': 'same-origin', 'x-kith-browser': '1' }
  const client = await SocketClient.connect(Number(port), home, pathOf(path), { headers })
  // A refusal for want of a credential is told a second late.
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  server.clock.advance(1000)
  expect(await client.closed).toMatchObject({ code: socketCloses.unauthenticated.code })
})

test('a page of another origin gets nothing by the cookie, whatever CORS allows', async () => {
  const cookie = await newCookie()
  for (const site of ['same-site', 'cross-site']) {
    const foreign = { cookie, origin: 'http://bob.localhost', 'sec-fetch-site': site }
    const answer = await ask({ method: 'GET', path: '/api/auth/login-token' }, foreign)
    expect({ status: answer.status, cookies: answer.cookies }).toEqual({ status: 401, cookies: [] })
  }
})
