import { putSetting } from '@kith/protocol'
import { expect, test } from 'vitest'
import { askUdp } from '#harness/dns-client.ts'
import { onPostgresServer } from '#harness/each-dialect.ts'
import type { TestServer } from '#harness/test-server.ts'
import { redisOfSuite, twoProcesses } from './two-processes.ts'

const name = 'club.home.localhost'

async function codeAt(server: TestServer): Promise<string> {
  const { dns } = server.running
  if (!dns) throw new Error('nothing answers DNS')
  return ((await askUdp(dns, name, 'A')) as unknown as { rcode: string }).rcode
}

onPostgresServer('the names that two processes answer', (open) => {
  const start = twoProcesses(open, { DNS_LISTEN: '127.0.0.1:0', LOCAL_ADDRESSES: '198.51.100.1' })
  const redisUrl = redisOfSuite()

  const startProvider = async (redis?: string) => {
    const { first, second } = await start(redis)
    const admin = await first.as(first.baseIdTag)
    await admin.call(putSetting, { params: { name: 'idp.enabled' }, body: { value: true } })
    first.clock.advance(10_000)
    expect(await codeAt(second)).toBe('NXDOMAIN')
    return { first, second }
  }

  test('are known to both at once where they share a Redis', async () => {
    const { first, second } = await startProvider(redisUrl())
    await first.createTenant(name)
    await expect.poll(() => codeAt(second)).toBe('NOERROR')
  })

  test('are known to the other within two seconds without', async () => {
    const { first, second } = await startProvider()
    await first.createTenant(name)
    first.clock.advance(2_001)
    expect(await codeAt(second)).toBe('NOERROR')
  })
})
