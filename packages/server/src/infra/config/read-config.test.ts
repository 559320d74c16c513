import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { ConfigError, publicUrlOf, readConfig } from './index.ts'
import type { ReadConfigOptions } from './read-config.ts'

const folder = mkdtempSync(join(tmpdir(), 'kith-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Environment = Record<string, string>

const read = (env: Environment = {}, options: ReadConfigOptions = {}) =>
  readConfig(env, { cwd: '/srv/kith', ...options })

function problemsOf(env: Environment, options?: ReadConfigOptions): string[] {
  try {
    read(env, options)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map(({ variable, message }) => `${variable} ${message}`)
  }
}

function envFile(text: string): string {
  const path = join(mkdtempSync(join(folder, 'file-')), '.env')
  writeFileSync(path, text)
  return path
}

test('nothing set makes a local server', () => {
  const { effective, unknown, ...config } = read()
  expect(effective.every(({ from }) => from === 'default')).toBe(true)
  expect(config).toMatchObject({
    baseIdTag: 'home.localhost',
    basePassword: undefined,
    defaultTenant: 'home.localhost',
    listen: { host: '127.0.0.1', port: 8080 },
    publicUrl: { template: 'http://{idTag}:{port}', servesEveryTenant: true },
    dataDir: '/srv/kith/data',
    database: { kind: 'sqlite', path: '/srv/kith/data/kith.db' },
    blobStore: { kind: 'file', path: '/srv/kith/data/blobs' },
    s3Credentials: undefined,
    redisUrl: undefined,
    masterKey: { kind: 'file', path: '/srv/kith/data/master.key', generated: true },
    federation: {
      discoveryName: 'service',
      identityHosts: new Map(),
      dnsServers: undefined,
      allowPrivateNetwork: true,
      localAddresses: [],
      dnsListen: [],
    },
    mail: {
      smtpUrl: undefined,
      from: { name: undefined, address: 'noreply@home.localhost' },
      directory: '/srv/kith/data/mail',
    },
    corsOrigins: '*',
    trustedProxies: [],
    connections: { perAddress: 200, total: 10_000 },
    metricsListen: undefined,
    log: { level: 'info', format: 'json' },
  })
  expect(config.database.url.reveal()).toBe('sqlite:/srv/kith/data/kith.db')
})

test('a name of the world is served strictly', () => {
  const config = read({ BASE_ID_TAG: 'Example.COM' })
  expect(config.baseIdTag).toBe('example.com')
  expect(config.defaultTenant).toBeUndefined()
  expect(config.corsOrigins).toEqual([])
  expect(config.federation.allowPrivateNetwork).toBe(false)
  expect(config.mail.from.address).toBe('noreply@example.com')
})

test('all problems are told at once, by the names of the variables', () => {
  expect(
    problemsOf({ BASE_ID_TAG: 'localhost', LISTEN: '8080', LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://x' }),
  ).toEqual([
    'BASE_ID_TAG must be a DNS name of at least two labels',
    'LISTEN must be ADDRESS:PORT, with IPv6 in brackets',
    'DATABASE_URL must begin with sqlite: or postgres://',
    'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent',
  ])
})

test('a problem is not told again by what depends on it', () => {
  expect(problemsOf({ BASE_ID_TAG: '-' })).toHaveLength(1)
})

test.each([
  [{ LISTEN: '127.0.0.1:80', METRICS_LISTEN: '127.0.0.1:80' }, 'METRICS_LISTEN', 'LISTEN'],
  [{ LISTEN: '[::]:80', DNS_LISTEN: '192.0.2.1:80' }, 'DNS_LISTEN', 'LISTEN'],
  [{ LISTEN: '127.0.0.1:80', DNS_LISTEN: '192.0.2.1:53,127.0.0.1:80' }, 'DNS_LISTEN', 'LISTEN'],
  [{ METRICS_LISTEN: '127.0.0.1:53', DNS_LISTEN: '[::1]:53,0.0.0.0:53' }, 'DNS_LISTEN', 'METRICS_LISTEN'],
  [{ LISTEN: '[::1]:80', DNS_LISTEN: '[0:0:0:0:0:0:0:1]:80' }, 'DNS_LISTEN', 'LISTEN'],
  [{ LISTEN: 'localhost:80', METRICS_LISTEN: '[::1]:80' }, 'METRICS_LISTEN', 'LISTEN'],
  [
    { TLS: 'files', TLS_CERT: 'c', TLS_KEY: 'k', LISTEN: '0.0.0.0:443', PUBLIC_URL: 'https://{idTag}' },
    'LISTEN_TLS',
    'LISTEN',
  ],
])('one port is not for two: %o', (env, variable, other) => {
  expect(problemsOf(env)).toEqual([`${variable} must have another address or port than ${other}`])
})

test.each([
  '192.0.2.1:53,192.0.2.1:53',
  '192.0.2.1:53,[2001:db8::1]:53,0.0.0.0:53',
  '[2001:db8::1]:53,[2001:DB8:0::1]:53',
  '0.0.0.0:53,[::]:53',
  'localhost:53,[::1]:53',
])('DNS_LISTEN does not list an address and port twice: %s', (text) => {
  expect(problemsOf({ DNS_LISTEN: text })).toEqual([
    'DNS_LISTEN must not have an address and port twice: 0.0.0.0 is every one of IPv4, [::] every one',
  ])
})

test('DNS_LISTEN lists addresses', () => {
  expect(read({ DNS_LISTEN: '192.0.2.1:53, [2001:db8::1]:5353' }).federation.dnsListen).toEqual([
    { host: '192.0.2.1', port: 53 },
    { host: '2001:db8::1', port: 5353 },
  ])
})

test.each([
  { LISTEN: '127.0.0.1:0', METRICS_LISTEN: '127.0.0.1:0' },
  { DNS_LISTEN: '127.0.0.1:0,127.0.0.1:0,192.0.2.1:53,192.0.2.2:53,192.0.2.1:54' },
  { DNS_LISTEN: '0.0.0.0:53,[2001:db8::1]:53' },
  { LISTEN: '127.0.0.1:443' },
  { LISTEN: '127.0.0.1:80', METRICS_LISTEN: '192.0.2.1:80' },
])('ports of their own are for each: %o', (env) => {
  expect(problemsOf(env)).toEqual([])
})

test('the message for people names every problem', () => {
  expect(() => read({ LISTEN: 'x', TLS: 'on' })).toThrow(/wrong:\n {2}TLS .*\n {2}LISTEN /)
})

describe('variables it does not know', () => {
  test('are no problem', () => {
    expect(problemsOf({ KITH_COLOUR: 'blue', DATADIR: '/x' })).toEqual([])
  })

  test('are told with the one that was meant', () => {
    const { unknown } = read({
      DATADIR: '/x',
      PUBLIC_URl: 'x',
      SMTP_URI: 'x',
      KITH_LOG_LEVEL: 'x',
      KITH_DAT_DI: 'x',
      DNS_SERVER: 'x',
      HOME: '/root',
    })
    expect(unknown).toEqual(
      [
        ['DATADIR', 'DATA_DIR'],
        ['PUBLIC_URl', 'PUBLIC_URL'],
        ['SMTP_URI', 'SMTP_URL'],
        ['KITH_LOG_LEVEL', 'LOG_LEVEL'],
        ['KITH_DAT_DI', 'DATA_DIR'],
        ['DNS_SERVER', 'DNS_SERVERS'],
      ].map(([name, nearest]) => ({ name, nearest, from: 'environment' })),
    )
  })

  test('in the file are told whatever they are called', () => {
    expect(read({}, { envFile: envFile('COLOUR=blue\nDATADIR=/x\n') }).unknown).toEqual([
      { name: 'COLOUR', nearest: undefined, from: 'file' },
      { name: 'DATADIR', nearest: 'DATA_DIR', from: 'file' },
    ])
  })

  test('of other programs are left alone, and so is what looks like one that is set', () => {
    const others = {
      LISTEN_FDS: '1',
      AWS_ACCESS_KEY_ID: 'x',
      TERM: 'xterm',
      PATH: '/bin',
      LOGNAME: 'kith',
      TZ: 'UTC',
      PIP_CERT: 'x',
      GIT_DIR: '/x',
      API_KEY: 'x',
      BASE_DIR: '/x',
      DLS: 'x',
    }
    expect(read({ ...others, SMTP_URL: 'smtp://mail.example', SMTP_URI: 'x' }).unknown).toEqual([])
  })
})

test('white space and empty values count as nothing', () => {
  expect(read({ LISTEN: ' 127.0.0.1:0 ', SMTP_URL: '', CORS_ORIGINS: '  ' })).toMatchObject({
    listen: { port: 0 },
    mail: { smtpUrl: undefined },
    corsOrigins: '*',
  })
})

describe('a file', () => {
  test('is read, and the environment wins over it', () => {
    const file = envFile('BASE_ID_TAG=file.example\nLISTEN="[::1]:1"\n# LOG_LEVEL=debug\nLOG_FORMAT=pretty\n')
    const config = read({ LISTEN: '127.0.0.1:2', LOG_FORMAT: '' }, { envFile: file })
    expect(config).toMatchObject({
      baseIdTag: 'file.example',
      listen: { host: '127.0.0.1', port: 2 },
      log: { level: 'info', format: 'json' },
    })
    const from = Object.fromEntries(config.effective.map((variable) => [variable.name, variable.from]))
    expect(from).toMatchObject({ BASE_ID_TAG: 'file', LISTEN: 'environment', LOG_FORMAT: 'default' })
  })

  test('need not exist', () => {
    expect(problemsOf({}, { envFile: join(folder, 'absent') })).toEqual([])
  })

  test('that cannot be read is a problem beside the others', () => {
    expect(problemsOf({ LISTEN: 'x' }, { envFile: folder })).toEqual([
      `${folder} cannot be read (EISDIR)`,
      'LISTEN must be ADDRESS:PORT, with IPv6 in brackets',
    ])
  })
})

describe('secrets', () => {
  const env = {
    BASE_PASSWORD: 'hidden-password',
    DATABASE_URL: 'postgres://kith:hidden-database@db.example/kith',
    BLOB_STORE: 's3://bucket',
    S3_ACCESS_KEY_ID: 'AKIA',
    S3_SECRET_ACCESS_KEY: 'hidden-s3',
    REDIS_URL: 'redis://:hidden-redis@cache.example:6379/1',
    MASTER_KEY: 'hidden0000000000000000000000000000000000000',
    SMTP_URL: 'smtps://user:hidden-smtp@mail.example?auth=hidden-option',
  }

  test('are in the tree, boxed', () => {
    const config = read(env)
    expect(config.basePassword?.reveal()).toBe('hidden-password')
    expect(config.database.url.reveal()).toBe(env.DATABASE_URL)
    expect(config.s3Credentials?.secretAccessKey.reveal()).toBe('hidden-s3')
    expect(config.redisUrl?.reveal()).toBe(env.REDIS_URL)
    expect(config.masterKey.kind === 'value' && config.masterKey.text.reveal()).toBe(env.MASTER_KEY)
    expect(config.mail.smtpUrl?.reveal()).toBe(env.SMTP_URL)
  })

  test('show in no print of the tree', () => {
    const config = read(env)
    expect(JSON.stringify(config)).not.toMatch(/hidden-|hidden0/)
    expect(inspect(config, { depth: 9, showHidden: true })).not.toMatch(/hidden-|hidden0/)
  })

  test('show in no list of what is effective, but for the hosts', () => {
    const effective = Object.fromEntries(read(env).effective.map(({ name, value }) => [name, value]))
    expect(effective).toMatchObject({
      BASE_PASSWORD: '[hidden]',
      DATABASE_URL: 'postgres://[hidden]@db.example/kith',
      S3_ACCESS_KEY_ID: 'AKIA',
      S3_SECRET_ACCESS_KEY: '[hidden]',
      REDIS_URL: 'redis://[hidden]@cache.example:6379/1',
      MASTER_KEY: '[hidden]',
      SMTP_URL: 'smtps://[hidden]@mail.example',
      BLOB_STORE: 's3://bucket',
    })
    expect(JSON.stringify(effective)).not.toMatch(/hidden-|hidden0/)
  })

  test('show in no complaint', () => {
    const problems = problemsOf({ BASE_PASSWORD: 'hidden', MASTER_KEY: 'hidden', SMTP_URL: 'http://hidden' })
    expect(problems).toHaveLength(3)
    expect(problems.join()).not.toContain('hidden')
  })
})

test('the effective list shows absolute paths and normal forms', () => {
  const effective = Object.fromEntries(
    read({ BASE_ID_TAG: 'Bücher.Example', DATA_DIR: 'here' }).effective.map(({ name, value }) => [
      name,
      value,
    ]),
  )
  expect(effective).toMatchObject({
    BASE_ID_TAG: 'xn--bcher-kva.example',
    DATA_DIR: '/srv/kith/here',
    DATABASE_URL: 'sqlite:/srv/kith/here/kith.db',
    MASTER_KEY_FILE: '/srv/kith/here/master.key',
    DEFAULT_TENANT: undefined,
    ALLOW_PRIVATE_NETWORK: 'false',
  })
})

describe('the public URL', () => {
  const idTag = read({ BASE_ID_TAG: 'alice.example' }).baseIdTag
  test.each([
    ['http://{idTag}:{port}', 8123, 'http://alice.example:8123'],
    ['http://{idTag}:{port}', 80, 'http://alice.example'],
    ['https://{idTag}', 8123, 'https://alice.example'],
    ['https://{idTag}:{port}/', 443, 'https://alice.example'],
    ['https://social.example', 8123, 'https://social.example'],
  ])('%s on port %i is %s', (template, port, url) => {
    expect(publicUrlOf(read({ PUBLIC_URL: template }).publicUrl, idTag, port)).toBe(url)
  })

  test('without {idTag} serves the base tenant alone', () => {
    expect(read({ PUBLIC_URL: 'https://social.example' }).publicUrl.servesEveryTenant).toBe(false)
  })
})

describe('TLS', () => {
  const files = { TLS_CERT: '/etc/cert.pem', TLS_KEY: '/etc/key.pem' }

  test('is off, and nothing else is different, unless it is asked for', () => {
    const { tls, listen, publicUrl } = read({})
    expect({ tls, listen, template: publicUrl.template }).toEqual({
      tls: { kind: 'off' },
      listen: { host: '127.0.0.1', port: 8080 },
      template: 'http://{idTag}:{port}',
    })
  })

  test('by ACME needs a name that the world knows, and no further word', () => {
    expect(problemsOf({ TLS: 'acme' })).toEqual([expect.stringContaining('TLS must not be acme')])
    const { tls, listen, publicUrl } = read({ TLS: 'acme', BASE_ID_TAG: 'home.example.com' })
    expect(tls).toEqual({
      kind: 'acme',
      listen: { host: '::', port: 443 },
      directoryUrl: 'https://acme-v02.api.letsencrypt.org/directory',
      email: undefined,
      challenge: 'http-01',
      caFile: undefined,
    })
    expect(listen).toEqual({ host: '::', port: 80 })
    expect(publicUrl.template).toBe('https://{idTag}:{port}')
  })

  test('by files needs both of them, and none is reached by http', () => {
    expect(problemsOf({ TLS: 'files', TLS_KEY: '/etc/key.pem' })).toEqual([
      'TLS_CERT is needed when TLS is files',
    ])
    expect(problemsOf({ TLS: 'files', ...files, PUBLIC_URL: 'http://{idTag}' })).toEqual([
      'PUBLIC_URL must begin with https: when TLS is files',
    ])
    expect(read({ TLS: 'files', ...files }).tls).toMatchObject({ kind: 'files', certFile: '/etc/cert.pem' })
  })
})
