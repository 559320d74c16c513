import { readFile } from 'node:fs/promises'
import {
  acceptAction,
  createAction,
  deleteAction,
  getAction,
  getFileDescriptor,
  type IdTag,
  listActions,
  listDeliveries,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestNetwork } from '#harness/test-network.ts'
import { feedOf, follow, post } from './acts.ts'

const photo = new URL('../fixtures/images/photo.jpg', import.meta.url)
const minuteMs = 60_000
const monthMs = 31 * 86_400_000

describe('people on three servers', () => {
  let network: TestNetwork
  beforeAll(async () => {
    network = await TestNetwork.start(3)
  })
  afterAll(() => network[Symbol.asyncDispose]())

  test('a follower sees a post with its picture, whose variants were made at home', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await follow(network, bob, alice)
    const { data: file } = await alice.client.upload(uploadFile, {
      params: { preset: 'default', fileName: 'photo.jpg' },
      body: await readFile(photo),
    })
    await network.settle()
    await post(network, alice, 'Look', { attachments: [file.fileId] })

    const { data } = await bob.client.call(listActions, { query: { type: ['POST'] } })
    expect(data).toMatchObject([
      { content: { text: 'Look' }, attachments: [file.fileId], issuer: { idTag: alice.idTag } },
    ])
    const params = { fileId: file.fileId as never }
    const { data: descriptor } = await bob.client.call(getFileDescriptor, { params })
    expect(descriptor.variants.map(({ id }) => id)).toContain('tn')
  })

  test('whoever does not follow receives nothing, and a stranger is told that there is nothing', async () => {
    const { alice, bob, carol } = await network.cast('alice', 'bob', 'carol')
    await follow(network, bob, alice)
    const forFollowers = await post(network, alice, 'For followers', { visibility: 'F' })
    const forBob = await post(network, alice, 'For bob', { visibility: null, audienceTag: bob.idTag })

    expect(await feedOf(bob)).toEqual(['For bob', 'For followers'])
    expect(await feedOf(carol)).toEqual([])
    const stranger = network.server(alice.at).client(alice.idTag)
    for (const { actionId } of [forFollowers, forBob]) {
      const missing = { status: 404, code: 'E-ACTION-NOTFOUND' }
      await expect(stranger.call(getAction, { params: { actionId } })).rejects.toMatchObject(missing)
      await expect(carol.client.call(getAction, { params: { actionId } })).rejects.toMatchObject(missing)
    }
  })

  test('a follower gets what is public, for the known and for followers, not what is for connections', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await follow(network, bob, alice)
    for (const visibility of ['P', 'V', 'F', 'C'] as const)
      await post(network, alice, visibility, { visibility })
    expect(await feedOf(bob)).toEqual(['F', 'V', 'P'])
  })

  test('a deletion reaches the followers, and the old token cannot bring the post back', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await follow(network, bob, alice)
    const { actionId } = await post(network, alice, 'Regretted')
    const token = await network.server(alice.at).tokenOf(alice.idTag, actionId)
    await alice.client.call(deleteAction, { params: { actionId } })
    await network.settle()
    expect(await feedOf(bob)).toEqual([])

    expect(await network.server(bob.at).deliver(token)).toMatchObject({ status: 200 })
    await network.settle()
    expect(await feedOf(bob)).toEqual([])
  })

  test('a deletion that overtakes its post keeps it out', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await follow(network, bob, alice)
    await network.takeDown(bob.at)
    const { actionId } = await post(network, alice, 'Regretted')
    const token = await network.server(alice.at).tokenOf(alice.idTag, actionId)
    await alice.client.call(deleteAction, { params: { actionId } })
    const server = await network.bringBack(bob.at)
    await network.pass(3_600_000, 600_000)
    expect(await server.deliver(token)).toMatchObject({ status: 200 })
    expect(await feedOf(bob)).toEqual([])
  })

  test('a token that is delivered to somebody it does not concern is not taken', async () => {
    const { alice, bob, carol } = await network.cast('alice', 'bob', 'carol')
    await follow(network, bob, alice)
    const { actionId } = await post(network, alice, 'For followers', { visibility: 'F' })
    const token = await network.server(alice.at).tokenOf(alice.idTag, actionId)
    expect(await network.server(carol.at).deliver(token)).toMatchObject({ status: 404 })
    expect(await feedOf(carol)).toEqual([])
  })

  test('the same token again is answered alike and is still one post', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await follow(network, bob, alice)
    const { actionId } = await post(network, alice, 'Once')
    const token = await network.server(alice.at).tokenOf(alice.idTag, actionId)
    for (const [path, status] of [
      ['/api/inbox', 'received'] as const,
      ['/api/inbox/sync', 'processed'] as const,
    ])
      expect(await network.server(bob.at).deliver(token, path)).toMatchObject({
        status: 200,
        body: { data: { actionId, status, verified: true } },
      })
    expect(await feedOf(bob)).toEqual(['Once'])
  })

  test('two followers on one server are one delivery, and one at home needs no request', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    const bert = await network.person(bob.at, `bert-of-${bob.idTag.split('.')[0]}`)
    const anna = await network.person(alice.at, `anna-of-${alice.idTag.split('.')[0]}`)
    for (const person of [bob, bert, anna]) await follow(network, person, alice)

    const { actionId } = await post(network, alice, 'To all')
    for (const person of [bob, bert, anna]) expect(await feedOf(person)).toEqual(['To all'])
    const { data } = await alice.client.call(listDeliveries, { params: { actionId } })
    expect(data.map(({ recipients, state }) => ({ recipients: recipients.toSorted(), state }))).toEqual([
      { recipients: [bert.idTag, bob.idTag].toSorted(), state: 'delivered' },
      { recipients: [anna.idTag], state: 'delivered' },
    ])
  })

  test('only the issuer sees how the deliveries stand', async () => {
    const { alice, carol } = await network.cast('alice', 'bob', 'carol')
    const { actionId } = await post(network, alice, 'Public')
    const anna = await network.person(alice.at, `anna-beside-${alice.idTag.split('.')[0]}`)
    const params = { actionId }
    expect((await alice.client.call(listDeliveries, { params })).data).toEqual([])
    for (const { client } of [anna, carol])
      await expect(client.call(listDeliveries, { params })).rejects.toMatchObject({ status: 404 })
    const stranger = network.server(alice.at).client(alice.idTag)
    await expect(stranger.call(listDeliveries, { params })).rejects.toMatchObject({ status: 401 })
  })

  test('a blocked issuer is told 403, and nothing of it is kept', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await network.server(bob.at).block(bob.idTag, alice.idTag)
    const { actionId } = await post(network, alice, 'Hello', { visibility: null, audienceTag: bob.idTag })
    const { data } = await alice.client.call(listDeliveries, { params: { actionId } })
    expect(data).toMatchObject([{ state: 'stopped', lastError: 'HTTP 403', attempts: 1 }])
    expect(await feedOf(bob)).toEqual([])
  })

  test('what names somebody whom its issuer blocks is not sent there, and what is deleted still is', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    const to = { visibility: null, audienceTag: bob.idTag } as const
    await network.server(bob.at).relate(bob.idTag, alice.idTag, { isFollowing: true })
    const before = await post(network, alice, 'Before', to)
    await network.server(alice.at).block(alice.idTag, bob.idTag)
    const { actionId } = await post(network, alice, 'After', to)
    expect((await alice.client.call(listDeliveries, { params: { actionId } })).data).toEqual([])
    expect(await feedOf(bob)).toEqual(['Before'])
    await alice.client.call(deleteAction, { params: { actionId: before.actionId } })
    await network.settle()
    expect(await feedOf(bob)).toEqual([])
  })

  test('nobody learns that one of several receivers blocks the issuer', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    const bert = await network.person(bob.at, `bert-near-${bob.idTag.split('.')[0]}`)
    await network.server(bob.at).block(bob.idTag, alice.idTag)
    await network.server(bob.at).relate(bert.idTag, alice.idTag, { isFollowing: true })
    const audience = [bob.idTag, bert.idTag]
    const { actionId } = await post(network, alice, 'Hello', { visibility: null, audience })
    const { data } = await alice.client.call(listDeliveries, { params: { actionId } })
    expect(data).toMatchObject([{ state: 'delivered' }])
    expect([await feedOf(bob), await feedOf(bert)]).toEqual([[], ['Hello']])
  })

  test('who begins to follow gets what was published in the last 30 days, as far as it may be read', async () => {
    const { alice: before } = await network.cast('alice')
    await post(network, before, 'Long ago')
    await network.pass(monthMs, monthMs)
    const alice = { ...before, client: await network.server(0).as(before.idTag) }
    const { bob } = await network.cast('anna', 'bob')
    await post(network, alice, 'Yesterday')
    await post(network, alice, 'For followers', { visibility: 'F' })
    await post(network, alice, 'For connections', { visibility: 'C' })
    await post(network, alice, 'For somebody', { visibility: null, audienceTag: before.idTag })
    const { actionId } = await post(network, alice, 'Regretted')
    await alice.client.call(deleteAction, { params: { actionId } })

    await follow(network, bob, alice)
    expect(await feedOf(bob)).toEqual(['For followers', 'Yesterday'])
  })

  test('a new connection sees what was for connections, on both sides', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    for (const person of [alice, bob]) await post(network, person, `By ${person.idTag}`, { visibility: 'C' })
    const { data } = await bob.client.call(createAction, { body: { type: 'CONN', audienceTag: alice.idTag } })
    await network.settle()
    expect([await feedOf(alice), await feedOf(bob)]).toEqual([[`By ${alice.idTag}`], [`By ${bob.idTag}`]])
    await alice.client.call(acceptAction, { params: { actionId: data.actionId as never } })
    await network.settle()
    const both = [`By ${alice.idTag}`, `By ${bob.idTag}`]
    for (const person of [alice, bob]) expect((await feedOf(person)).toSorted()).toEqual(both)
  })

  test('who follows before their key can be had gets the history once it can', async () => {
    const { alice, bob } = await network.cast('alice', 'bob')
    await post(network, alice, 'For followers', { visibility: 'F' })
    await network.hide(bob.idTag)
    await follow(network, bob, alice)
    await network.pass(3 * minuteMs)
    expect(await feedOf(bob)).toEqual([])
    network.announce(bob.at, bob.idTag)
    await network.pass(60 * minuteMs, 5 * minuteMs)
    expect(await feedOf(bob)).toEqual(['For followers'])
  })

  test('the history of an identity elsewhere is asked for after the receipt of a follow or a request, and after an answer', async () => {
    const { alice } = await network.cast('alice')
    const idTag = `dora.of-${alice.idTag.split('.')[0]}.localhost` as IdTag
    const home = await network.addForeign(idTag)
    const asked = () => home.requests.filter(({ url }) => url.startsWith('/api/outbox?since=')).length
    const say = async (type: 'FLLW' | 'CONN', subType?: string) => {
      const body = { type, audienceTag: idTag, ...(subType ? { subType } : {}) }
      const { data } = await alice.client.call(createAction, { body })
      await network.settle()
      return data.actionId
    }
    await say('FLLW')
    expect(asked()).toBe(1)
    const subject = await say('CONN')
    expect(asked()).toBe(2)
    await network
      .server(alice.at)
      .deliver(home.sign(idTag, { type: 'CONN', audienceTag: alice.idTag, subject }))
    await network.settle()
    expect(asked()).toBe(3)
    await say('FLLW', 'DEL')
    expect(asked()).toBe(3)
  })

  test('there is history between tenants of one server too', async () => {
    const { alice } = await network.cast('alice')
    const anna = await network.person(alice.at, `anna-with-${alice.idTag.split('.')[0]}`)
    await post(network, alice, 'Before')
    await follow(network, anna, alice)
    expect(await feedOf(anna)).toEqual(['Before'])
  })
})
