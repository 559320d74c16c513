import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createProxySite, deleteProxySite, updateProxySite } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { onPostgresServer } from '#harness/each-dialect.ts'
import type { TestServer } from '#harness/test-server.ts'
import { redisOfSuite, twoProcesses } from './two-processes.ts'

const wiki = 'wiki.example.org'
const home = 'home.localhost'

let backendUrl: string
const streams: ServerResponse[] = []
const backend = createServer((request, response) => {
  if (request.url !== '/stream') response.end('hello')
  else {
    streams.push(response)
    response.write('begun')
  }
})
beforeAll(async () => {
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  backendUrl = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
})
afterAll(() => {
  backend.closeAllConnections()
  backend.close()
})

async function visit(server: TestServer): Promise<string> {
  const answer = await server.request(wiki, '/', { headers: {} })
  return answer.ok ? await answer.text() : String(answer.status)
}

onPostgresServer('a proxy site that one of two processes changes', (open) => {
  const start = twoProcesses(open)
  const redisUrl = redisOfSuite()

  test('is changed at once at the other, with what is under way, where they share a Redis', async () => {
    const { first, second } = await start(redisUrl())
    const admin = await first.as(home)
    const body = { domain: wiki, backendUrl } as never
    expect(await visit(second)).toContain('<title>home')
    const { siteId } = (await admin.call(createProxySite, { body })).data
    await expect.poll(() => visit(second)).toBe('hello')
    const stream = await second.request(wiki, '/stream', { headers: {} })
    await admin.call(updateProxySite, { params: { siteId }, body: { status: 'D' } })
    await expect.poll(() => visit(second)).toContain('<title>home')
    await expect(stream.text()).rejects.toThrow()
  })

  test('is changed within two seconds at the other without', async () => {
    const { first, second } = await start()
    const admin = await first.as(home)
    const { siteId } = (await admin.call(createProxySite, { body: { domain: wiki, backendUrl } as never }))
      .data
    first.clock.advance(2_000)
    expect(await visit(second)).toBe('hello')
    const stream = await second.request(wiki, '/stream', { headers: {} })
    await admin.call(deleteProxySite, { params: { siteId } })
    first.clock.advance(2_000)
    await expect(stream.text()).rejects.toThrow()
    expect(await visit(second)).toContain('<title>home')
  })
})
