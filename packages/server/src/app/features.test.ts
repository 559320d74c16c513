import { expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

async function tenantOf(server: TestServer, host: string): Promise<string> {
  const answer = await fetch(`${server.running.url}/api/me`, { headers: { 'x-forwarded-host': host } })
  return answer.status === 200 ? ((await answer.json()) as { data: { idTag: string } }).data.idTag : 'nobody'
}

test('the host of a public address for one tenant is the base tenant’s', async () => {
  const env = { PUBLIC_URL: 'https://kith.home.example', TRUSTED_PROXIES: '127.0.0.1' }
  await using server = await TestServer.start({ baseIdTag: 'home.example', env })
  expect(await tenantOf(server, 'home.example')).toBe('home.example')
  expect(await tenantOf(server, 'kith.home.example')).toBe('home.example')
  expect(await tenantOf(server, 'other.home.example')).toBe('nobody')
})
