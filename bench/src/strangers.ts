/** What strangers can make a server hold: connections, half-sent bodies, and tokens of issuers that nobody can reach.
 * Run by hand: `node bench/src/strangers.ts [directory of the program]`. */
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'

const program = resolve(process.argv[2] ?? '.')
const dataDir = await mkdtemp(join(tmpdir(), 'kith-strangers-'))
const child = spawn(process.execPath, [join(program, 'packages/server/bin/kith.js'), 'serve'], {
  cwd: dataDir,
  env: {
    ...process.env,
    DATA_DIR: dataDir,
    LISTEN: '127.0.0.1:0',
    BASE_PASSWORD: 'correct horse battery',
    // No server answers at this address: the keys of no issuer can be fetched.
    DNS_SERVERS: '127.0.0.1:9',
    LOG_LEVEL: 'fatal',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
})

try {
  const { port, pid } = await started()
  await warmUp(port)
  await report('at rest', pid)
  await holdConnections(port, pid)
  await holdBodies(port, pid)
  await floodInbox(port, pid)
} finally {
  child.kill()
  await once(child, 'exit')
  await rm(dataDir, { recursive: true, force: true })
}

async function started(): Promise<{ port: number; pid: number }> {
  for await (const line of createInterface({ input: child.stdout })) {
    const event = line.startsWith('{') ? JSON.parse(line) : {}
    if (event.event === 'ready') return { port: Number(new URL(event.url).port), pid: child.pid ?? 0 }
  }
  throw new Error('the server did not start')
}

async function warmUp(port: number): Promise<void> {
  for (let at = 0; at < 200; at += 1) await ask(port)
}

async function holdConnections(port: number, pid: number): Promise<void> {
  const sockets = await openMany(port, 2000, () => '')
  await report(`2000 idle connections of one address: ${countOpen(sockets)} stay open`, pid)
  console.log(`  another address is answered ${await ask(port, '127.0.0.2')}`)
  await endAll(sockets)
}

async function holdBodies(port: number, pid: number): Promise<void> {
  const bytes = 900_000
  const head = `POST /api/auth/login HTTP/1.1\r\nHost: home.localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n`
  const body = 'x'.repeat(bytes)
  const sockets = await openMany(port, 600, () => head + body)
  await pause(3000)
  await report(`600 bodies of 1 MB sent but for the last tenth: ${countOpen(sockets)} stay open`, pid)
  console.log(`  another address is answered ${await ask(port, '127.0.0.2')}`)
  await endAll(sockets)
}

async function floodInbox(port: number, pid: number): Promise<void> {
  const statuses: Record<string, number> = {}
  const tokens = Array.from({ length: 1200 }, (_, at) => forged(at))
  const lanes = Array.from({ length: 32 }, async () => {
    for (let token = tokens.pop(); token !== undefined; token = tokens.pop()) {
      const status = await post(port, token)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  })
  await Promise.all(lanes)
  await report(`1200 forged tokens of 60 KB: ${JSON.stringify(statuses)}`, pid)
  const db = new DatabaseSync(join(dataDir, 'kith.db'), { readOnly: true })
  const kept = db
    .prepare(
      "select count(*) as n, sum(length(payload)) as bytes from jobs where kind = 'inbox.verify-later'",
    )
    .get()
  db.close()
  console.log(`  kept in the database: ${kept?.n} tokens, ${mb(Number(kept?.bytes ?? 0))}`)
}

function forged(at: number): string {
  const issuerTag = `someone.dead${at}.example`
  const nonce = randomBytes(16).toString('base64url')
  const actionId = `a1~${createHash('sha256').update(`${issuerTag}\n${nonce}`).digest('base64url')}`
  const iat = Math.floor(Date.now() / 1000)
  const payload = {
    ...{ actionId, issuerTag, type: 'POST', nonce, createdAt: iat, iat, exp: iat + 86_400 },
    ...{ audienceTag: 'home.localhost', visibility: 'P', content: { text: 'x'.repeat(44_000) } },
  }
  const parts = [{ alg: 'ES384', typ: 'JWT', kid: '20260101abcd' }, payload].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  return [...parts, randomBytes(96).toString('base64url')].join('.')
}

async function openMany(port: number, count: number, text: () => string): Promise<Socket[]> {
  const sockets: Socket[] = []
  for (let at = 0; at < count; at += 1) {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => undefined)
    sockets.push(socket)
    await Promise.race([once(socket, 'connect'), once(socket, 'close')])
    if (text() !== '') socket.write(text())
  }
  await pause(1000)
  return sockets
}

function countOpen(sockets: readonly Socket[]): number {
  return sockets.filter(({ readyState }) => readyState === 'open').length
}

async function endAll(sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.destroy()
  await pause(1000)
}

function ask(port: number, localAddress = '127.0.0.1'): Promise<number | string> {
  const options = { port, host: '127.0.0.1', localAddress, path: '/api/me', agent: false, timeout: 5000 }
  return send(request({ ...options, headers: { host: 'home.localhost' } }))
}

function post(port: number, token: string): Promise<number | string> {
  const headers = { host: 'home.localhost', 'content-type': 'application/jwt' }
  const options = { port, host: '127.0.0.1', path: '/api/inbox', method: 'POST', agent: false, headers }
  return send(request(options), token)
}

function send(sending: ReturnType<typeof request>, body?: string): Promise<number | string> {
  return new Promise((done) => {
    sending.once('error', (error) => done(error.message))
    sending.once('timeout', () => sending.destroy(new Error('nothing')))
    sending.once('response', (answer) => {
      answer.resume()
      done(answer.statusCode ?? 0)
    })
    sending.end(body)
  })
}

async function report(what: string, pid: number): Promise<void> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kib = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0)
  console.log(`${what}; resident ${mb(kib * 1024)}`)
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms))
}
