import { expect, test } from 'vitest'
import { readConfig } from '#infra/config/index.ts'
import { examineBrowsers } from './examine-browsers.ts'

const look = (env: Record<string, string>) => examineBrowsers(readConfig({ DATA_DIR: '/data', ...env }))

test.each([
  ['nothing said', {}],
  [
    'https at a proxy',
    { BASE_ID_TAG: 'a.example', PUBLIC_URL: 'https://{idTag}', TRUSTED_PROXIES: '127.0.0.1' },
  ],
  [
    'https at a proxy on another machine',
    { PUBLIC_URL: 'https://{idTag}', LISTEN: '0.0.0.0:8080', TRUSTED_PROXIES: '10.0.0.2' },
  ],
  ['TLS of its own', { BASE_ID_TAG: 'a.example', TLS: 'files', TLS_CERT: '/c', TLS_KEY: '/k' }],
  ['another port of this machine', { LISTEN: '[::1]:8081' }],
])('browsers give all to %s', (_, env) => {
  expect(look(env)).toMatchObject({ status: 'ok' })
})

test.each([
  [
    'an address of the network',
    { PUBLIC_URL: 'http://192.168.1.5:8080', LISTEN: '192.168.1.5:8080' },
    'http://192.168.1.5:8080',
  ],
  [
    'a name of the network',
    { BASE_ID_TAG: 'a.lan', PUBLIC_URL: 'http://{idTag}:{port}' },
    'http://a.lan:8080',
  ],
  ['an open port without a proxy', { LISTEN: '0.0.0.0:8080' }, 'http://0.0.0.0:8080'],
  ['an open port of IPv6', { LISTEN: '[::]:8080' }, 'http://[::]:8080'],
])('plain http at %s is warned of, with what to do', (_, env, address) => {
  const { status, message, advice } = look(env)
  expect(status).toBe('warning')
  expect(message).toContain(`${address} is plain http`)
  expect(message).toMatch(/passkeys.*notifications.*worker/)
  expect(advice).toMatch(/TLS=files.*ssh -L 8080:127\.0\.0\.1:8080/)
})
