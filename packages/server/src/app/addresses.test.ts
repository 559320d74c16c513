import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { readConfig } from '#infra/config/index.ts'
import { openAddresses } from './addresses.ts'

const bob = 'bob.localhost' as IdTag

test.each([
  ['http', { LISTEN: '127.0.0.1:8081' }],
  [
    'https',
    { LISTEN: '127.0.0.1:80', TLS: 'files', TLS_CERT: 'cert', TLS_KEY: 'key', LISTEN_TLS: '127.0.0.1:8081' },
  ],
])('a name of this machine alone is looked for at the port of this server, with %s', (scheme, variables) => {
  const addresses = openAddresses(readConfig({ BASE_ID_TAG: 'home.localhost', ...variables }))
  expect(addresses.localhostUrl(bob)).toBe(`${scheme}://bob.localhost:8081`)
  addresses.setPort(8082)
  expect(addresses.localhostUrl(bob)).toBe(`${scheme}://bob.localhost:8082`)
})
