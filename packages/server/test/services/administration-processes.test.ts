import { getMe, getStatistics, listTenants, purgeTenant, resumeTenant, suspendTenant } from '@kith/protocol'
import { expect, test } from 'vitest'
import { BusDevice } from '#harness/bus-client.ts'
import { onPostgresServer } from '#harness/each-dialect.ts'
import type { TestServer } from '#harness/test-server.ts'
import { twoProcesses } from './two-processes.ts'

const home = 'home.localhost'
const alice = 'alice.localhost'
const params = { idTag: alice as never }

onPostgresServer('an administrator at one of two processes without Redis', (open) => {
  const start = twoProcesses(open)

  async function cast() {
    const { first, second } = await start()
    await first.createTenant(alice)
    return { first, second, admin: await first.as(home) }
  }

  /** The sockets are looked at again, and what is in memory is forgotten. */
  async function fiveSecondsLater({ clock }: TestServer) {
    for (let second = 0; second < 5; second += 1) {
      clock.advance(1_000)
      await new Promise(setImmediate)
    }
  }

  test('suspends somebody who is connected to the other, within five seconds, and resumes', async () => {
    const { first, second, admin } = await cast()
    const token = await second.signIn(alice)
    await using device = await BusDevice.connect(second, alice, token)
    await admin.call(suspendTenant, { params })
    await fiveSecondsLater(first)
    expect((await device.client.closed).code).toBe(1008)
    const refused = { status: 404, code: 'E-PROFILE-NOTFOUND' }
    await expect(second.client(alice, token).call(getMe)).rejects.toMatchObject(refused)
    await admin.call(resumeTenant, { params })
    await fiveSecondsLater(first)
    await expect(second.client(alice, token).call(getMe)).resolves.not.toHaveProperty('data.roles', ['user'])
    await using again = await BusDevice.connect(second, alice, await second.signIn(alice))
    expect(again.client).toBeDefined()
  })

  test('sees the connections to both', async () => {
    const { first, second, admin } = await cast()
    await using one = await BusDevice.connect(first, alice, await first.signIn(alice))
    await using other = await BusDevice.connect(second, alice, await second.signIn(alice))
    expect([one, other]).toHaveLength(2)
    const sockets = async () => {
      first.clock.advance(1_000)
      return (await admin.call(getStatistics)).data.sockets
    }
    first.clock.advance(60_000)
    await expect.poll(sockets).toBe(2)
  })

  test('has somebody removed by the other when this one ends', async () => {
    const { first, second, admin } = await cast()
    const { data: asked } = await admin.call(purgeTenant, { params })
    const body = asked.confirm === undefined ? {} : { confirm: asked.confirm }
    await admin.call(purgeTenant, { params, body })
    await first.running.services.jobs.stop()
    second.clock.advance(10_000)
    await second.settle()
    const left = (await (await second.as(home)).call(listTenants, {})).data.map(({ idTag }) => idTag)
    expect(left).toEqual([home])
  })
})
