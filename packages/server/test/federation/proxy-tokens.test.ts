import { getAccessToken, getAuditLog, getProxyToken, listActions } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { follow, post } from './acts.ts'

const unauthorized = expect.objectContaining({ status: 401, code: 'E-AUTH-UNAUTH' })

describe('a proxy token', () => {
  let network: TestNetwork
  let alice: Person
  let bob: Person
  let carol: Person

  beforeAll(async () => {
    network = await TestNetwork.start(3)
    ;({ alice, bob, carol } = await network.cast('alice', 'bob', 'carol'))
    await follow(network, bob, alice)
    await post(network, alice, 'For followers', { visibility: 'F' })
  })
  afterAll(() => network[Symbol.asyncDispose]())

  const mint = async (target: Person) =>
    (await bob.client.call(getProxyToken, { query: { target: target.idTag } })).data.token
  const at = (host: Person, token?: string) => network.server(host.at).client(host.idTag, token)
  const exchange = async (host: Person, token: string) =>
    (await at(host).call(getAccessToken, { query: { token } })).data
  const texts = async (client: Person['client']) =>
    (await client.call(listActions, { query: { type: ['POST'] } })).data.map(
      ({ content }) => (content as { text: string }).text,
    )

  test('is a bearer on the server of the identity it was made for', async () => {
    expect(await texts(at(alice, await mint(alice)))).toEqual(['For followers'])
    expect(await texts(at(alice))).toEqual([])
  })

  test('is exchanged there once, for an access token that reads the same', async () => {
    const token = await mint(alice)
    const access = await exchange(alice, token)
    expect(await texts(at(alice, access.token))).toEqual(['For followers'])
    await expect(exchange(alice, token)).rejects.toEqual(unauthorized)
  })

  test('is nothing on a third server, at home, or for another identity', async () => {
    const token = await mint(alice)
    for (const host of [carol, bob]) {
      await expect(texts(at(host, token))).rejects.toEqual(unauthorized)
      await expect(exchange(host, token)).rejects.toEqual(unauthorized)
    }
    await expect(at(alice, await mint(carol)).call(listActions, {})).rejects.toEqual(unauthorized)
  })

  test('gives no say over the account it visits', async () => {
    const { token } = await exchange(alice, await mint(alice))
    await expect(at(alice, token).call(getAuditLog, {})).rejects.toMatchObject({ status: 403 })
    await expect(
      at(alice, token).call(getProxyToken, { query: { target: carol.idTag } }),
    ).rejects.toMatchObject({ status: 403 })
  })

  test('ends after five minutes', async () => {
    const token = await mint(alice)
    network.clock.advance(5 * 60_000 + 1000)
    await expect(texts(at(alice, token))).rejects.toEqual(unauthorized)
    await expect(exchange(alice, token)).rejects.toEqual(unauthorized)
  })
})
