import {
  createAction,
  getAction,
  getMe,
  getProfile,
  getProxyToken,
  listActions,
  listDeliveries,
  listProfiles,
  type ProfileStatus,
  updateAdminProfile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { feedOf, follow, post } from './acts.ts'

const hourMs = 3_600_000

let network: TestNetwork
beforeAll(async () => {
  network = await TestNetwork.start(2)
})
afterAll(() => network[Symbol.asyncDispose]())

/** What the administrator of the first server decides about somebody. */
async function decide(of: { idTag: string }, change: object) {
  const admin = await network.server(0).as('one.localhost')
  const body = change as { status?: ProfileStatus }
  return (await admin.call(updateAdminProfile, { params: { idTag: of.idTag }, body })).data
}

/** Alice of the first server and Bob of the second, who follow each other. */
async function start() {
  const { alice, bob } = await network.cast('alice', 'bob')
  await follow(network, alice, bob)
  await follow(network, bob, alice)
  return { alice, bob }
}

async function visit({ client }: Person, host: Person) {
  const { data } = await client.call(getProxyToken, { query: { target: host.idTag } })
  return network.server(host.at).client(host.idTag, data.token)
}

const fails = (status: number, code: string) => expect.objectContaining({ status, code })
const isPublic = (posts: readonly { visibility?: string | null }[]) =>
  posts.every(({ visibility }) => visibility === 'P')

describe('an identity elsewhere that the server has', () => {
  test.each<[ProfileStatus, number]>([
    ['Blocked', 403],
    ['Suspended', 403],
    ['Banned', 403],
    ['Muted', 200],
    ['Trusted', 200],
    ['Active', 200],
  ])('%s: what it sends is answered %i', async (status, answer) => {
    const { alice, bob } = await start()
    await decide(bob, { status })
    const { actionId } = await post(network, bob, 'Hello')
    const token = await network.server(bob.at).tokenOf(bob.idTag, actionId)
    expect((await network.server(0).deliver(token)).status).toBe(answer)
    expect(await feedOf(alice)).toEqual(answer === 200 && status !== 'Muted' ? ['Hello'] : [])
    const asked = await alice.client.call(listActions, { query: { issuer: bob.idTag, type: ['POST'] } })
    expect(asked.data).toHaveLength(answer === 200 ? 1 : 0)
    await decide(bob, { status: 'Active' })
    expect(await feedOf(alice)).toEqual(answer === 200 ? ['Hello'] : [])
  })

  test('blocked reads what is public, and is sent nothing', async () => {
    const { alice, bob } = await start()
    await post(network, alice, 'For followers', { visibility: 'F' })
    const reading = await visit(bob, alice)
    expect((await reading.call(listActions, { query: { type: ['POST'] } })).data).toHaveLength(1)
    await decide(bob, { status: 'Blocked' })
    const said = await post(network, alice, 'To everybody')
    const { data } = await reading.call(listActions, { query: { type: ['POST'] } })
    expect([data.length, isPublic(data)]).toEqual([1, true])
    const deliveries = await alice.client.call(listDeliveries, { params: { actionId: said.actionId } })
    expect(deliveries.data).toMatchObject([{ state: 'stopped', lastError: 'the recipients are blocked' }])
    expect(await feedOf(bob)).toEqual(['For followers'])
    await decide(bob, { status: 'Active' })
  })

  test.each(['Suspended', 'Banned'] as const)('%s is believed nothing, until that ends', async (status) => {
    const { alice, bob } = await start()
    const session = await visit(bob, alice)
    await expect(session.call(listProfiles, { query: {} })).resolves.toBeDefined()
    const banExpiresAt = new Date(network.clock.now() + 120_000).toISOString()
    const decided = await decide(bob, { status, banExpiresAt, banReason: 'Spam' })
    expect(decided).toEqual({
      idTag: bob.idTag,
      name: bob.idTag,
      status,
      roles: [],
      banExpiresAt,
      banReason: 'Spam',
    })
    const refused = fails(401, 'E-AUTH-UNAUTH')
    await expect(session.call(listProfiles, { query: {} })).rejects.toEqual(refused)
    await expect((await visit(bob, alice)).call(listProfiles, { query: {} })).rejects.toEqual(refused)

    // Everybody may know that, and only the administrator why.
    const { data: seen } = await alice.client.call(getProfile, { params: { idTag: bob.idTag } })
    expect(seen).toMatchObject({ status })
    expect(seen).not.toHaveProperty('banReason')
    const admin = await network.server(0).as('one.localhost')
    const listed = await admin.call(listProfiles, { query: { status: [status] } })
    expect(listed.data).toMatchObject([{ idTag: bob.idTag, banReason: 'Spam', banExpiresAt }])
    expect((await alice.client.call(listProfiles, { query: { status: ['Active'] } })).data).toEqual([])

    await network.pass(121_000, 60_500)
    await expect((await visit(bob, alice)).call(listProfiles, { query: {} })).resolves.toBeDefined()
    expect((await admin.call(listProfiles, { query: { status: [status] } })).data).toEqual([])
  })

  test('trusted is shown to everybody, and changes nothing', async () => {
    const { alice, bob } = await start()
    await decide(bob, { status: 'Trusted' })
    const { data } = await alice.client.call(getProfile, { params: { idTag: bob.idTag } })
    expect(data).toMatchObject({ status: 'Trusted', relationship: 'following' })
    const stranger = network.server(0).client(alice.idTag)
    expect((await stranger.call(getProfile, { params: { idTag: bob.idTag } })).data.status).toBe('Trusted')
    await decide(bob, { status: 'Active' })
  })
})

describe('a tenant of the server that it has', () => {
  test('blocked signs in and reads, publishes nothing, and what others hold stays theirs', async () => {
    const { alice, bob } = await start()
    const anna = await network.person(0, `anna${alice.idTag}`.split('.')[0] ?? '')
    await follow(network, alice, anna)
    await follow(network, anna, alice)
    await post(network, anna, 'Before', { visibility: 'F' })
    await decide(anna, { status: 'Blocked' })
    const refused = fails(403, 'E-AUTH-FORBIDDEN')
    const body = { type: 'POST' as const, content: { text: 'Now' } }
    await expect(anna.client.call(createAction, { body })).rejects.toEqual(refused)
    const unfollow = { type: 'FLLW' as const, audienceTag: alice.idTag, subType: 'DEL' }
    await expect(anna.client.call(createAction, { body: unfollow })).resolves.toBeDefined()
    await network.settle()
    expect(await feedOf(anna)).toEqual(['Before'])
    expect(await feedOf(alice)).toEqual(['Before'])
    await post(network, alice, 'For followers', { visibility: 'F' })
    expect(await feedOf(bob)).toEqual(['For followers'])
    expect(await feedOf(anna)).toEqual(['Before'])
    await decide(anna, { status: 'Active' })
    expect(await feedOf(alice)).toEqual(['For followers', 'Before'])
  })

  test.each(['Suspended', 'Banned'] as const)('%s answers nobody, until that ends', async (status) => {
    const { alice, bob } = await start()
    const { actionId } = await post(network, alice, 'Public')
    const visiting = await visit(alice, bob)
    const banExpiresAt = new Date(network.clock.now() + 120_000).toISOString()
    await decide(alice, { status, banExpiresAt })
    await expect(alice.client.call(getMe, {})).rejects.toMatchObject({ status: 404 })
    await expect(alice.client.call(listActions, { query: {} })).rejects.toMatchObject({ status: 401 })
    await expect(network.server(0).signIn(alice.idTag)).rejects.toBeDefined()
    const { actionId: missed } = await post(network, bob, 'Missed')
    expect((await bob.client.call(listDeliveries, { params: { actionId: missed } })).data).toMatchObject([
      { state: 'retrying', lastError: 'HTTP 503' },
    ])
    // The other server has decided nothing, but is told that what the visit rests on has ended.
    await expect(visiting.call(listProfiles, { query: {} })).rejects.toMatchObject({ status: 401 })
    await network.pass(121_000, 60_500)
    const again = { ...alice, client: await network.server(0).as(alice.idTag) }
    expect((await again.client.call(getAction, { params: { actionId } })).data.status).toBe('A')
    await expect(alice.client.call(listActions, { query: {} })).rejects.toMatchObject({ status: 401 })
    expect(await feedOf(again)).toEqual(['Public'])
    await network.pass(hourMs, hourMs / 4)
    const later = { ...alice, client: await network.server(0).as(alice.idTag) }
    expect((await feedOf(later)).toSorted()).toEqual(['Missed', 'Public'])
  })
})
