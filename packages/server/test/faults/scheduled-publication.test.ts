import { randomBytes } from 'node:crypto'
import { createAction, getAction, type IdTag } from '@kith/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { type OpenTestDatabase, onPostgresServer } from '#harness/each-dialect.ts'
import { ForeignServer } from '#harness/foreign-server.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost' as IdTag
const follower = 'dora.foreign.localhost' as IdTag
const posts = 12

function scheduleSuite(open: OpenTestDatabase): void {
  test('survives a restart, and is done once by two processes on one database', async () => {
    const { url } = await open.place()
    const clock = new TestClock()
    const foreign = await ForeignServer.start([follower], clock)
    onTestFinished(() => foreign[Symbol.asyncDispose]())
    const env = { DATABASE_URL: url, MASTER_KEY: randomBytes(32).toString('base64') }
    const start = () =>
      TestServer.start({
        env,
        clock,
        baseIdTag: home,
        identityHosts: new Map([[follower, foreign.url]]),
      })

    const before = await start()
    await before.relate(home, follower, { isFollower: true })
    const author = await before.as(home)
    const publishAt = Math.floor(clock.now() / 1000) + 60
    const made = Array.from({ length: posts }, (_, at) =>
      author.call(createAction, { body: { type: 'POST', content: { text: `later ${at}` }, publishAt } }),
    )
    const actionIds = (await Promise.all(made)).map(({ data }) => data.actionId as never)
    await before.stop()

    const servers = await Promise.all([start(), start()])
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))))
    clock.advance(59_000)
    await Promise.all(servers.map((server) => server.settle()))
    expect(foreign.deliveries).toEqual([])
    clock.advance(1000)
    for (let round = 0; round < 3; round += 1) await Promise.all(servers.map((server) => server.settle()))
    for (const server of servers) {
      const reader = await server.as(home)
      const found = actionIds.map((actionId) => reader.call(getAction, { params: { actionId } }))
      for (const { data } of await Promise.all(found)) expect(data.status).toBe('A')
    }
    const arrived = foreign.deliveries.map(({ actionId }) => actionId)
    expect(arrived.toSorted()).toEqual(actionIds.toSorted())
    expect(new Set(foreign.deliveries.map(({ iat }) => iat))).toEqual(new Set([publishAt]))
  })
}

onPostgresServer('a scheduled publication', scheduleSuite)
