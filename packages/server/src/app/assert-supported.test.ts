import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '#infra/config/index.ts'
import { assertSupported } from './assert-supported.ts'

const check = (env: Record<string, string>) => assertSupported(readConfig(env, { isTerminal: false }))

test('a server is not started that would leave TLS or DNS out', () => {
  expect(() => check({})).not.toThrow()
  for (const env of [
    { TLS: 'acme', ACME_EMAIL: 'ops@example.com' },
    { TLS: 'files', TLS_CERT: '/cert.pem', TLS_KEY: '/key.pem' },
    { DNS_LISTEN: '127.0.0.1:5353' },
  ])
    expect(() => check(env)).toThrow(ConfigError)
})
