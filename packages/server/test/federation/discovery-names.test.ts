import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestNetwork } from '#harness/test-network.ts'
import { feedOf, follow, post } from './acts.ts'

let network: TestNetwork
beforeAll(async () => {
  network = new TestNetwork()
  await network.add('one', { env: { DISCOVERY_NAME: 'kith' } })
  await network.add('two', { env: { DISCOVERY_NAME: 'other' } })
  await network.add('three')
})
afterAll(() => network[Symbol.asyncDispose]())

test('a server is found under its own word and under the common one, and by servers with other words', async () => {
  const { alice, bob, carol } = await network.cast('alice', 'bob', 'carol')
  const statusOf = async (word: string) =>
    (await network.server(0).request(alice.idTag, `/.well-known/${word}/id-tag`)).status
  expect([await statusOf('kith'), await statusOf('service'), await statusOf('other')]).toEqual([
    200, 200, 404,
  ])
  for (const [reader, writer] of [
    [bob, alice],
    [alice, bob],
    [carol, alice],
    [alice, carol],
  ] as const) {
    await follow(network, reader, writer)
    await post(network, writer, `${writer.idTag} to ${reader.idTag}`)
    expect(await feedOf(reader)).toContain(`${writer.idTag} to ${reader.idTag}`)
  }
})
