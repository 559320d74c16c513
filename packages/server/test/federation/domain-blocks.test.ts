import type { Client } from '@kith/client'
import {
  blockDomain,
  createAction,
  getAuditLog,
  getProxyToken,
  type IdTag,
  listDeliveries,
  listDomainBlocks,
  unblockDomain,
  updateAdminProfile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ForeignServer } from '#harness/foreign-server.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import type { TestServer } from '#harness/test-server.ts'
import { feedOf, post } from './acts.ts'

const dora = 'dora.spam.localhost'
const friends = [dora, 'erin.unknown.localhost']
const written = ['actions', 'jobs', 'identities'] as const

describe('a blocked domain', () => {
  let network: TestNetwork
  let server: TestServer
  let foreign: ForeignServer
  let admin: Client
  let bob: Person

  beforeAll(async () => {
    network = await TestNetwork.start(1)
    server = network.server(0)
    foreign = await network.addForeign(dora, 'erin.unknown.localhost')
    admin = await server.as(server.baseIdTag)
    ;({ bob } = await network.cast('bob'))
    for (const friend of friends) await server.relate(bob.idTag, friend, { isFollowing: true })
  })
  afterAll(() => network[Symbol.asyncDispose]())

  const letter = (issuer = dora) =>
    foreign.sign(issuer, { audienceTag: bob.idTag, visibility: 'P', content: { text: 'Buy' } })
  const block = async (domain: string, reason?: string) =>
    (await admin.call(blockDomain, { body: { domain, ...(reason ? { reason } : {}) } })).data
  const unblock = (domain: string) => admin.call(unblockDomain, { params: { domain } })

  test('is refused at the inbox before anything is fetched, and nothing is kept', async () => {
    await block('spam.localhost')
    await network.settle()
    const [asked, before] = [foreign.questions, await server.countRows(...written)]
    for (const path of ['/api/inbox', '/api/inbox/sync'] as const)
      expect((await server.deliver(letter(), path)).status).toBe(403)
    expect(foreign.questions).toBe(asked)
    expect(await server.countRows(...written)).toEqual(before)

    await unblock('spam.localhost')
    expect((await server.deliver(letter())).status).toBe(200)
    expect(await feedOf(bob)).toEqual(['Buy'])
  })

  test('gets no deliveries, and nobody in it can be found', async () => {
    await server.deliver(letter())
    const body = { type: 'POST', content: { text: 'Hello' }, visibility: null, audienceTag: dora } as const
    await block(dora)
    await expect(bob.client.call(createAction, { body })).rejects.toMatchObject({ status: 404 })
    await unblock(dora)
    network.clock.advance(10_000)
    foreign.fault = 503
    const { actionId } = await post(network, bob, 'Hello', { visibility: null, audienceTag: dora as never })
    foreign.fault = undefined
    await block('spam.localhost')
    await network.pass(60_000)
    const { data } = await bob.client.call(listDeliveries, { params: { actionId } })
    expect(data).toMatchObject([{ state: 'stopped', lastError: 'the recipients are blocked' }])
    expect(foreign.deliveries.filter((payload) => payload.actionId === actionId)).toHaveLength(1)
    await unblock('spam.localhost')
  })

  test('is one by name: not one that only ends alike', async () => {
    await block('pam.localhost')
    expect((await server.deliver(letter())).status).toBe(200)
    await unblock('pam.localhost')
  })

  test('is listed by name, page by page, and written into the audit trail', async () => {
    for (const domain of ['c.example', 'A.example', 'b.example']) await block(domain, `about ${domain}`)
    const first = await admin.call(listDomainBlocks, { query: { limit: 2 } })
    expect(first.data.map(({ domain }) => domain)).toEqual(['a.example', 'b.example'])
    const cursor = first.cursorPagination?.nextCursor ?? ''
    const rest = await admin.call(listDomainBlocks, { query: { limit: 2, cursor } })
    expect(rest.data).toEqual([
      {
        domain: 'c.example',
        reason: 'about c.example',
        createdBy: server.baseIdTag,
        createdAt: expect.stringMatching(/Z$/),
      },
    ])
    expect(rest.cursorPagination).toEqual({ nextCursor: null, hasMore: false })
    network.clock.advance(1000)
    await block('c.example', 'another reason')
    const { data: log } = await admin.call(getAuditLog)
    const details = { domain: 'c.example', reason: 'another reason' }
    expect(log[0]).toMatchObject({ event: 'domain.blocked', details })
    expect(await block('c.example')).toMatchObject({ reason: 'another reason' })
    for (const domain of ['a.example', 'b.example', 'c.example']) await unblock(domain)
    expect((await admin.call(listDomainBlocks)).data).toEqual([])
  })

  test('may not be the one the server lives in, and one that is not there cannot go', async () => {
    for (const domain of [server.baseIdTag, 'localhost.'])
      await expect(block(domain)).rejects.toMatchObject({ status: 400, code: 'E-VALIDATION' })
    await expect(unblock('nobody.example')).rejects.toMatchObject({ status: 404, code: 'E-NOTFOUND' })
    await expect(admin.call(listDomainBlocks, { query: { cursor: 'nonsense' } })).rejects.toMatchObject({
      status: 400,
    })
  })

  test('is not that of an administrator, but for the owner of the server, nor one’s own', async () => {
    const [ann, ben] = ['ann.west.localhost', 'ben.east.localhost'] as IdTag[]
    for (const idTag of [ann, ben] as IdTag[]) {
      await server.createTenant(idTag)
      await admin.call(updateAdminProfile, { params: { idTag }, body: { roles: ['user', 'SADM'] } })
    }
    const query = { target: server.baseIdTag as IdTag }
    const { data } = await (await server.as(ann as string)).call(getProxyToken, { query })
    const visitor = server.client(server.baseIdTag, data.token)
    const blocking = (domain: string) => visitor.call(blockDomain, { body: { domain } })
    await expect(blocking('east.localhost')).rejects.toMatchObject({ status: 403, code: 'E-AUTH-FORBIDDEN' })
    await expect(blocking('west.localhost')).rejects.toMatchObject({ status: 400, code: 'E-VALIDATION' })
    expect((await blocking('north.localhost')).data.createdBy).toBe(ann)
    await block('east.localhost')
    await expect(visitor.call(unblockDomain, { params: { domain: 'east.localhost' } })).rejects.toMatchObject(
      { status: 403 },
    )
    for (const domain of ['north.localhost', 'east.localhost']) await unblock(domain)
  })

  test('is made once, and its reason changed', async () => {
    const post = async (reason: string) =>
      (
        await server.request(server.baseIdTag, '/api/admin/domain-blocks', {
          method: 'POST',
          headers: {
            authorization: `Bearer ${await server.signIn(server.baseIdTag)}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify({ domain: 'once.example', reason }),
        })
      ).status
    expect([await post('Noise'), await post('Much noise')]).toEqual([201, 200])
    expect((await admin.call(listDomainBlocks)).data).toMatchObject([{ reason: 'Much noise' }])
    await unblock('once.example')
  })

  test('is the affair of administrators alone', async () => {
    const clients = [
      [bob.client, 403],
      [server.client(server.baseIdTag), 401],
    ] as const
    for (const [client, status] of clients) {
      await expect(client.call(listDomainBlocks)).rejects.toMatchObject({ status })
      await expect(client.call(blockDomain, { body: { domain: 'x.example' } })).rejects.toMatchObject({
        status,
      })
      await expect(client.call(unblockDomain, { params: { domain: 'x.example' } })).rejects.toMatchObject({
        status,
      })
    }
  })
})
