import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { putSetting } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { closedPort, ownAddress } from '#harness/addresses.ts'
import { CommandLine } from '#harness/command-line.ts'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import { S3Server } from '#harness/s3-server.ts'
import { authLinesOf, startSmtpServer } from '#harness/smtp-server.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer } from '#harness/test-server.ts'
import { readConfig } from '#infra/config/index.ts'
import { openDatabase, serverTenant } from '#infra/db/index.ts'
import { systemClock } from '#lib/clock.ts'
import { openOutside } from '../../services.ts'
import { commit } from '../../version.ts'
import { openPresentDatabase } from '../present-database.ts'
import { examineCertificates } from './examine-certificates.ts'
import { examineData } from './examine-data.ts'
import { examineMachine } from './examine-machine.ts'
import { examineNetwork } from './examine-network.ts'
import { examinePorts, nearHost } from './examine-ports.ts'
import { examineWork } from './examine-work.ts'
import type { Finding } from './finding.ts'

type Env = Readonly<Record<string, string>>

/** What a group of checks finds, by their names. */
async function byName(findings: readonly Promise<Finding>[]): Promise<Record<string, Finding | undefined>> {
  return Object.fromEntries((await Promise.all(findings)).map((finding) => [finding.check, finding]))
}

async function lookAtData(env: Env) {
  const config = readConfig(env)
  const found = await openPresentDatabase(config).then(
    (present) => ({ present }),
    (error: unknown) => ({ error }),
  )
  const findings = await byName(examineData(config, found, systemClock))
  if ('present' in found) await found.present?.db.close()
  return findings
}

async function lookAtWork(env: Env) {
  const config = readConfig(env)
  const present = await openPresentDatabase(config)
  if (!present) throw new Error('there is no database')
  const findings = await byName(examineWork(config, present.db, systemClock))
  await present.db.close()
  return findings
}

async function lookAtNetwork(env: Env, publicKeys: readonly string[] = []) {
  const config = readConfig(env)
  const outside = openOutside(config)
  const findSmtpUrl = async () => config.mail.smtpUrl
  const deps = { config, clock: systemClock, ...outside, publicKeys, tenants: [], findSmtpUrl }
  const findings = await byName(examineNetwork(deps))
  await outside.egress.close()
  return findings
}

describe('before the first start', () => {
  test('nothing is wrong but that no server runs, and nothing is made', async () => {
    await using line = await CommandLine.open({ LISTEN: `${ownAddress()}:1080` })
    const { exitCode, out } = await line.run(['doctor'])
    expect(exitCode).toBe(0)
    expect(out).toContain('Nothing listens on 127.')
    expect(out).toContain('Listening: kith serve')
    expect(out.match(/WARNING|PROBLEM/g)).toEqual(['WARNING'])
    expect(await readdir(line.folder)).toEqual([])
  })

  test('misspelt variables are for attention, with those that were meant', async () => {
    await using line = await CommandLine.open({ SMTP_URI: 'smtp://mail.example' })
    const { checks } = JSON.parse((await line.run(['doctor', '--json'])).out)
    expect(checks[0]).toMatchObject({
      check: 'Configuration',
      status: 'warning',
      message: 'Not known: SMTP_URI (SMTP_URL?).',
    })
  })

  test('a wrong environment is told of by its variables, and ends it', async () => {
    await using line = await CommandLine.open({ LISTEN: '8080', TLS: 'on' })
    const { exitCode, out } = await line.run(['doctor', '--json'])
    expect(exitCode).toBe(1)
    const { ok, checks } = JSON.parse(out)
    expect(ok).toBe(false)
    expect(checks.map(({ message }: Finding) => message.split(' ')[0])).toEqual(['TLS', 'LISTEN'])
  })
})

describe('beside a running server', () => {
  let beside: LineBesideServer
  let line: CommandLine
  let server: TestServer
  beforeAll(async () => {
    beside = await openLineBesideServer()
    ;({ line, server } = beside)
    await line.json('tenant', 'email', 'home.localhost', 'admin@example.org')
  })
  afterAll(() => beside?.[Symbol.asyncDispose]())
  const baseKeys = async () => {
    const { identity } = server.running.features
    const keys = await server.running.services.signingKeys.list((await identity.tenants.base()).tenantId)
    return keys.map(({ publicKey }) => publicKey)
  }

  test('all is well', async () => {
    const { ok, checks } = await line.json('doctor')
    expect(ok).toBe(true)
    expect(checks.filter(({ status }: Finding) => status !== 'ok')).toEqual([])
    expect(checks.map(({ check }: Finding) => check)).toEqual([
      'Configuration',
      'Version',
      'Node.js',
      'Pictures',
      'Clock',
      'Server',
      'Data directory',
      'Blobs',
      'Disk space',
      'Database',
      'Master key',
      'Base tenant',
      'E-mail addresses',
      'Tenants',
      'Jobs',
      'Hosts',
      'Listening',
      'Browsers',
      'Public address',
      'Discovery',
      'Mail',
    ])
  })

  test('a restart that was forgotten is for attention', async () => {
    const path = join(line.dataDir, 'server.json')
    const holder = JSON.parse(await readFile(path, 'utf8'))
    expect(holder.commit).toBe(commit)
    await writeFile(path, JSON.stringify({ ...holder, commit: 'f'.repeat(40) }))
    const { Server } = await lookAtData(line.env)
    await writeFile(path, JSON.stringify(holder))
    expect(Server).toMatchObject(
      commit === undefined
        ? { status: 'ok' }
        : {
            status: 'warning',
            message: expect.stringContaining(
              `It runs commit ${'f'.repeat(12)}, and this is ${commit.slice(0, 12)}.`,
            ),
            advice: 'Restart the server.',
          },
    )
  })

  test('a server that was started with another LISTEN is said to run', async () => {
    const other = `${ownAddress()}:1080`
    expect((await lookAtNetwork({ ...line.env, LISTEN: other }, await baseKeys())).Listening).toMatchObject({
      status: 'warning',
      message: `The server answers at ${server.running.url}, and LISTEN is ${other} here.`,
      advice: expect.stringContaining('same variables'),
    })
  })

  test('a public address that leads nowhere is for attention', async () => {
    const wrong = { ...line.env, PUBLIC_URL: `http://{idTag}:${closedPort}` }
    expect((await lookAtNetwork(wrong, await baseKeys()))['Public address']).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('does not lead here'),
      advice: expect.stringContaining('PUBLIC_URL'),
    })
  })

  test('a public address that leads to another server is a problem', async () => {
    await using other = await TestServer.start()
    const wrong = { ...line.env, PUBLIC_URL: `http://{idTag}:${other.running.port}` }
    expect((await lookAtNetwork(wrong, await baseKeys()))['Public address']).toMatchObject({
      status: 'problem',
      message: `Another server answers at http://home.localhost:${other.running.port} for home.localhost.`,
    })
  })

  test('an address that leaves tenants without one is a problem', async () => {
    await server.createTenant('alice.localhost')
    const { Tenants } = await lookAtWork({ ...line.env, PUBLIC_URL: 'http://home.localhost' })
    expect(Tenants).toMatchObject({
      status: 'problem',
      message:
        'PUBLIC_URL has no {idTag} and so serves home.localhost alone, but alice.localhost lives here too',
    })
  })

  test('the addresses of the other tenants are looked at too', async () => {
    const { checks } = await line.json('doctor')
    expect(checks).toContainEqual({
      check: 'Tenant addresses',
      status: 'ok',
      message: 'Those of 1 lead here.',
    })
  })

  test('accounts without an e-mail address are named', async () => {
    const look = async () => (await lookAtWork(line.env))['E-mail addresses']
    expect(await look()).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/^1 account .*: alice.localhost$/),
    })
    for (const name of ['b', 'c', 'd', 'e', 'f']) await server.createTenant(`${name}.localhost`)
    const { message, advice } = (await look()) ?? {}
    expect(message).toMatch(/^6 accounts .*: alice.localhost, b.localhost, .*, …$/)
    expect(advice).toContain('kith tenant email IDTAG ADDRESS')
  })

  test('another base identity is a problem', async () => {
    expect((await lookAtWork({ ...line.env, BASE_ID_TAG: 'other.localhost' }))['Base tenant']).toMatchObject({
      status: 'problem',
      message: 'This server belongs to home.localhost, and BASE_ID_TAG says other.localhost.',
    })
  })

  test('jobs that were given up are counted by kind, with what the latest died of', async () => {
    const job = { tenant_id: 0, payload: '{}', run_at_ms: 0, created_at_ms: 0, remove_at_ms: 1 }
    await server.db.transact(serverTenant, (tx) =>
      tx
        .tables<Record<string, Record<string, unknown>>>()
        .insertInto('jobs')
        .values([
          { ...job, kind: 'mail.send', state: 'dead', last_error: 'no route' },
          { ...job, kind: 'mail.send', state: 'dead', last_error: 'refused by the postmaster' },
          { ...job, kind: 'mail.send', state: 'done', last_error: null },
        ])
        .execute(),
    )
    const { Jobs } = await lookAtWork(line.env)
    expect(Jobs).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('2 have been given up: 2 mail.send.'),
    })
    expect(Jobs?.advice).toContain('refused by the postmaster')
  })
})

/** The address of another program, until the test ends. */
async function listen(onConnection: (socket: Socket) => void): Promise<string> {
  const server: Server = createServer(onConnection).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the port', () => {
  test('in the hands of another program is a problem', async () => {
    const address = await listen((socket) => void socket.end('SSH-2.0-x\r\n'))
    expect((await lookAtNetwork({ LISTEN: address })).Listening).toMatchObject({
      status: 'problem',
      message: `Another program has ${address}.`,
    })
  })

  test('in the hands of the server of another data directory is a problem', async () => {
    await using line = await CommandLine.open()
    await using server = await TestServer.start({ dataDir: line.dataDir })
    const address = `127.0.0.1:${server.running.port}`
    const taken = { status: 'problem', message: `Another program has ${address}.` }
    const other = { LISTEN: address, DATA_DIR: line.folder }
    expect((await lookAtNetwork(other)).Listening).toMatchObject(taken)
    const own = { LISTEN: address, DATA_DIR: line.dataDir }
    expect((await lookAtNetwork(own)).Listening).toMatchObject({ status: 'ok' })
  })

  test('of an address that this machine has not is a problem', async () => {
    expect((await lookAtNetwork({ LISTEN: '192.0.2.1:80' })).Listening).toMatchObject({
      status: 'problem',
      message: '192.0.2.1:80 cannot be listened on (EADDRNOTAVAIL).',
    })
  })
})

test.each([
  // A machine may be without IPv6.
  ['::', '127.0.0.1'],
  ['0.0.0.0', '127.0.0.1'],
  ['::1', '::1'],
  ['localhost', 'localhost'],
])('a server that listens on %s is asked at %s', (host, near) => {
  expect(nearHost(host)).toBe(near)
})

describe('the other ports', () => {
  test.each([
    ['DNS_LISTEN', 'Listening for DNS'],
    ['METRICS_LISTEN', 'Listening for metrics'],
  ])('of %s in the hands of another program is a problem, as it is for serve', async (variable, check) => {
    const address = await listen((socket) => void socket.end())
    const env = { LISTEN: '127.0.0.1:0', [variable]: address }
    expect((await lookAtNetwork(env))[check]).toMatchObject({
      status: 'problem',
      message: `Another program has ${address}.`,
      advice: `Stop it, or choose another ${variable}.`,
    })
    await using line = await CommandLine.open(env)
    expect(await line.run(['serve'])).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('EADDRINUSE'),
    })
  })

  test('of several addresses for DNS are told one by one', async () => {
    const [free, taken] = [`${ownAddress()}:1053`, await listen((socket) => void socket.end())]
    const config = readConfig({ LISTEN: '127.0.0.1:0', DNS_LISTEN: `${free},${taken}` })
    const findings = await Promise.all(examinePorts(config, Promise.resolve('nobody')))
    expect(findings.filter(({ check }) => check === 'Listening for DNS')).toEqual([
      expect.objectContaining({ message: expect.stringContaining(`Nothing listens on ${free}`) }),
      expect.objectContaining({ message: `Another program has ${taken}.` }),
    ])
  })

  test('of which one for DNS is taken are a problem for serve', async () => {
    const taken = await listen((socket) => void socket.end())
    await using line = await CommandLine.open({
      LISTEN: '127.0.0.1:0',
      DNS_LISTEN: `${ownAddress()}:1053,${taken}`,
    })
    expect(await line.run(['serve'])).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('EADDRINUSE'),
    })
  })

  test('that a running server does not have is a problem', async () => {
    await using line = await CommandLine.open()
    await using server = await TestServer.start({ dataDir: line.dataDir })
    const address = `${ownAddress()}:1053`
    const env = {
      DATA_DIR: line.dataDir,
      LISTEN: `127.0.0.1:${server.running.port}`,
      DNS_LISTEN: address,
    }
    expect((await lookAtNetwork(env))['Listening for DNS']).toMatchObject({
      status: 'problem',
      message: `Nothing listens on ${address}, but a server is running.`,
    })
  })

  test('of an authority’s certificate that is none is a problem, as it is for serve', async () => {
    const env = { BASE_ID_TAG: 'home.example', TLS: 'acme', ACME_CA_FILE: '/dev/null', DATA_DIR: tmpdir() }
    const config = readConfig(env)
    const [authority] = await Promise.all(examineCertificates({ config, clock: systemClock, db: undefined }))
    expect(authority).toMatchObject({
      check: 'Authority',
      status: 'problem',
      message: 'ACME_CA_FILE has no certificate in PEM form: /dev/null',
    })
  })
})

describe('a server for the world', () => {
  test('needs https', async () => {
    const env = { BASE_ID_TAG: 'home.example', LISTEN: '127.0.0.1:0', PUBLIC_URL: 'http://{idTag}' }
    const findings = await lookAtNetwork({ ...env, DNS_SERVERS: `127.0.0.1:${closedPort}` })
    expect(findings['Public address']).toMatchObject({
      status: 'problem',
      message: 'http://home.example is not https.',
    })
    expect(findings.Mail).toMatchObject({ status: 'warning', advice: expect.stringContaining('SMTP_URL') })
  })
})

describe('redis', () => {
  test('that does not answer is for attention, and its password is not told', async () => {
    const REDIS_URL = `redis://:secret-word@127.0.0.1:${closedPort}`
    const { Redis } = await lookAtNetwork({ LISTEN: '127.0.0.1:0', REDIS_URL })
    expect(Redis).toMatchObject({ status: 'warning', message: expect.stringContaining('ECONNREFUSED') })
    expect(JSON.stringify(Redis)).not.toContain('secret-word')
  })

  test('that answers is well', async () => {
    const redis = createServer((socket) => socket.on('data', (asked) => answerRedis(socket, String(asked))))
    redis.listen(0, '127.0.0.1')
    await once(redis, 'listening')
    onTestFinished(() => void redis.close())
    const { port } = redis.address() as AddressInfo
    const env = { LISTEN: '127.0.0.1:0', REDIS_URL: `redis://127.0.0.1:${port}` }
    expect((await lookAtNetwork(env)).Redis).toMatchObject({
      status: 'ok',
      message: `127.0.0.1:${port} answers.`,
    })
  })

  test('that there is none is told where several processes may share a database', async () => {
    const DATABASE_URL = 'postgres://kith@127.0.0.1:1/kith'
    const { Redis } = await lookAtNetwork({ LISTEN: '127.0.0.1:0', DATABASE_URL })
    expect(Redis).toMatchObject({ status: 'ok', message: expect.stringContaining('REDIS_URL') })
    expect((await lookAtNetwork({ LISTEN: '127.0.0.1:0' })).Redis).toBeUndefined()
  })

  /** As much of its protocol as a ping needs. */
  function answerRedis(socket: Socket, asked: string): void {
    for (const command of asked.match(/ping|info|client/gi) ?? [])
      socket.write(command.toLowerCase() === 'ping' ? '+PONG\r\n' : '$0\r\n\r\n')
  }
})

describe('mail', () => {
  const login = { user: 'kith', password: 'secret-word' }
  const options = { login, disabledCommands: ['STARTTLS'], allowInsecureAuth: true }

  test('is well when the server takes the login, and nothing is sent', async () => {
    await using smtp = await startSmtpServer(options)
    const SMTP_URL = `smtp://kith:secret-word@127.0.0.1:${smtp.port}`
    expect((await lookAtNetwork({ LISTEN: '127.0.0.1:0', SMTP_URL })).Mail).toMatchObject({ status: 'ok' })
    expect(smtp.received).toEqual([])
  })

  test('is a problem with the stage, and without the password, when it does not', async () => {
    await using smtp = await startSmtpServer({
      ...options,
      refusalOf: (given) => `${authLinesOf(given)} (${given.password})`,
    })
    const SMTP_URL = `smtp://kith:wrong-word@127.0.0.1:${smtp.port}`
    const { Mail } = await lookAtNetwork({ LISTEN: '127.0.0.1:0', SMTP_URL })
    expect(Mail).toMatchObject({
      status: 'problem',
      message: expect.stringMatching(/\(auth\).*AUTH PLAIN \[hidden\] \(\[hidden\]\)$/),
    })
    expect(JSON.stringify(Mail)).not.toContain('wrong-word')
  })

  test('may be told of in the settings', async () => {
    await using line = await CommandLine.open()
    await using server = await TestServer.start({ dataDir: line.dataDir })
    const admin = await server.as(server.baseIdTag)
    const set = (name: string, value: unknown) =>
      admin.call(putSetting, { params: { name }, query: {}, body: { value } })
    await set('email.smtp.host', '127.0.0.1')
    await set('email.smtp.port', closedPort)
    const { out, exitCode } = await line.run(['doctor'])
    expect(exitCode).toBe(1)
    expect(out).toMatch(/PROBLEM +Mail +127\.0\.0\.1:\d+ does not take mail \(connect\)/)
  })
})

describe('the data', () => {
  let line: CommandLine
  let keyFile: string
  beforeAll(async () => {
    line = await CommandLine.open()
    await (await TestServer.start({ dataDir: line.dataDir })).stop()
    keyFile = `${line.dataDir}/master.key`
  })
  afterAll(() => line[Symbol.asyncDispose]())

  test.each([
    ['cannot be understood', 'abc', 0o600, /^MASTER_KEY_FILE does not hold 32 bytes/],
    [
      'is open to everybody',
      Buffer.alloc(32, 1).toString('base64'),
      0o604,
      /^MASTER_KEY_FILE may be used by/,
    ],
    [
      'is another',
      Buffer.alloc(32, 1).toString('base64'),
      0o600,
      /^It does not open the keys of home.localhost/,
    ],
  ])('with a key that %s is a problem', async (_how, text, mode, message) => {
    const path = `${line.folder}/another.key`
    await writeFile(path, text)
    await chmod(path, mode)
    const findings = await lookAtData({ ...line.env, MASTER_KEY_FILE: path })
    expect(findings['Master key']).toMatchObject({
      status: 'problem',
      message: expect.stringMatching(message),
    })
    expect(JSON.stringify(findings)).not.toContain(text)
  })

  test('without their key are a problem, and none is made', async () => {
    const dataDir = `${line.folder}/empty`
    await mkdir(dataDir, { mode: 0o700 })
    const env = { ...line.env, DATA_DIR: dataDir, DATABASE_URL: `sqlite:${line.dataDir}/kith.db` }
    expect((await lookAtData(env))['Master key']).toMatchObject({
      status: 'problem',
      message: `MASTER_KEY_FILE does not exist: ${dataDir}/master.key`,
    })
    expect(await readdir(dataDir)).toEqual([])
  })

  test('without their database are a problem, and none is made', async () => {
    const env = { ...line.env, DATABASE_URL: `sqlite:${line.folder}/none.db` }
    expect((await lookAtData(env)).Database).toMatchObject({
      status: 'problem',
      message: expect.stringContaining(`${keyFile} is the key of an older one`),
    })
    expect(await readdir(line.folder)).not.toContain('none.db')
  })

  test('in a directory that others may look into are for attention', async () => {
    await chmod(line.dataDir, 0o755)
    onTestFinished(() => chmod(line.dataDir, 0o700))
    expect((await lookAtData(line.env))['Data directory']).toMatchObject({
      status: 'warning',
      advice: `chmod 700 ${line.dataDir}`,
    })
  })

  test('where a file is in the place of the directory are a problem', async () => {
    const findings = await lookAtData({ ...line.env, BLOB_STORE: `file:${keyFile}` })
    expect(findings.Blobs).toMatchObject({ status: 'problem', message: `${keyFile} is no directory.` })
  })

  test('in a bucket are well when it answers; else it is said what is wrong', async () => {
    await using server = await S3Server.start()
    const { environment } = server
    const look = async (more: Env = {}) => (await lookAtData({ ...line.env, ...environment, ...more })).Blobs
    expect(await look()).toMatchObject({
      status: 'ok',
      message: `The bucket kith-test at ${server.endpoint} answers.`,
    })
    expect(await look({ S3_ACCESS_KEY_ID: 'OTHER' })).toMatchObject({
      status: 'problem',
      message: expect.stringContaining('answers 403'),
      advice: expect.stringContaining('S3_SECRET_ACCESS_KEY'),
    })
    const elsewhere = environment.BLOB_STORE?.replace('kith-test', 'nobodys')
    expect(await look({ BLOB_STORE: elsewhere ?? '' })).toMatchObject({
      message: expect.stringContaining('answers 404'),
      advice: expect.stringContaining('Make the bucket'),
    })
    const nowhere = `s3://bucket?pathStyle=true&endpoint=http://127.0.0.1:${closedPort}`
    expect(await look({ BLOB_STORE: nowhere })).toMatchObject({
      message: expect.stringContaining('cannot be reached (ECONNREFUSED)'),
    })
    expect(server.requests.every(({ method }) => method === 'HEAD')).toBe(true)
  })

  test('of an older version are for attention, of another a problem', async () => {
    const databaseOf = async (name: string, known: typeof migrations) => {
      const url = `sqlite:${line.folder}/${name}.db`
      await (await openDatabase({ url, migrations: known })).close()
      return (await lookAtData({ ...line.env, DATABASE_URL: url })).Database
    }
    const later = { id: '9999_later', up: async () => undefined }
    expect(await databaseOf('older', migrations.slice(0, -2))).toMatchObject({
      status: 'warning',
      message: '2 migrations are to be applied.',
    })
    expect(await databaseOf('newer', [...migrations, later])).toMatchObject({
      status: 'problem',
      message: 'Another version of the program has changed it (9999_later).',
    })
  })

  test('that are no database are a problem, and the other checks are made all the same', async () => {
    const path = `${line.folder}/garbage.db`
    await writeFile(path, 'this is not a database, and long enough to be looked at'.repeat(200))
    const findings = await lookAtData({ ...line.env, DATABASE_URL: `sqlite:${path}` })
    expect(findings.Database).toMatchObject({ status: 'problem', message: 'file is not a database' })
    expect(findings['Master key']).toMatchObject({ status: 'ok' })
    expect(findings['Disk space']).toBeDefined()
  })
})

describe('the machine', () => {
  test('with a clock that is behind the database is a problem', async () => {
    await using line = await CommandLine.open()
    await (await TestServer.start({ dataDir: line.dataDir })).stop()
    const look = async (atMs: number) =>
      (await byName(examineMachine(readConfig(line.env), new TestClock(atMs)))).Clock
    expect(await look(systemClock.now() - 3_600_000)).toMatchObject({
      status: 'problem',
      message: expect.stringContaining('the database was written at'),
    })
    expect(await look(0)).toMatchObject({ status: 'problem', message: 'It says 1970-01-01T00:00:00.000Z.' })
  })
})
