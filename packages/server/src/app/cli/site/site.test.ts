import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getAuditLog } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closedPort } from '#harness/addresses.ts'
import type { CommandLine } from '#harness/command-line.ts'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import type { TestServer } from '#harness/test-server.ts'

const wiki = 'wiki.localhost'
const noticedMs = 2_001

let beside: LineBesideServer
let line: CommandLine
let server: TestServer
let backendUrl: string
let status = 200
const backend = createServer((request, response) => {
  response.statusCode = status
  response.end(`backend ${request.url}`)
})

beforeAll(async () => {
  backend.listen(0, '127.0.0.1')
  await new Promise((resolve) => backend.once('listening', resolve))
  backendUrl = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
  beside = await openLineBesideServer()
  ;({ line, server } = beside)
})
afterAll(async () => {
  await beside?.[Symbol.asyncDispose]()
  backend.closeAllConnections()
  backend.close()
})

/** What a visitor gets once a running server has read its sites anew. */
async function visit(host: string): Promise<string> {
  server.clock.advance(noticedMs)
  const answer = await server.request(host, '/page', { headers: {} })
  return answer.ok ? await answer.text() : String(answer.status)
}

test('a running server follows a site that is added, changed, disabled and removed', async () => {
  expect((await line.run(['site', 'list'])).out).toBe('No proxy sites.\n')
  expect(await line.run(['site', 'add', wiki, `${backendUrl}/`])).toEqual({
    exitCode: 0,
    out: `${wiki} is passed on to ${backendUrl}.\n`,
    err: '',
  })
  expect(await visit(wiki)).toBe('backend /page')
  const { site } = await line.json('site', 'show', wiki)
  expect(site).toEqual({
    siteId: expect.any(Number),
    domain: wiki,
    backendUrl,
    status: 'A',
    type: 'basic',
    config: {},
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  })
  const config = '{"stripPrefix":"/page","readTimeoutSecs":90}'
  await line.json('site', 'set', wiki, '--type', 'advanced', '--config', config)
  expect(await visit(wiki)).toBe('backend /')
  expect((await line.run(['site', 'show', wiki])).out).toContain(config)
  expect((await line.run(['site', 'disable', wiki])).out).toBe(`${wiki} is disabled.\n`)
  expect(await visit(wiki)).toBe('404')
  expect((await line.run(['site', 'list'])).out).toBe(`  ${wiki}  ${backendUrl}  disabled  advanced\n`)
  expect((await line.json('site', 'enable', wiki)).site).toMatchObject({ status: 'A' })
  expect(await visit(wiki)).toBe('backend /')
  expect((await line.json('site', 'list')).sites).toMatchObject([{ domain: wiki, status: 'A' }])
  expect(await line.json('site', 'remove', wiki)).toEqual({ siteId: site.siteId, domain: wiki })
  expect(await visit(wiki)).toBe('404')
  const { data } = await (await server.as(server.baseIdTag)).call(getAuditLog, {})
  const entries = data.filter(({ event }) => event.startsWith('proxy-site.'))
  expect(entries.map(({ event }) => event).at(-1)).toBe('proxy-site.created')
  expect(entries.every(({ details }) => details?.by === 'command line')).toBe(true)
})

test('a check asks the backends now, and fails when one is down', async () => {
  expect(await line.json('site', 'check')).toEqual({ checks: [] })
  await line.json('site', 'add', wiki, backendUrl)
  status = 404
  expect(await line.json('site', 'check', wiki)).toEqual({
    checks: [{ domain: wiki, path: '/', health: 'up', status: 404 }],
  })
  await line.json('site', 'set', wiki, '--type', 'advanced', '--config', '{"healthPath":"/health"}')
  expect(await line.run(['site', 'check'])).toEqual({
    exitCode: 1,
    out: `  ${wiki}  down  404 at /health\n`,
    err: '',
  })
  status = 200
  expect((await line.run(['site', 'check'])).exitCode).toBe(0)
  const silent = `http://127.0.0.1:${closedPort}`
  await line.json('site', 'set', wiki, '--backend', silent)
  const { exitCode, out } = await line.run(['site', 'check', '--json'])
  expect(exitCode).toBe(1)
  expect(JSON.parse(out).checks).toEqual([
    { domain: wiki, path: '/health', health: 'down', reason: expect.stringContaining('ECONNREFUSED') },
  ])
  await line.json('site', 'remove', wiki)
})

test.each([
  [['show', 'nothing.localhost'], 1, 'There is no proxy site nothing.localhost.'],
  [['add', 'home.localhost', 'http://10.0.0.5'], 1, 'home.localhost is the name of an identity'],
  [['add', 'x.localhost', 'http://10.0.0.5/path'], 2, 'backendUrl must end with the host and the port'],
  [['add', 'x.localhost', 'ftp://10.0.0.5'], 2, 'backendUrl must be an http or https URL'],
  [['add', 'nodot', 'http://10.0.0.5'], 2, 'domain'],
  [['add', 'x.localhost', 'http://10.0.0.5', '--config', '{'], 2, '--config is not JSON'],
  [
    ['add', 'x.localhost', 'http://10.0.0.5', '--config', '{"healthPth":"/"}'],
    2,
    '--config has no healthPth. Did you mean healthPath?',
  ],
  [
    ['add', 'x.localhost', 'http://10.0.0.5', '--config', '{"readTimeoutSecs":0}'],
    2,
    'config.readTimeoutSecs',
  ],
  [
    ['add', 'x.localhost', 'http://10.0.0.5', '--config', '{"stripPrefix":"/a"}'],
    2,
    'is for sites of the type advanced',
  ],
  [['add', 'x.localhost', 'http://10.0.0.5', '--type', 'fast'], 2, '--type is basic or advanced'],
  [['add', 'x.localhost'], 2, 'BACKEND_URL is missing'],
  [['set', 'x.localhost'], 2, 'There is nothing to change'],
  [['remove', 'nodot'], 2, '"nodot" is no identity'],
])('%j fails', async (words, exitCode, message) => {
  expect(await line.fails('site', ...words)).toMatchObject({
    exitCode,
    message: expect.stringContaining(message),
  })
  expect(await line.json('site', 'list')).toEqual({ sites: [] })
})

test('a domain belongs to one site, and no backend is this server', async () => {
  expect(await line.fails('site', 'add', wiki, `http://home.localhost:${server.running.port}`)).toMatchObject(
    {
      exitCode: 2,
      message: 'backendUrl is this server itself',
    },
  )
  await line.json('site', 'add', wiki, backendUrl)
  expect(await line.fails('site', 'add', wiki, backendUrl)).toEqual({
    exitCode: 1,
    code: 'E-DUPLICATE',
    message: `${wiki} is a proxy site already.`,
  })
  await line.json('site', 'remove', wiki)
})
