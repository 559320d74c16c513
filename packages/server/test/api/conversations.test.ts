import {
  createAction,
  createApiKey,
  getAccessToken,
  getProxyToken,
  type IdTag,
  listConversations,
  listMessages,
  markConversationRead,
} from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

const alice = 'alice.localhost' as IdTag
const bob = 'bob.localhost' as IdTag
const club = 'club.localhost' as IdTag

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
  await server.createTenant(alice)
  await server.createTenant(bob)
  await server.createTenant(club, { type: 'community' })
  await server.relate(club, bob, { role: 'moderator', connection: 'connected' })
  await server.relate(club, alice, { role: 'contributor', connection: 'connected' })
  await server.relate(bob, alice, { isFollowing: true })
})
afterAll(() => server.stop())

const visit = async (by: IdTag, host: IdTag) => {
  const { data: proxy } = await (await server.as(by)).call(getProxyToken, { query: { target: host } })
  const { data } = await server.client(host).call(getAccessToken, { query: { token: proxy.token } })
  return server.client(host, data.token)
}
const say = async (to: IdTag, text: string) => {
  const owner = await server.as(alice)
  const body = { type: 'MSG', audienceTag: to, content: { text } } as const
  const { data } = await owner.call(createAction, { body })
  await server.settle()
  return data.actionId
}
const texts = async (client: Awaited<ReturnType<typeof visit>>) =>
  (await client.call(listConversations, {})).data.map(({ lastMessage }) => lastMessage?.content?.text)

test('the owner sees conversations, and neither guests nor visitors do', async () => {
  const upTo = await say(bob, 'Hello Bob')
  const owner = await server.as(bob)
  const { conversationId = '' } = (await owner.call(listConversations, {})).data[0] ?? {}
  const mark = { params: { conversationId }, body: { upTo } }
  for (const [client, status] of [
    [server.client(bob), 401],
    [await visit(alice, bob), 403],
  ] as const) {
    await expect(client.call(listConversations, {})).rejects.toMatchObject({ status })
    await expect(client.call(markConversationRead, mark)).rejects.toMatchObject({ status })
    await expect(client.call(listMessages, { params: { conversationId } })).rejects.toMatchObject({ status })
  }
  expect(await texts(owner)).toEqual(['Hello Bob'])
  const { data, cursorPagination } = await owner.call(listMessages, { params: { conversationId } })
  expect(data.map(({ content }) => content?.text)).toEqual(['Hello Bob'])
  expect(cursorPagination).toEqual({ nextCursor: null, hasMore: false })
  // The other side has the same conversation, and its own messages in it; nobody else finds it.
  const sender = await server.as(alice)
  expect((await sender.call(listMessages, { params: { conversationId } })).data).toMatchObject([
    { actionId: upTo },
  ])
  await expect(
    (await visit(bob, club)).call(listMessages, { params: { conversationId } }),
  ).rejects.toMatchObject({ status: 404, code: 'E-NOTFOUND' })
})

test('a key reads them with read:actions, and marks them with write:actions', async () => {
  const upTo = await say(bob, 'Hello again')
  const owner = await server.as(bob)
  const { conversationId = '' } = (await owner.call(listConversations, {})).data[0] ?? {}
  const keyFor = async (scope: string) => {
    const { data } = await owner.call(createApiKey, { body: { name: 'a program', scope } })
    return server.client(bob, data.key)
  }
  const mark = { params: { conversationId }, body: { upTo } }
  const reader = await keyFor('read:actions')
  expect(await texts(reader)).toEqual(['Hello again'])
  const messages = await reader.call(listMessages, {
    params: { conversationId },
    query: { from: upTo, limit: 1, sortDir: 'asc' },
  })
  expect(messages.data.map(({ actionId }) => actionId)).toEqual([upTo])
  await expect(reader.call(markConversationRead, mark)).rejects.toMatchObject({ status: 403 })
  await expect((await keyFor('read:files')).call(listConversations, {})).rejects.toMatchObject({
    status: 403,
  })
  expect((await (await keyFor('write:actions')).call(markConversationRead, mark)).data.unread).toBe(0)
})

test('moderators see those of their community, and other members do not', async () => {
  await say(club, 'Hello club')
  expect(await texts(await visit(bob, club))).toEqual(['Hello club'])
  await expect((await visit(alice, club)).call(listConversations, {})).rejects.toMatchObject({ status: 403 })
})
