import { describe, expect, test } from 'vitest'
import { type Config, ConfigError, readConfig } from './index.ts'

const read = (env: Record<string, string>): Config => readConfig(env, { cwd: '/srv/kith' })

function wrong(env: Record<string, string>): string[] {
  try {
    read(env)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map(({ variable }) => variable)
  }
}

describe('takes', () => {
  test.each<[string, string, (config: Config) => unknown, unknown]>([
    ['LISTEN', '[::1]:0', (config) => config.listen, { host: '::1', port: 0 }],
    ['LISTEN', 'localhost:80', (config) => config.listen, { host: 'localhost', port: 80 }],
    ['LISTEN', '0.0.0.0:65535', (config) => config.listen, { host: '0.0.0.0', port: 65_535 }],
    ['DEFAULT_TENANT', 'Bob.localhost', (config) => config.defaultTenant, 'bob.localhost'],
    ['DEFAULT_TENANT', 'none', (config) => config.defaultTenant, undefined],
    ['DATA_DIR', '../data', (config) => config.dataDir, '/srv/data'],
    ['DATABASE_URL', 'sqlite:x.db', (config) => config.database.url.reveal(), 'sqlite:/srv/kith/x.db'],
    ['DATABASE_URL', 'sqlite:///x.db', (config) => config.database.url.reveal(), 'sqlite:/x.db'],
    ['DATABASE_URL', 'postgres:///kith?host=/run/pg', (config) => config.database.kind, 'postgres'],
    ['BLOB_STORE', 'file:./b', (config) => config.blobStore, { kind: 'file', path: '/srv/kith/b' }],
    ['BLOB_STORE', 'file:///b', (config) => config.blobStore, { kind: 'file', path: '/b' }],
    [
      'MASTER_KEY_FILE',
      'k',
      (config) => config.masterKey,
      { kind: 'file', path: '/srv/kith/k', generated: false },
    ],
    [
      'IDENTITY_HOSTS',
      'a.example=http://127.0.0.1:9, B.example = https://c.example',
      (config) => [...config.federation.identityHosts],
      [
        ['a.example', 'http://127.0.0.1:9'],
        ['b.example', 'https://c.example'],
      ],
    ],
    [
      'DNS_SERVERS',
      '9.9.9.9, [2620:fe::fe]:53,::1',
      (config) => config.federation.dnsServers,
      ['9.9.9.9', '[2620:fe::fe]:53', '::1'],
    ],
    [
      'ALLOW_PRIVATE_NETWORK',
      '10.1.2.3/16,fd00::1',
      (config) => config.federation.allowPrivateNetwork,
      ['10.1.0.0/16', 'fd00::1/128'],
    ],
    ['ALLOW_PRIVATE_NETWORK', 'false', (config) => config.federation.allowPrivateNetwork, false],
    [
      'LOCAL_ADDRESSES',
      '203.0.113.1, 2001:DB8::1, Host.Example',
      (config) => config.federation.localAddresses,
      ['203.0.113.1', '2001:db8::1', 'host.example'],
    ],
    [
      'MAIL_FROM',
      'Kith <kith@example.com>',
      (config) => config.mail.from,
      { name: 'Kith', address: 'kith@example.com' },
    ],
    [
      'CORS_ORIGINS',
      'https://app.example,http://localhost:5173',
      (config) => config.corsOrigins,
      ['https://app.example', 'http://localhost:5173'],
    ],
    ['CORS_ORIGINS', '*', (config) => config.corsOrigins, '*'],
    [
      'TRUSTED_PROXIES',
      '127.0.0.1, 10.9.9.9/8, ::1',
      (config) => config.trustedProxies,
      ['127.0.0.1/32', '10.0.0.0/8', '::1/128'],
    ],
    ['MAX_CONNECTIONS_PER_ADDRESS', '50', (config) => config.connections.perAddress, 50],
    ['MAX_CONNECTIONS', '500', (config) => config.connections.total, 500],
    ['METRICS_LISTEN', '127.0.0.1:9090', (config) => config.metricsListen, { host: '127.0.0.1', port: 9090 }],
    ['LOG_FORMAT', 'pretty', (config) => config.log.format, 'pretty'],
  ])('%s=%s', (name, text, part, value) => {
    expect(part(read({ [name]: text }))).toEqual(value)
  })

  test('an S3 bucket with its options', () => {
    const keys = { S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' }
    const endpoint = 'http://127.0.0.1:9000'
    const url = `s3://kith-blobs/a/b/?endpoint=${endpoint}&region=eu-1&pathStyle=true&checksums=required&redirects=public`
    expect(read({ ...keys, BLOB_STORE: url }).blobStore).toEqual({
      kind: 's3',
      bucket: 'kith-blobs',
      prefix: 'a/b',
      endpoint,
      region: 'eu-1',
      pathStyle: true,
      checksums: 'required',
      redirects: 'public',
    })
    expect(read({ ...keys, BLOB_STORE: 's3://kith-blobs' }).blobStore).toEqual({
      kind: 's3',
      bucket: 'kith-blobs',
      prefix: '',
      endpoint: undefined,
      region: 'us-east-1',
      pathStyle: false,
      checksums: 'supported',
      redirects: 'none',
    })
  })
})

describe('refuses', () => {
  test.each([
    ['BASE_ID_TAG', 'localhost'],
    ['BASE_ID_TAG', '10.0.0.1'],
    ['BASE_PASSWORD', 'seven77'],
    ['BASE_PASSWORD', 'x'.repeat(1025)],
    ['DEFAULT_TENANT', 'nobody'],
    ['LISTEN', '8080'],
    ['LISTEN', ':8080'],
    ['LISTEN', '::1:8080'],
    ['LISTEN', '127.0.0.1:65536'],
    ['LISTEN', '127.0.0.1:http'],
    ['LISTEN', 'http://127.0.0.1:80'],
    ['LISTEN', 'kith.example:80'],
    ['PUBLIC_URL', '{idTag}'],
    ['PUBLIC_URL', 'ftp://{idTag}'],
    ['PUBLIC_URL', 'https://{idTag}/kith'],
    ['PUBLIC_URL', 'https://{idTag}?x'],
    ['PUBLIC_URL', 'https://user@{idTag}'],
    ['PUBLIC_URL', 'https://cloud.{idTag}'],
    ['PUBLIC_URL', 'https://example.com/{idTag}'],
    ['DATABASE_URL', 'kith.db'],
    ['DATABASE_URL', 'sqlite:'],
    ['DATABASE_URL', 'sqlite::memory:'],
    ['DATABASE_URL', 'sqlite://host/x.db'],
    ['DATABASE_URL', 'postgres://host:port/db'],
    ['BLOB_STORE', '/var/blobs'],
    ['BLOB_STORE', 'file:'],
    ['BLOB_STORE', 's3://'],
    ['BLOB_STORE', 's3://B_'],
    ['BLOB_STORE', 's3://id:secret@bucket'],
    ['BLOB_STORE', 's3://bucket?endpiont=http://x'],
    ['BLOB_STORE', 's3://bucket?endpoint=x'],
    ['BLOB_STORE', 's3://bucket?pathStyle=yes'],
    ['BLOB_STORE', 's3://bucket?checksums=none'],
    ['BLOB_STORE', 's3://bucket?redirects=all'],
    ['BLOB_STORE', 's3://bucket/a%20b'],
    ['REDIS_URL', 'http://redis'],
    ['MASTER_KEY', 'correct horse battery staple'],
    ['DISCOVERY_NAME', 'Service'],
    ['DISCOVERY_NAME', 'a.b'],
    ['IDENTITY_HOSTS', 'alice.example'],
    ['IDENTITY_HOSTS', 'alice.example=127.0.0.1'],
    ['IDENTITY_HOSTS', 'alice.example=https://host/path'],
    ['IDENTITY_HOSTS', 'alice.example=https://host?a=1'],
    ['IDENTITY_HOSTS', 'alice.example=https://host/#a'],
    ['IDENTITY_HOSTS', 'alice.example=https://me:secret@host'],
    ['IDENTITY_HOSTS', 'localhost=https://host'],
    ['IDENTITY_HOSTS', 'a.example=https://x.example,A.example=https://y.example'],
    ['DNS_SERVERS', 'dns.example'],
    ['DNS_SERVERS', '9.9.9.9:0'],
    ['ALLOW_PRIVATE_NETWORK', 'yes'],
    ['ALLOW_PRIVATE_NETWORK', '10.0.0.0/33'],
    ['LOCAL_ADDRESSES', 'http://host.example'],
    ['SMTP_URL', 'mail.example:25'],
    ['MAIL_FROM', 'Kith'],
    ['MAIL_FROM', 'a@b.example,c@d.example'],
    ['CORS_ORIGINS', 'https://app.example/'],
    ['CORS_ORIGINS', 'https://app.example:443'],
    ['CORS_ORIGINS', 'null'],
    ['CORS_ORIGINS', 'https://*.example'],
    ['CORS_ORIGINS', 'https://app.example,*'],
    ['TRUSTED_PROXIES', 'proxy.example'],
    ['TRUSTED_PROXIES', '10.1/16'],
    ['TRUSTED_PROXIES', '0x0a.0.0.1'],
    ['TRUSTED_PROXIES', '::1/129'],
    ['TLS', 'on'],
    ['TLS', 'yes'],
    ['LISTEN_TLS', '443'],
    ['ACME_DIRECTORY', 'authority.example'],
    ['ACME_DIRECTORY', 'https://user:word@authority.example/'],
    ['ACME_EMAIL', 'Admin <a@b.example>'],
    ['ACME_CHALLENGE', 'dns-01'],
    ['DNS_LISTEN', 'ns1.example:53'],
    ['DNS_LISTEN', '127.0.0.1:53,192.0.2.1'],
    ['LOG_FORMAT', 'text'],
  ])('%s=%s', (name, text) => {
    expect(wrong({ [name]: text })).toEqual([name])
  })

  test.each<[string, Record<string, string>, string[]]>([
    ['two master keys', { MASTER_KEY: 'a'.repeat(43), MASTER_KEY_FILE: '/k' }, ['MASTER_KEY']],
    ['S3 without keys', { BLOB_STORE: 's3://bucket' }, ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']],
    [
      'redirects from https to http',
      {
        S3_ACCESS_KEY_ID: 'id',
        S3_SECRET_ACCESS_KEY: 'secret',
        PUBLIC_URL: 'https://{idTag}',
        BLOB_STORE: 's3://bucket?endpoint=http://s3.example.com&redirects=public',
      },
      ['BLOB_STORE'],
    ],
    ['any origin for a name of the world', { BASE_ID_TAG: 'a.example', CORS_ORIGINS: '*' }, ['CORS_ORIGINS']],
  ])('%s', (_, env, names) => {
    expect(wrong(env)).toEqual(names)
  })
})
