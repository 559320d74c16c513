import { readFile } from 'node:fs/promises'
import type { Client } from '@kith/client'
import {
  acceptAction,
  createAction,
  createCommunity,
  createJoinLink,
  deleteAction,
  getAccessToken,
  getAction,
  getFileDescriptor,
  getProfile,
  getProxyToken,
  type IdTag,
  listActions,
  listDeliveries,
  listProfiles,
  maxActionTokenLength,
  publishAction,
  putSetting,
  type RefId,
  redeemJoinLink,
  setReaction,
  updateAction,
  updateAdminProfile,
  updateRelationship,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { feedOf, post } from './acts.ts'

let network: TestNetwork
let clubs = 0

beforeAll(async () => {
  network = await TestNetwork.start(3)
  const admin = await network.server(0).as('one.localhost')
  await admin.call(putSetting, { params: { name: 'community.creation' }, body: { value: 'open' } })
})
afterAll(() => network[Symbol.asyncDispose]())

/** A community on the first server with its leader, and others who live on the second and the third. */
async function start() {
  clubs += 1
  const { lea, bob, carol } = await network.cast('lea', 'bob', 'carol')
  const club = `club${clubs}.localhost` as IdTag
  await lea.client.call(createCommunity, {
    params: { idTag: club },
    body: { type: 'community', name: 'Club' },
  })
  network.announce(0, club)
  return { lea, bob, carol, club }
}

/** Somebody on the community's host, with what their home says of them. */
async function visit({ client }: Person, community: IdTag): Promise<Client> {
  const { data } = await client.call(getProxyToken, { query: { target: community } })
  return network.server(0).client(community, data.token)
}

async function join(person: Person, club: IdTag, leader: Person): Promise<void> {
  const { data } = await person.client.call(createAction, { body: { type: 'CONN', audienceTag: club } })
  await network.settle()
  const host = await visit(leader, club)
  await host.call(acceptAction, { params: { actionId: data.actionId as never } })
  await network.settle()
}

async function setRole(leader: Person, club: IdTag, member: Person, role: string): Promise<void> {
  const host = await visit(leader, club)
  await host.call(updateAdminProfile, { params: { idTag: member.idTag }, body: { roles: [role] } })
}

async function roleOf(person: Person, club: IdTag, leader: Person): Promise<string | undefined> {
  const host = await visit(leader, club)
  return (await host.call(getProfile, { params: { idTag: person.idTag } })).data.role
}

const inGroup = (club: IdTag, visibility: 'P' | 'F' | 'C' = 'F') => ({ audienceTag: club, visibility })

describe('a community', () => {
  test('is joined by a request that one of its moderators accepts', async () => {
    const { lea, bob, club } = await start()
    const { data } = await bob.client.call(createAction, { body: { type: 'CONN', audienceTag: club } })
    await network.settle()
    const host = await visit(lea, club)
    const waiting = await host.call(listActions, { query: { status: ['C'] } })
    expect(waiting.data).toMatchObject([{ actionId: data.actionId, issuerTag: bob.idTag }])

    await host.call(acceptAction, { params: { actionId: data.actionId as never } })
    await network.settle()
    expect(await roleOf(bob, club, lea)).toBe('contributor')
    const { data: atHome } = await bob.client.call(getProfile, { params: { idTag: club } })
    expect(atHome).toMatchObject({ type: 'community', connected: 'connected' })
    const members = await (await visit(bob, club)).call(listProfiles, { query: { community: club } })
    expect(members.data.map(({ idTag, role }) => [idTag, role])).toEqual([
      [bob.idTag, 'contributor'],
      [lea.idTag, 'leader'],
    ])
  })

  test('is joined without asking by whom a moderator invited', async () => {
    const { lea, bob, carol, club } = await start()
    await join(bob, club, lea)
    await setRole(lea, club, bob, 'moderator')
    await bob.client.call(createAction, { body: { type: 'INVT', audienceTag: carol.idTag, subject: club } })
    await network.settle()
    const { data } = await carol.client.call(listActions, { query: { type: ['INVT'], status: ['C'] } })
    expect(data).toMatchObject([{ issuerTag: bob.idTag, subject: club }])
    await carol.client.call(acceptAction, { params: { actionId: data[0]?.actionId as never } })
    await network.settle()
    expect(await roleOf(carol, club, lea)).toBe('contributor')
    const { data: atHome } = await carol.client.call(getProfile, { params: { idTag: club } })
    expect(atHome).toMatchObject({ connected: 'connected' })
  })

  test('is joined without asking by whoever redeemed a link, and by nobody else', async () => {
    const { lea, bob, carol, club } = await start()
    const { data } = await lea.client.at(club).call(createJoinLink, { body: { count: 1 } })
    await bob.client.at(club).call(redeemJoinLink, { body: { code: data.code as RefId } })
    const body = { type: 'CONN', audienceTag: club } as const
    for (const { client } of [bob, carol]) await client.call(createAction, { body })
    await network.settle()
    expect(await roleOf(bob, club, lea)).toBe('contributor')
    expect(await roleOf(carol, club, lea)).not.toBe('contributor')
    const { data: atHome } = await bob.client.call(getProfile, { params: { idTag: club } })
    expect(atHome).toMatchObject({ type: 'community', connected: 'connected' })
  })

  test('takes in the guest also when the invitation reaches it last', async () => {
    const { lea, bob, carol, club } = await start()
    await join(bob, club, lea)
    await setRole(lea, club, bob, 'moderator')
    await network.takeDown(0)
    await bob.client.call(createAction, { body: { type: 'INVT', audienceTag: carol.idTag, subject: club } })
    await network.settle()
    const { data } = await carol.client.call(listActions, { query: { type: ['INVT'], status: ['C'] } })
    await carol.client.call(acceptAction, { params: { actionId: data[0]?.actionId as never } })
    await network.settle()
    await network.bringBack(0)
    await network.pass(3_600_000, 600_000)
    const leader = { ...lea, client: await network.server(0).as(lea.idTag) }
    expect(await roleOf(carol, club, leader)).toBe('contributor')
  })

  test('passes on to its members what one of them posts there, and what is said about it', async () => {
    const { lea, bob, carol, club } = await start()
    for (const person of [bob, carol]) await join(person, club, lea)
    const { actionId } = await post(network, bob, 'Who waters the beds?', inGroup(club))
    for (const person of [lea, bob, carol]) expect(await feedOf(person)).toEqual(['Who waters the beds?'])

    const comment = { type: 'CMNT' as const, parentId: actionId, content: { text: 'I do' } }
    await carol.client.call(createAction, { body: comment })
    await network.settle()
    for (const person of [lea, bob, carol]) {
      const { data } = await person.client.call(listActions, { query: { parentId: actionId } })
      expect(data).toMatchObject([{ issuerTag: carol.idTag, content: { text: 'I do' } }])
    }
    await network.pass(20_000, 10_000)
    const { data: seen } = await lea.client.call(getAction, { params: { actionId } })
    expect(seen.stat?.comments).toBe(1)
  })

  test('passes on to a member who was away what was posted meanwhile, with its counts', async () => {
    const { lea, bob, carol, club } = await start()
    for (const person of [bob, carol]) await join(person, club, lea)
    await network.takeDown(carol.at)
    const { actionId } = await post(network, bob, 'Who waters the beds?', inGroup(club))
    await bob.client.call(setReaction, { params: { actionId }, body: { type: 'LIKE' } })
    await network.pass(25 * 3_600_000, 3_600_000)

    await network.bringBack(carol.at)
    await network.pass(13 * 3_600_000, 3_600_000)
    const atHome = await network.server(carol.at).as(carol.idTag)
    const { data } = await atHome.call(getAction, { params: { actionId } })
    expect(data).toMatchObject({ issuerTag: bob.idTag, stat: { reactions: 1 } })
  })

  test('passes on also the longest post that an inbox takes, and what is longer is refused at once', async () => {
    const { lea, bob, carol, club } = await start()
    for (const person of [bob, carol]) await join(person, club, lea)
    const longest = '漢'.repeat(50_000)
    const { actionId } = await post(network, bob, longest, inGroup(club))
    const token = await network.server(bob.at).tokenOf(bob.idTag, actionId)
    expect(token.length).toBeGreaterThan(0.75 * maxActionTokenLength)
    for (const person of [lea, carol]) expect(await feedOf(person)).toEqual([longest])

    const content = { text: longest, more: 'x'.repeat(50_000) }
    const body = { type: 'POST' as const, content, ...inGroup(club) }
    const publishAt = Math.floor(network.clock.now() / 1000) + 60
    for (const how of [{}, { draft: true }, { publishAt }])
      await expect(bob.client.call(createAction, { body: { ...body, ...how } })).rejects.toMatchObject({
        status: 413,
        code: 'E-TOOLARGE',
      })
    const { data } = await bob.client.call(createAction, {
      body: { ...body, content: { text: 'Short' }, draft: true },
    })
    const params = { actionId: data.actionId as never }
    await expect(bob.client.call(updateAction, { params, body: { content } })).rejects.toMatchObject({
      status: 413,
    })
  })

  test('shows its posts to members alone, each as far as the role goes', async () => {
    const { lea, bob, carol, club } = await start()
    await join(bob, club, lea)
    await carol.client.call(createAction, { body: { type: 'FLLW', audienceTag: club } })
    await network.settle()
    const forMembers = await post(network, bob, 'For members', inGroup(club))
    const forContributors = await post(network, bob, 'For contributors', inGroup(club, 'C'))
    expect(await feedOf(carol)).toEqual(['For members'])
    expect(await feedOf(lea)).toEqual(['For contributors', 'For members'])

    const visiting = await visit(carol, club)
    const params = (actionId: never) => ({ params: { actionId } })
    await expect(visiting.call(getAction, params(forMembers.actionId))).resolves.toBeDefined()
    const missing = { status: 404, code: 'E-ACTION-NOTFOUND' }
    await expect(visiting.call(getAction, params(forContributors.actionId))).rejects.toMatchObject(missing)
    const guest = network.server(0).client(club)
    await expect(guest.call(getAction, params(forMembers.actionId))).rejects.toMatchObject(missing)
  })

  test('passes on pictures, which members fetch from the community', async () => {
    const { lea, bob, carol, club } = await start()
    for (const person of [bob, carol]) await join(person, club, lea)
    const fileId = await uploadPhoto(bob)
    await post(network, bob, 'Look', { ...inGroup(club), attachments: [fileId] })
    // The community may have it a little later than the word of it arrives.
    await network.pass(60_000, 15_000)
    const { data } = await carol.client.call(getFileDescriptor, { params: { fileId: fileId as never } })
    expect(data.variants.map(({ id }) => id)).toContain('tn')
    const stranger = network.server(0).client(club)
    await expect(
      stranger.call(getFileDescriptor, { params: { fileId: fileId as never } }),
    ).rejects.toMatchObject({ status: 404 })
  })

  test('says to its members what one of them says in its name', async () => {
    const { lea, bob, carol, club } = await start()
    for (const person of [bob, carol]) await join(person, club, lea)
    const host = await visit(bob, club)
    const body = { type: 'POST' as const, content: { text: 'We meet at noon' }, visibility: 'F' as const }
    const { data } = await host.call(createAction, { body })
    expect(data).toMatchObject({ issuerTag: club, x: { author: bob.idTag } })
    await network.settle()
    for (const person of [lea, bob, carol]) expect(await feedOf(person)).toEqual(['We meet at noon'])
    const claims = async (person: Person) => {
      const proxy = await person.client.call(getProxyToken, { query: { target: club } })
      const stranger = network.server(0).client(club)
      const { data } = await stranger.call(getAccessToken, { query: { token: proxy.data.token } })
      return JSON.parse(Buffer.from(data.token.split('.')[1] ?? '', 'base64url').toString())
    }
    expect(await claims(bob)).toMatchObject({
      iss: club,
      sub: bob.idTag,
      use: 'access',
      roles: ['public', 'follower', 'supporter', 'contributor'],
    })
    expect((await claims(lea)).roles).toEqual([
      'public',
      'follower',
      'supporter',
      'contributor',
      'moderator',
      'leader',
    ])
  })

  test('publishes nothing in its name any more of who was taken out', async () => {
    const { lea, bob, club } = await start()
    await join(bob, club, lea)
    const host = await visit(bob, club)
    const publishAt = Math.floor(network.clock.now() / 1000) + 60
    const body = { type: 'POST' as const, content: { text: 'Later' }, visibility: 'F' as const }
    const scheduled = await host.call(createAction, { body: { ...body, publishAt } })
    const draft = await host.call(createAction, { body: { ...body, draft: true } })
    await setRole(lea, club, bob, 'public')
    await network.settle()
    const params = { actionId: draft.data.actionId as never }
    await expect(host.call(publishAction, { params })).rejects.toMatchObject({ status: 403 })
    await network.pass(70_000, 35_000)
    expect(await feedOf(lea)).toEqual([])
    const missing = host.call(getAction, { params: { actionId: scheduled.data.actionId as never } })
    await expect(missing).rejects.toMatchObject({ status: 404 })
    const { data } = await bob.client.call(getProfile, { params: { idTag: club } })
    expect(data).toMatchObject({ connected: 'disconnected' })
  })

  test('takes posts of contributors alone', async () => {
    const { lea, carol, club } = await start()
    await carol.client.call(createAction, { body: { type: 'FLLW', audienceTag: club } })
    await network.settle()
    await post(network, carol, 'Buy now', inGroup(club, 'P'))
    expect(await feedOf(lea)).toEqual([])
    expect((await (await visit(lea, club)).call(listActions, { query: { type: ['POST'] } })).data).toEqual([])
  })

  test('is cleared by a moderator: here and at the members, not at home of who wrote it', async () => {
    const { lea, bob, carol, club } = await start()
    for (const person of [bob, carol]) await join(person, club, lea)
    await setRole(lea, club, carol, 'moderator')
    const { actionId } = await post(network, bob, 'Buy now', inGroup(club))
    const token = await network.server(bob.at).tokenOf(bob.idTag, actionId)
    const params = { actionId }
    const other = await visit(bob, club)
    await expect(other.call(deleteAction, { params })).rejects.toMatchObject({ status: 403 })
    await (await visit(carol, club)).call(deleteAction, { params })
    await network.settle()
    expect([await feedOf(lea), await feedOf(carol), await feedOf(bob)]).toEqual([[], [], ['Buy now']])
    await expect((await visit(lea, club)).call(getAction, { params })).rejects.toMatchObject({ status: 404 })

    await network.server(0).deliver(token)
    await network.settle()
    expect([await feedOf(lea), await feedOf(carol)]).toEqual([[], []])
  })

  test('takes back from its members what its author deletes', async () => {
    const { lea, bob, carol, club } = await start()
    for (const person of [bob, carol]) await join(person, club, lea)
    const { actionId } = await post(network, bob, 'Regretted', inGroup(club))
    await bob.client.call(deleteAction, { params: { actionId } })
    await network.settle()
    for (const person of [lea, bob, carol]) expect(await feedOf(person)).toEqual([])
  })

  test('hears nothing more from whom it bans, and says nothing more to them, until the ban ends', async () => {
    const { lea, bob, carol, club } = await start()
    for (const person of [bob, carol]) await join(person, club, lea)
    const before = await visit(bob, club)
    const host = await visit(lea, club)
    const banExpiresAt = new Date(network.clock.now() + 3_600_000).toISOString()
    const ban = { status: 'Banned' as const, banReason: 'Spam', banExpiresAt }
    const { data } = await host.call(updateAdminProfile, { params: { idTag: bob.idTag }, body: ban })
    expect(data).toEqual({
      idTag: bob.idTag,
      name: bob.idTag,
      status: 'Banned',
      roles: ['public', 'follower', 'supporter', 'contributor'],
      banExpiresAt,
      banReason: 'Spam',
    })

    const said = await post(network, bob, 'Buy now', inGroup(club))
    const deliveries = await bob.client.call(listDeliveries, { params: { actionId: said.actionId } })
    expect(deliveries.data).toMatchObject([{ state: 'stopped', lastError: 'HTTP 403' }])
    await post(network, carol, 'Calm', inGroup(club))
    expect([await feedOf(lea), await feedOf(bob)]).toEqual([['Calm'], ['Buy now']])
    expect((await before.call(listActions, { query: { type: ['POST'] } })).data).toEqual([])
    await expect(
      before.call(createAction, { body: { type: 'POST', content: { text: 'x' } } }),
    ).rejects.toMatchObject({ status: 403 })

    await network.pass(3_601_000, 1_200_000)
    await post(network, await at(bob), 'Sorry', inGroup(club))
    expect(await feedOf(await at(lea))).toEqual(['Sorry', 'Calm'])
  })

  test('keeps its last leader, who may leave once there is another', async () => {
    const { lea, bob, club } = await start()
    await join(bob, club, lea)
    const leave = { params: { idTag: club }, body: { relationship: 'disconnect' as const } }
    await expect(lea.client.call(updateRelationship, leave)).rejects.toMatchObject({
      status: 409,
      code: 'E-STATE',
    })
    await setRole(lea, club, bob, 'leader')
    await lea.client.call(updateRelationship, leave)
    await network.settle()
    expect(await roleOf(lea, club, bob)).toBeUndefined()
    await bob.client.call(updateRelationship, leave)
    await network.pass(1000)
    // Bob's server could not know; the community has not let go.
    expect(await roleOf(bob, club, bob)).toBe('leader')
    await bob.client.call(updateRelationship, { ...leave, body: { relationship: 'connect' } })
    await network.pass(1000)
    const { data } = await bob.client.call(getProfile, { params: { idTag: club } })
    expect(data).toMatchObject({ connected: 'connected' })
  })

  test('shows new members what was posted before', async () => {
    const { lea, bob, carol, club } = await start()
    await join(bob, club, lea)
    await post(network, bob, 'For members', inGroup(club))
    await post(network, bob, 'For contributors', inGroup(club, 'C'))
    await join(carol, club, lea)
    expect(await feedOf(carol)).toEqual(['For contributors', 'For members'])
  })
})

async function uploadPhoto({ client }: Person): Promise<string> {
  const { data } = await client.upload(uploadFile, {
    params: { preset: 'default', fileName: 'photo.jpg' },
    body: await readFile(new URL('../fixtures/images/photo.jpg', import.meta.url)),
  })
  return data.fileId
}

/** The same person with a session that time has not ended. */
async function at(person: Person): Promise<Person> {
  return { ...person, client: await network.server(person.at).as(person.idTag) }
}
