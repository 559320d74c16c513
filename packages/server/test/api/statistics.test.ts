import { createAction, deleteAction, getMe, getStatistics, uploadFile } from '@kith/protocol'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { BusDevice } from '#harness/bus-client.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { TestServer } from '#harness/test-server.ts'

const base = 'home.localhost'
const alice = 'alice.localhost'
const hourMs = 3_600_000
const dayMs = 24 * hourMs

eachDialect('statistics of a server', (open) => {
  let server: TestServer
  beforeEach(async () => {
    const { url } = await open.place()
    server = await TestServer.start({ env: { DATABASE_URL: url } })
    return () => server.stop()
  })

  /** The statistics as they are once the hour is over. */
  async function counted(afterMs = hourMs) {
    // A count that is still under way would be followed by the next one an hour after its end.
    await server.settle()
    server.clock.advance(afterMs)
    await server.settle()
    const client = await server.as(base)
    return (await client.call(getStatistics)).data
  }

  test('tell who lives here and who was here lately', async () => {
    await server.createTenant(alice)
    await server.createTenant('club.localhost', { type: 'community' })
    // Whoever asks is here too.
    const before = await counted()
    expect(before).toMatchObject({ communities: 1, people: { total: 2, activeIn7Days: 1 } })
    await (await server.as(alice)).call(getMe)
    const people = async (afterMs?: number) => (await counted(afterMs)).people
    expect(await people()).toEqual({ total: 2, activeIn7Days: 2, activeIn30Days: 2 })
    await server.suspend(alice)
    expect(await people(6 * dayMs)).toEqual({ total: 2, activeIn7Days: 2, activeIn30Days: 2 })
    expect(await people(dayMs)).toEqual({ total: 2, activeIn7Days: 1, activeIn30Days: 2 })
    // The sessions of then are gone.
    expect(await people(22 * dayMs)).toEqual({ total: 2, activeIn7Days: 1, activeIn30Days: 2 })
    expect(await people(dayMs)).toEqual({ total: 2, activeIn7Days: 1, activeIn30Days: 1 })
  })

  test('count what was made here and stands, day by day', async () => {
    await server.createTenant(alice)
    const client = await server.as(alice)
    const post = async (text: string) =>
      (await client.call(createAction, { body: { type: 'POST', content: { text } } })).data.actionId
    const first = await post('One')
    await post('Two')
    // A follower holds it too, and it is one all the same.
    await (await server.as(base)).call(createAction, { body: { type: 'FLLW', audienceTag: alice } })
    await client.upload(uploadFile, {
      params: { preset: 'raw', fileName: 'x.txt' },
      body: new Blob(['x'.repeat(100)]),
    })
    const { actions, days, storage } = await counted()
    expect(actions).toBe(3)
    expect(storage).toEqual({ usedBytes: 100, files: 1 })
    const today = new Date(server.clock.now()).toISOString().slice(0, 10)
    expect(days).toEqual([
      { day: today, activePeople: 2, people: 2, communities: 0, actions: 3, ...storage, sockets: 0 },
    ])
    await counted(dayMs)
    await (await server.as(alice)).call(deleteAction, { params: { actionId: first } })
    const later = await counted()
    expect(later.actions).toBe(2)
    expect(later.days.map((day) => [day.day > today, day.actions])).toEqual([
      [true, 2],
      [false, 3],
    ])
    const much = await counted(31 * dayMs)
    expect(much.days).toHaveLength(1)
    await counted(401 * dayMs)
    expect(await server.countRows('daily_statistics')).toEqual({ daily_statistics: 1 })
  })

  test('count open WebSockets, and the most of the day', async () => {
    await counted()
    const minuteMs = 60_000
    server.clock.advance(hourMs - 2 * minuteMs)
    const client = await server.as(base)
    const sockets = async () => (await client.call(getStatistics)).data.sockets
    const device = await BusDevice.connect(server, base, await server.signIn(base))
    onTestFinished(() => device[Symbol.asyncDispose]())
    server.clock.advance(minuteMs)
    await expect.poll(sockets).toBe(1)
    expect((await counted(minuteMs)).days[0]?.sockets).toBe(1)
    await device[Symbol.asyncDispose]()
    // The server hears a little later that it is closed.
    const aMinuteLater = () => {
      server.clock.advance(minuteMs)
      return sockets()
    }
    await expect.poll(aMinuteLater).toBe(0)
    expect((await counted()).days[0]?.sockets).toBe(1)
  })
})
