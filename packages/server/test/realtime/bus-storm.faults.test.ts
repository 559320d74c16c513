import { createAction, getAccessToken } from '@kith/protocol'
import { expect, test } from 'vitest'
import { BusDevice } from '#harness/bus-client.ts'
import { TestServer } from '#harness/test-server.ts'

const devicesPerPerson = 25
const people = 20

test('five hundred devices come back at once, and none misses anything', async () => {
  await using server = await TestServer.start()
  const tokens: [idTag: string, token: string][] = []
  for (let at = 0; at < people; at += 1) {
    const idTag = `storm${at}.localhost`
    await server.createTenant(idTag)
    const { data } = await (await server.as(idTag)).call(getAccessToken, {})
    tokens.push([idTag, data.token])
  }
  // Everybody has been there before, and something has happened since.
  for (const [idTag, token] of tokens) {
    await using _before = await BusDevice.connect(server, idTag, token)
    await server
      .client(idTag, token)
      .call(createAction, { body: { type: 'POST', content: { text: 'Hello' } } })
  }
  await server.running.features.bus.settled()
  // Another minute: those connections count as well.
  server.clock.advance(60_000)
  const devices = await Promise.all(
    tokens.flatMap(([idTag, token]) =>
      Array.from({ length: devicesPerPerson }, async () => {
        const device = await BusDevice.open(server, idTag, `?token=${token}`)
        expect(await device.ask('subscribe', { since: 0 })).toMatchObject({ status: 'ok' })
        return device
      }),
    ),
  )
  for (const device of devices) {
    const events = device.client.json.filter(({ cmd }) => cmd === 'ACTION')
    expect(events.map(({ seq }) => seq)).toEqual([1])
  }
  expect(devices).toHaveLength(500)
  const [idTag = '', token = ''] = tokens[0] ?? []
  await server.client(idTag, token).call(createAction, { body: { type: 'POST', content: { text: 'Again' } } })
  await expect.poll(() => devices[0]?.client.json.at(-1)).toMatchObject({ cmd: 'ACTION', seq: 2 })
  for (const device of devices) device.client.socket.terminate()
})
