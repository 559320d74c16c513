import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request as plainRequest } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { closedPort } from '#harness/addresses.ts'
import { createCertificate } from '#harness/certificates.ts'
import type { CommandLine } from '#harness/command-line.ts'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import { RecordedLog } from '#harness/recorded-log.ts'
import { sendHttp2 } from '#harness/secure-site.ts'
import { startSmtpServer } from '#harness/smtp-server.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer, testPassword } from '#harness/test-server.ts'
import { tablesIn, tracesIn } from '#harness/traces.ts'
import { serverTenant } from '#infra/db/index.ts'

const base = 'home.localhost'
const wiki = 'wiki.localhost'
let dir: string
let server: TestServer
let plainPort: number
let own: Awaited<ReturnType<typeof createCertificate>>
const files = () => ({ TLS_CERT: join(dir, 'cert.pem'), TLS_KEY: join(dir, 'key.pem') })

async function write({ cert, key }: { readonly cert: string; readonly key: string }): Promise<void> {
  await writeFile(files().TLS_CERT, cert)
  await writeFile(files().TLS_KEY, key)
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kith-tls-'))
  own = await createCertificate([base, wiki])
  await write(own)
  server = await TestServer.start({ env: { TLS: 'files', LISTEN_TLS: '127.0.0.1:0', ...files() } })
  plainPort = server.running.plainPort ?? 0
})
afterAll(async () => {
  await server.stop()
  await rm(dir, { recursive: true, force: true })
})

const secure = (name: string) => ({
  host: '127.0.0.1',
  port: server.running.port,
  servername: name,
  ca: own.cert,
})

/** A connection of HTTP/2 to a host of the server. */
function openHttp2(name = base, { port }: { readonly port: number } = server.running) {
  const session = connectHttp2(`https://${name}:${port}`, {
    createConnection: () => connect({ ...secure(name), port, ALPNProtocols: ['h2'] }),
  })
  onTestFinished(() => session.destroy())
  return session
}

/** One request without TLS. */
async function askPlain(path: string, headers: Record<string, string> = { host: base }, method = 'GET') {
  const asked = plainRequest({
    host: '127.0.0.1',
    port: plainPort,
    path,
    method,
    headers,
    agent: false,
  }).end()
  const [answer] = await once(asked, 'response')
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) }
}

const serialOf = (name = base) =>
  new Promise<string>((resolve, reject) => {
    const socket = connect({ ...secure(name), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber)
      socket.destroy()
    })
    socket.once('error', reject)
  })

async function signIn({ port }: { readonly port: number } = server.running): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ idTag: base, password: testPassword })
  const { json } = await sendHttp2(openHttp2(base, { port }), '/api/auth/login', {
    method: 'POST',
    headers,
    body,
  })
  return json.data.token
}

describe('a server that ends TLS itself', () => {
  test('is reached by https at the port of TLS', async () => {
    expect(server.urlOf(base)).toBe(`https://${base}:${server.running.port}`)
    const { status, json, headers } = await sendHttp2(openHttp2(), '/api/me')
    expect({ status, idTag: json.data.idTag }).toEqual({ status: 200, idTag: base })
    expect(headers['strict-transport-security']).toBe('max-age=31536000')
  })

  test('takes WebSockets over HTTP/1.1', async () => {
    const token = await signIn()
    const socket = new WebSocket(`wss://${base}:${server.running.port}/ws/bus?token=${token}`, {
      createConnection: () => connect({ ...secure(base), ALPNProtocols: ['http/1.1'] }),
    })
    await once(socket, 'open')
    const answered = once(socket, 'message')
    socket.send(JSON.stringify({ id: 'one', cmd: 'ping', data: {} }))
    expect(JSON.parse(String((await answered)[0]))).toMatchObject({ cmd: 'ack' })
    socket.close()
    await once(socket, 'close')
  })

  test('counts a WebSocket no longer as a connection of its address', async () => {
    const env = { TLS: 'files', LISTEN_TLS: '127.0.0.1:0', ...files(), MAX_CONNECTIONS_PER_ADDRESS: '2' }
    await using few = await TestServer.start({ env })
    const { port } = few.running
    const token = await signIn(few.running)
    const sockets: WebSocket[] = []
    for (let count = 0; count < 4; count += 1) {
      const socket = new WebSocket(`wss://${base}:${port}/ws/bus?token=${token}`, {
        createConnection: () => connect({ ...secure(base), port, ALPNProtocols: ['http/1.1'] }),
      })
      await once(socket, 'open')
      sockets.push(socket)
    }
    for (const socket of sockets) socket.terminate()
  })

  test('passes proxy sites on over HTTP/2 and HTTP/1.1, bodies of any length included', async () => {
    const seen: string[] = []
    const backend = createServer(async (asked, answer) => {
      const body = await text(asked)
      seen.push(`${asked.httpVersion} ${asked.headers['x-forwarded-proto']} ${asked.headers.cookie} ${body}`)
      answer.writeInformation(103, { link: '</a.css>; rel=preload', 'keep-alive': 'timeout=5' })
      answer.writeHead(200, { 'x-from': 'backend', connection: 'close' }).write(`hello ${asked.headers.host}`)
      answer.addTrailers({ 'x-checksum': 'abc' })
      answer.end()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void backend.close())
    await once(backend, 'listening')
    const session = openHttp2()
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${await signIn()}` }
    const backendUrl = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
    const body = JSON.stringify({ domain: wiki, backendUrl })
    expect(
      await sendHttp2(session, '/api/admin/proxy-sites', { method: 'POST', headers, body }),
    ).toMatchObject({
      status: 201,
    })
    const sent = { method: 'POST', headers: { cookie: ['a=1', 'b=2'] }, body: 'a body' }
    const answer = await sendHttp2(openHttp2(wiki), '/page', sent)
    expect(answer).toMatchObject({ status: 200, text: `hello ${wiki}:${server.running.port}` })
    expect(answer.headers['x-from']).toBe('backend')
    expect(seen).toEqual(['1.1 https a=1; b=2 a body'])
    const stream = openHttp2(wiki).request({ ':path': '/page' })
    const early = once(stream, 'headers')
    const late = once(stream, 'trailers')
    expect(await text(stream)).toContain('hello')
    expect((await early)[0]).toMatchObject({ ':status': 103, link: '</a.css>; rel=preload' })
    expect((await late)[0]).toMatchObject({ 'x-checksum': 'abc' })
    const asked = request({ ...secure(wiki), path: '/', headers: { host: wiki }, agent: false }).end()
    const [plain] = await once(asked, 'response')
    expect(await text(plain)).toBe(`hello ${wiki}`)
  })

  test('sends requests without TLS to https, whatever host they name', async () => {
    const { port } = server.running
    for (const host of [base, wiki, 'nobody.example'])
      expect(await askPlain('/some/path?q=1', { host })).toMatchObject({
        status: 308,
        headers: { location: `https://${host}:${port}/some/path?q=1` },
      })
    expect((await askPlain('/api/me', { host: `${base}:80` }, 'POST')).status).toBe(308)
    expect((await askPlain('//evil.example/', { host: base })).headers.location).toBe(
      `https://${base}:${port}//evil.example/`,
    )
  })

  test('does not send a proxy that has ended TLS to itself, nor anybody to a host that is none', async () => {
    const env = { TLS: 'files', LISTEN_TLS: '127.0.0.1:0', ...files(), TRUSTED_PROXIES: '127.0.0.1' }
    await using behind = await TestServer.start({ env })
    const ask = async (headers: Record<string, string>) => {
      const port = behind.running.plainPort
      const asked = plainRequest({ host: '127.0.0.1', port, headers: { host: base, ...headers } }).end()
      const [answer] = await once(asked, 'response')
      return { status: answer.statusCode, location: answer.headers.location, text: await text(answer) }
    }
    expect(await ask({ 'x-forwarded-proto': 'https' })).toMatchObject({
      status: 421,
      text: expect.stringContaining('TLS=off'),
    })
    for (const host of ['evil.example/"><script>', 'a@evil.example', 'evil.example\\x', 'a b'])
      expect(await ask({ 'x-forwarded-host': host })).toMatchObject({ status: 400, location: undefined })
    expect((await ask({ 'x-forwarded-host': wiki })).location).toContain(`https://${wiki}:`)
  })

  test('tells of a certificate that is not valid at this time', async () => {
    const log = new RecordedLog()
    const env = { TLS: 'files', LISTEN_TLS: '127.0.0.1:0', ...files() }
    const clock = new TestClock(Date.now() + 30 * 86_400_000)
    await using _ = await TestServer.start({ env, clock, logger: log.logger })
    expect(log.of('serving a certificate that is not valid now')).toHaveLength(1)
  })

  test('answers without TLS for its health, and nothing of its tenants', async () => {
    expect(await askPlain('/healthz')).toMatchObject({ status: 200, text: 'ok\n' })
    expect((await askPlain('/readyz')).status).toBe(200)
    const { headers } = await askPlain('/healthz')
    expect(headers).not.toHaveProperty('strict-transport-security')
    for (const host of ['evil.example/x', 'a b', 'x\\y'])
      expect(await askPlain('/', { host })).toMatchObject({ status: 400 })
  })

  test('serves a changed certificate within half a minute, and keeps the former one when it is wrong', async () => {
    const before = await serialOf()
    const other = await createCertificate([base])
    await write({ cert: other.cert, key: own.key })
    server.clock.advance(30_000)
    await server.running.reloadCertificates()
    expect(await serialOf()).toBe(before)
    await write(other)
    await server.running.reloadCertificates()
    const after = await serialOf()
    expect(after).not.toBe(before)
    await write(own)
    server.clock.advance(30_000)
    await expect.poll(() => serialOf()).toBe(before)
  })

  test('does not start with a key that is not the certificate’s', async () => {
    const { key } = await createCertificate([base])
    await writeFile(join(dir, 'other.pem'), key)
    const env = { TLS: 'files', LISTEN_TLS: '127.0.0.1:0', ...files(), TLS_KEY: join(dir, 'other.pem') }
    await expect(TestServer.start({ env })).rejects.toThrow(
      'TLS_CERT and TLS_KEY cannot be served: The certificate belongs to another key.',
    )
  })
})

describe('a server whose certificate authority does not answer', () => {
  const name = 'home.kith.example'
  let beside: LineBesideServer
  let line: CommandLine
  let alone: TestServer
  beforeAll(async () => {
    const env = {
      TLS: 'acme',
      LISTEN_TLS: '127.0.0.1:0',
      ACME_DIRECTORY: `https://127.0.0.1:${closedPort}/dir`,
      ACME_EMAIL: 'admin@example.org',
      IDENTITY_HOSTS: '',
      ALLOW_PRIVATE_NETWORK: 'true',
    }
    beside = await openLineBesideServer({ baseIdTag: name, env })
    ;({ line, server: alone } = beside)
  })
  afterAll(() => beside?.[Symbol.asyncDispose]())

  test('starts, sends to https, and says what is wrong', async () => {
    const { dns } = alone.running.services
    expect(dns).toBeDefined()
    await alone.settle()
    const handshake = new Promise((resolve, reject) => {
      connect({ host: '127.0.0.1', port: alone.running.port, servername: name })
        .once('secureConnect', resolve)
        .once('error', reject)
    })
    await expect(handshake).rejects.toThrow('alert handshake failure')
    const port = alone.running.plainPort
    const ask = async (path: string) => {
      const asked = plainRequest({
        host: '127.0.0.1',
        port,
        path,
        headers: { host: name },
        agent: false,
      }).end()
      const [answer] = await once(asked, 'response')
      return { status: answer.statusCode, text: await text(answer) }
    }
    expect((await ask('/')).status).toBe(308)
    const challenge = '/.well-known/acme-challenge/'
    for (const token of ['aaaaaaaaaaaaaaaaaaaaaa', '', '..%2f..%2fetc', '%00', 'a'.repeat(5000), '<script>'])
      expect(await ask(`${challenge}${token}`)).not.toMatchObject({ status: 200 })
    expect(await ask(`${challenge}aaaaaaaaaaaaaaaaaaaaaa`)).toEqual({ status: 404, text: '' })
    const { certificates } = await line.json('certificate', 'list')
    expect(certificates).toMatchObject([{ name, state: 'failing', failures: 1 }])
    expect((await line.run(['certificate', 'list'])).out).toContain(certificates[0].advice)
    const { text: metrics } = await alone.running.services.metrics.scrape()
    expect(metrics).toContain('kith_certificates_missing')
    const renewed = await line.json('certificate', 'renew', name)
    expect(renewed).toEqual({ renewed: [name], held: [] })
    const { checks } = JSON.parse((await line.run(['doctor', '--json'])).out)
    const found = checks.find(({ check }: { check: string }) => check === 'Certificates')
    expect(found).toMatchObject({ status: 'problem', message: expect.stringContaining(name) })
  })

  test('mails the administrator of it, once a day at most', async () => {
    await using smtp = await startSmtpServer({ disabledCommands: ['STARTTLS'] })
    for (const [setting, value] of Object.entries({ host: '127.0.0.1', port: smtp.port }))
      await line.run(['settings', 'set', `email.smtp.${setting}`, String(value)])
    for (let hours = 0; hours < 50; hours += 2) {
      alone.clock.advance(2 * 3_600_000)
      await alone.settle()
    }
    const [mail, ...others] = smtp.received
    expect([mail?.to, others]).toEqual([['admin@example.org'], []])
    expect(mail?.source).toContain('Names without a valid certificate')
    expect(mail?.source.replaceAll('=\r\n', '')).toContain(`${name} (no certificate yet): `)
  })

  test('shows when the certificates of proxy sites end', async () => {
    const domain = 'wiki.kith.example'
    const { site } = await line.json('site', 'add', domain, 'http://127.0.0.1:9')
    expect(site).not.toHaveProperty('certExpiresAt')
    const certExpiresAt = '2026-04-05T06:07:08.000Z'
    const change = { not_after: Date.parse(certExpiresAt) / 1000 }
    const expire = () =>
      alone.db.transact(serverTenant, (tx) =>
        tx
          .tables<{ certificates: { name: string; not_after: number } }>()
          .updateTable('certificates')
          .set(change)
          .where('name', '=', domain)
          .executeTakeFirst(),
      )
    // The server hears of the command's change at its next look.
    await expect
      .poll(async () => {
        alone.clock.advance(5_000)
        await alone.settle()
        return Number((await expire()).numUpdatedRows)
      })
      .toBe(1)
    expect((await line.json('site', 'list')).sites).toMatchObject([{ domain, certExpiresAt }])
    expect((await line.json('site', 'show', domain)).site).toMatchObject({ certExpiresAt })
    expect((await line.run(['site', 'show', domain])).out).toMatch(/^ {2}certificate +until 2026-04-05/m)
    expect((await line.run(['site', 'list'])).out).toContain('certificate until 2026-04-05')
    expect((await line.json('site', 'disable', domain)).site).toMatchObject({ certExpiresAt })
  })
  test('keeps nothing of the names of a tenant that is purged', async () => {
    const [idTag, appDomain] = ['leaver.kith.example', 'app.leaver.kith.example'] as const
    const { tenantId } = await alone.createTenant(idTag, { appDomain })
    await alone.settle()
    alone.clock.advance(5 * 60_000)
    await alone.settle()
    const named = () => tracesIn(join(line.dataDir, 'kith.db'), { tenantId, words: [idTag] })
    const kept = await line.json('certificate', 'list')
    expect(kept.certificates).toEqual(
      expect.arrayContaining([idTag, appDomain].map((one) => expect.objectContaining({ name: one }))),
    )
    expect(tablesIn(named())).toContain('certificates')
    await alone.suspend(idTag)
    await line.json('tenant', 'purge', idTag, '--yes')
    expect(tablesIn(named())).toEqual(['audit_log', 'quarantined_names'])
  })
})
