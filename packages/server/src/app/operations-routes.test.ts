import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ownAddress } from '#harness/addresses.ts'
import { TestServer } from '#harness/test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

function scrape(
  headers: Record<string, string>,
  place: { host: string; port: number } = { host: '127.0.0.1', port: server.running.port },
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ ...place, path: '/metrics', headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

test.each(['localhost', '127.0.0.1:8080', '[::1]:8080', 'home.localhost'])(
  'metrics are answered on this machine under the name %s',
  async (host) => {
    expect(await scrape({ host })).toBe(200)
  },
)

test.each([
  ['x-forwarded-for', '203.0.113.7'],
  ['x-forwarded-host', 'kith.example'],
  ['x-forwarded-proto', 'https'],
  ['x-real-ip', '203.0.113.7'],
  ['forwarded', 'for=203.0.113.7'],
  ['via', '1.1 proxy'],
  ['cf-connecting-ip', '203.0.113.7'],
  // A proxy that adds nothing passes on the name that its client asked for.
  ['host', 'kith.example'],
])('metrics are not answered through a proxy that sends %s', async (name, value) => {
  expect(await scrape({ host: 'localhost', [name]: value })).toBe(404)
})

test('metrics with an address of their own are answered there, but not through a proxy site', async () => {
  const place = { host: ownAddress(), port: 9464 }
  await using other = await TestServer.start({ env: { METRICS_LISTEN: `${place.host}:${place.port}` } })
  const { loopGuard } = other.running.services
  expect(await scrape({ via: '1.1 proxy' }, place)).toBe(200)
  expect(await scrape({ via: loopGuard.extend('1.1 proxy') }, place)).toBe(404)
})
