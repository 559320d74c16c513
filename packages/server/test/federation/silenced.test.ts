import type { Client } from '@kith/client'
import {
  blockDomain,
  changeFile,
  createAction,
  deleteAction,
  downloadFile,
  getAction,
  type IdTag,
  listActions,
  publishAction,
  unblockDomain,
  updateAdminProfile,
  updateRelationship,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { connect, follow, post } from './acts.ts'

let network: TestNetwork
beforeAll(async () => {
  network = await TestNetwork.start(2)
})
afterAll(() => network[Symbol.asyncDispose]())

const admin = () => network.server(0).as('one.localhost')
const setStatus = async ({ idTag }: Person, status: 'Suspended' | 'Banned' | 'Blocked' | 'Active') =>
  void (await (await admin()).call(updateAdminProfile, { params: { idTag }, body: { status } }))

/** What the administrators of the first server may decide, and its end. */
const decisions: [string, (of: Person) => Promise<void>, (of: Person) => Promise<void>][] = [
  ...(['Suspended', 'Banned', 'Blocked'] as const).map((status): (typeof decisions)[number] => [
    status,
    (of) => setStatus(of, status),
    (of) => setStatus(of, 'Active'),
  ]),
  [
    'in a blocked domain',
    async ({ idTag }) => void (await (await admin()).call(blockDomain, { body: { domain: idTag } })),
    async ({ idTag }) => void (await (await admin()).call(unblockDomain, { params: { domain: idTag } })),
  ],
]

let casts = 0

/** Bob of the second server, whom Alice and Anna of the first follow; a community of the first, to which he belongs; and
 * Mia of the second, who follows him and whom Alice follows. */
async function start() {
  casts += 1
  const { alice, bob } = await network.cast('alice', 'bob')
  const anna = await network.person(0, `anna${casts}`)
  const mia = await network.person(1, `mia${casts}`)
  const club = `club${casts}.localhost` as IdTag
  await network.server(0).createTenant(club, { type: 'community' })
  network.announce(0, club)
  for (const idTag of [bob.idTag, anna.idTag])
    await network.server(0).relate(club, idTag, { role: 'contributor', connection: 'connected' })
  for (const follower of [alice, anna, mia]) await follow(network, follower, bob)
  await follow(network, alice, mia)
  await connect(network, alice, bob)
  return { alice, bob, anna, mia, club }
}

const say = async ({ client }: Person, body: object) => {
  const { data } = await client.call(createAction, { body: body as never })
  await network.settle()
  return data.actionId as never
}

const guestOf = (idTag: IdTag) => network.server(0).client(idTag)

/** Which of these actions somebody reads on a host: singly, in its list, by the list's filters and by a search. */
async function readBy(
  client: Client,
  ids: readonly string[],
  word: string,
): Promise<Record<string, string[]>> {
  const singly: string[] = []
  for (const actionId of ids) {
    const asked = client.call(getAction, { params: { actionId: actionId as never } })
    if (
      await asked.then(
        () => true,
        () => false,
      )
    )
      singly.push(actionId)
  }
  const listed = async (query: object) =>
    (await client.call(listActions, { query: { limit: 50, ...query } })).data
      .map(({ actionId }) => actionId as string)
      .filter((actionId) => ids.includes(actionId))
      .sort()
  return {
    singly: singly.sort(),
    listed: await listed({}),
    byType: await listed({ type: ['POST', 'CMNT'] }),
    byTag: await listed({ tag: word }),
    found: await listed({ search: word }),
  }
}

const everywhere = (ids: readonly string[]) => {
  const all = [...ids].sort()
  return { singly: all, listed: all, byType: all, byTag: all, found: all }
}

describe.each(decisions)('what somebody elsewhere said who is %s', (_, decide, end) => {
  test('is read by the tenants that hold it, and nobody else, until that ends', async () => {
    const { alice, bob, anna, club } = await start()
    await follow(network, anna, alice)
    const word = `kittens${casts}`
    const text = `Old #${word}`
    const upload = { params: { preset: 'raw', fileName: 'note.txt' }, body: new Blob(['hello']) } as const
    const { fileId } = (await bob.client.upload(uploadFile, upload)).data
    const { actionId: postId } = await post(network, bob, text, { attachments: [fileId] })
    const ownId = await say(alice, { type: 'POST', content: { text: `Mine #${word}` }, visibility: 'P' })
    const commentId = await say(bob, { type: 'CMNT', parentId: ownId, content: { text } })
    const answerId = await say(alice, { type: 'CMNT', parentId: postId, content: { text } })
    const given = { audienceTag: alice.idTag }
    const { actionId: addressedId } = await post(network, bob, text, given)
    const { actionId: groupId } = await post(network, bob, text, { audienceTag: club })
    const repostId = await say(alice, { type: 'REPOST', subject: postId, visibility: 'P' })
    const { actionId: followersId } = await post(network, bob, text, { visibility: 'F' })
    const messageId = await say(bob, { type: 'MSG', audienceTag: alice.idTag, content: { text } })
    const held = [followersId, messageId]
    // What is said about his words may repeat them.
    const quoteId = await say(anna, {
      type: 'CMNT',
      parentId: commentId,
      content: { text: `${text} indeed` },
    })
    const his = [postId, commentId, answerId, addressedId, quoteId] as string[]
    const file = { params: { fileId } }
    const reposted = { params: { actionId: repostId } }

    const guest = guestOf(alice.idTag)
    expect(await readBy(guest, his, word)).toEqual(everywhere(his))
    await expect(guest.call(downloadFile, file)).resolves.toBeDefined()
    expect(await readBy(guestOf(club), [groupId], word)).toEqual(everywhere([groupId]))

    await expect(guest.call(getAction, reposted)).resolves.toBeDefined()

    await decide(bob)
    await expect(guest.call(getAction, reposted)).rejects.toMatchObject({ status: 404 })
    expect(await readBy(guest, [...his, ownId], word)).toEqual(everywhere([ownId]))
    await expect(guest.call(downloadFile, file)).rejects.toMatchObject({ status: 404 })
    expect(await readBy(guestOf(club), [groupId], word)).toEqual(everywhere([]))
    // Who is suspended or banned is muted too, and left out of the tenant's own lists.
    expect((await readBy(alice.client, his, word)).singly).toEqual([...his].sort())
    expect((await readBy(alice.client, held, word)).singly).toEqual([...held].sort())

    await end(bob)
    expect(await readBy(guest, his, word)).toEqual(everywhere(his))
    await expect(guest.call(downloadFile, file)).resolves.toBeDefined()
    expect(await readBy(guestOf(club), [groupId], word)).toEqual(everywhere([groupId]))
  })

  test('is passed on by nobody, from here or elsewhere, now or later', async () => {
    const { alice, bob, anna, mia } = await start()
    const { actionId: postId } = await post(network, bob, 'Old')
    const repost = { type: 'REPOST', subject: postId, visibility: 'P' } as const
    const { data: draft } = await anna.client.call(createAction, {
      body: { ...repost, draft: true } as never,
    })
    await decide(bob)
    const refused = expect.objectContaining({ status: 403, code: 'E-AUTH-FORBIDDEN' })
    await expect(alice.client.call(createAction, { body: repost })).rejects.toEqual(refused)
    const shared = { type: 'SHRE', subject: postId, visibility: 'P' } as const
    await expect(alice.client.call(createAction, { body: shared })).rejects.toEqual(refused)
    const publishing = anna.client.call(publishAction, { params: { actionId: draft.actionId } } as never)
    await expect(publishing).rejects.toEqual(refused)
    for (const hers of [await say(mia, repost), await say(mia, shared)])
      await expect(alice.client.call(getAction, { params: { actionId: hers } })).rejects.toMatchObject({
        status: 404,
      })
    await end(bob)
    await say(alice, repost)
    expect((await guestOf(alice.idTag).call(getAction, { params: { actionId: postId } })).data.actionId).toBe(
      postId,
    )
  })
})

describe('what is public', () => {
  test('stays public where a person blocks its issuer', async () => {
    const { alice, bob } = await start()
    const { actionId: postId } = await post(network, bob, 'Old')
    await say(alice, { type: 'REPOST', subject: postId, visibility: 'P' })
    const block = { params: { idTag: bob.idTag }, body: { relationship: 'block' } } as const
    await alice.client.call(updateRelationship, block)
    expect((await guestOf(alice.idTag).call(getAction, { params: { actionId: postId } })).data.actionId).toBe(
      postId,
    )
  })

  test('of a tenant here whom the administrators block is read by that tenant alone', async () => {
    const { anna } = await start()
    const upload = { params: { preset: 'raw', fileName: 'note.txt' }, body: new Blob(['hello']) } as const
    const { fileId } = (await anna.client.upload(uploadFile, upload)).data
    await anna.client.call(changeFile, { params: { fileId }, body: { visibility: 'P' } })
    const { actionId } = await post(network, anna, 'Mine')
    const read = (client: Client) => client.call(getAction, { params: { actionId } })
    const load = (client: Client) => client.call(downloadFile, { params: { fileId } })
    await expect(read(guestOf(anna.idTag))).resolves.toBeDefined()
    await expect(load(guestOf(anna.idTag))).resolves.toBeDefined()
    await setStatus(anna, 'Blocked')
    for (const asked of [read(guestOf(anna.idTag)), load(guestOf(anna.idTag))])
      await expect(asked).rejects.toMatchObject({ status: 404 })
    await expect(read(anna.client)).resolves.toBeDefined()
    await expect(load(anna.client)).resolves.toBeDefined()
    await setStatus(anna, 'Active')
    await expect(read(guestOf(anna.idTag))).resolves.toBeDefined()
  })
})

describe('a tenant here whom the administrators silence', () => {
  test.each(decisions.filter(([name]) => /Blocked|domain/.test(name)))(
    '%s publishes nothing',
    async (_, decide, end) => {
      const { anna } = await start()
      await decide(anna)
      const body = { type: 'POST', content: { text: 'Now' }, visibility: 'P' } as const
      await expect(anna.client.call(createAction, { body })).rejects.toMatchObject({ status: 403 })
      await end(anna)
      await expect(anna.client.call(createAction, { body })).resolves.toBeDefined()
    },
  )

  test('is not delivered until that ends, not even what waited', async () => {
    const { alice, anna, mia } = await start()
    await follow(network, mia, anna)
    await follow(network, mia, alice)
    const ofMia = (actionId: string) =>
      mia.client.call(getAction, { params: { actionId: actionId as never } })
    await network.takeDown(1)
    const { actionId: lateId } = await post(network, anna, 'Late')
    const { actionId: otherId } = await post(network, alice, 'Other')
    await setStatus(anna, 'Blocked')
    await network.bringBack(1)
    await network.pass(3_600_000, 900_000)
    await expect(ofMia(otherId)).resolves.toBeDefined()
    await expect(ofMia(lateId)).rejects.toMatchObject({ status: 404 })
    await setStatus(anna, 'Active')
    await network.pass(4 * 3_600_000, 3_600_000)
    await expect(ofMia(lateId)).resolves.toBeDefined()
  })

  test('may still delete, everywhere', async () => {
    const { anna, mia } = await start()
    await follow(network, mia, anna)
    const { actionId } = await post(network, anna, 'Gone')
    const read = () => mia.client.call(getAction, { params: { actionId } })
    await expect(read()).resolves.toBeDefined()
    await setStatus(anna, 'Blocked')
    await anna.client.call(deleteAction, { params: { actionId } })
    await network.settle()
    await expect(read()).rejects.toMatchObject({ status: 404 })
  })
})
