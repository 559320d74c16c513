import { createAction, getVapidKey, subscribePush } from '@kith/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { BusDevice } from '#harness/bus-client.ts'
import { onPostgresServer } from '#harness/each-dialect.ts'
import { PushService } from '#harness/push-service.ts'
import { withRedis } from '#harness/redis-server.ts'
import type { TestServer } from '#harness/test-server.ts'
import { redisOfSuite, twoProcesses } from './two-processes.ts'

const home = 'home.localhost'
const friend = 'friend.localhost'

/** Somebody with a browser, whose friend writes at the first process, which pushes it: the second takes no jobs. */
async function prepare({ first, second }: { readonly first: TestServer; readonly second: TestServer }) {
  await second.running.services.jobs.stop()
  await first.createTenant(friend)
  await first.relate(home, friend, { connection: 'connected' })
  await first.relate(friend, home, { connection: 'connected' })
  const service = await PushService.start()
  onTestFinished(() => service[Symbol.asyncDispose]())
  const browser = service.browser()
  const owner = await first.as(home)
  await owner.call(getVapidKey)
  await owner.call(subscribePush, { body: { subscription: browser.subscription } })
  const writer = await first.as(friend)
  const token = await first.tokenOfSession(home)
  const host = await first.running.features.identity.tenants.find(home as never)
  return {
    connect: (server: TestServer) => BusDevice.connect(server, home, token),
    /** What the first process holds for true. */
    isThere: () => first.running.features.bus.isConnected(host?.tenantId as never, home as never),
    async write(text: string): Promise<void> {
      await writer.call(createAction, {
        body: { type: 'MSG', audienceTag: home as never, content: { text } },
      })
      await first.settle()
    },
    previews: () => browser.pushed.map(({ message }) => (message as { preview: string }).preview),
  }
}

withRedis('two processes of one server', () =>
  onPostgresServer('with Redis', (open) => {
    const start = twoProcesses(open)
    const redisUrl = redisOfSuite()

    test('push nothing to who is connected to the other, and push again when that socket is closed', async () => {
      const { first, second } = await start(redisUrl())
      const { connect, isThere, write, previews } = await prepare({ first, second })
      await write('one')
      const device = await connect(second)
      await expect.poll(isThere).toBe(true)
      await write('two')
      expect(previews()).toEqual(['one'])
      await device[Symbol.asyncDispose]()
      await expect.poll(isThere).toBe(false)
      await write('three')
      expect(previews()).toEqual(['one', 'three'])
    })
  }),
)

onPostgresServer('two processes without Redis', (open) => {
  const start = twoProcesses(open)

  test('push to who is connected to the other as well, and not to who is connected to the one that pushes', async () => {
    const { first, second } = await start()
    const { connect, write, previews } = await prepare({ first, second })
    const elsewhere = await connect(second)
    await write('one')
    expect(previews()).toEqual(['one'])
    const here = await connect(first)
    await write('two')
    expect(previews()).toEqual(['one'])
    for (const device of [elsewhere, here]) await device[Symbol.asyncDispose]()
  })
})
