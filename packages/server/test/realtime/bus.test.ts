import { createAction, getAction } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BusDevice } from '#harness/bus-client.ts'
import { TestServer } from '#harness/test-server.ts'

const alice = 'alice.localhost'

describe('the bus', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await TestServer.start()
    await server.createTenant(alice)
  })
  afterAll(() => server.stop())

  test('tells a device what another one has published, as a read shows it', async () => {
    const token = await server.signIn(alice)
    await using device = await BusDevice.connect(server, alice, token)
    const client = server.client(alice, token)
    const { data } = await client.call(createAction, { body: { type: 'POST', content: { text: 'Hello' } } })
    const told = await device.told('ACTION')
    const { data: shown } = await client.call(getAction, { params: { actionId: data.actionId as never } })
    expect(told).toEqual([{ id: expect.any(String), cmd: 'ACTION', data: shown, seq: 1 }])
  })
})
