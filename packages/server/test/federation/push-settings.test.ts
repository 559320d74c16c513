import {
  createAction,
  createShare,
  type NewAction,
  putSetting,
  setReaction,
  settingDefinitions,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '#harness/test-network.ts'
import { connect } from './acts.ts'
import { letter, messages, PushTown } from './push-acts.ts'

let town: PushTown
beforeAll(async () => {
  town = await PushTown.start()
})
afterAll(() => town[Symbol.asyncDispose]())

const topics = ['message', 'mention', 'reaction', 'connection', 'follow', 'file_share', 'comment'] as const

interface Scene {
  readonly alice: Person
  readonly bob: Person
  /** A post of Bob's, who is connected with Alice. */
  readonly post: () => Promise<string>
}

const by = ({ client }: Person, body: NewAction) => client.call(createAction, { body })

async function shareFile({ alice, bob }: Scene): Promise<void> {
  const file = { params: { preset: 'raw', fileName: 'tea.txt' }, body: new Blob(['tea']) } as const
  const { data } = await alice.client.upload(uploadFile, file)
  const body = { subjectType: 'U', subjectId: bob.idTag, permission: 'R' } as const
  await alice.client.call(createShare, { params: { fileId: data.fileId }, body })
}

/** What Alice does, the setting that it is asked about by, whether that is on unless set, and the type of what arrives. */
const acts: readonly [
  string,
  (typeof topics)[number],
  boolean,
  string,
  (scene: Scene) => Promise<unknown>,
][] = [
  [
    'a message',
    'message',
    true,
    'MSG',
    async ({ alice, bob, post }) => {
      await post()
      await by(alice, letter(bob, 'Tea?'))
    },
  ],
  [
    'a post that mentions',
    'mention',
    true,
    'POST',
    async ({ alice, bob, post }) => {
      await post()
      await by(alice, { type: 'POST', content: { text: `With @${bob.idTag}` }, visibility: 'P' })
    },
  ],
  [
    'a comment that mentions',
    'mention',
    true,
    'CMNT',
    async ({ alice, bob, post }) =>
      by(alice, { type: 'CMNT', parentId: await post(), content: { text: `I mean @${bob.idTag}` } }),
  ],
  [
    'a reaction',
    'reaction',
    false,
    'REACT',
    async ({ alice, post }) =>
      alice.client.call(setReaction, {
        params: { actionId: (await post()) as never },
        body: { type: 'LOVE' },
      }),
  ],
  [
    'a repost',
    'reaction',
    false,
    'REPOST',
    async ({ alice, post }) =>
      by(alice, { type: 'REPOST', subject: await post(), visibility: 'P' } as NewAction),
  ],
  [
    'a request to connect',
    'connection',
    true,
    'CONN',
    ({ alice, bob }) => by(alice, { type: 'CONN', audienceTag: bob.idTag }),
  ],
  [
    'a follow',
    'follow',
    true,
    'FLLW',
    ({ alice, bob }) => by(alice, { type: 'FLLW', audienceTag: bob.idTag }),
  ],
  ['a shared file', 'file_share', true, 'FSHR', shareFile],
  [
    'a comment',
    'comment',
    true,
    'CMNT',
    async ({ alice, post }) => by(alice, { type: 'CMNT', parentId: await post(), content: { text: 'Nice' } }),
  ],
]

describe.each(acts)('%s', (_, topic, isOn, type, act) => {
  /** The types of what Bob's browser is sent of the act, with these settings. */
  async function sent(settings: Partial<Record<(typeof topics)[number], boolean>> = {}): Promise<unknown[]> {
    const { alice, bob } = await town.network.cast('alice', 'bob')
    for (const [name, value] of Object.entries(settings))
      await bob.client.call(putSetting, { params: { name: `notify.push.${name}` }, body: { value } })
    const post = async () => {
      await connect(town.network, bob, alice)
      return await town.say(bob, { type: 'POST', content: { text: 'Mine' }, visibility: 'P' })
    }
    const { browser } = await town.subscribe(bob)
    await act({ alice, bob, post })
    await town.network.settle()
    return messages(browser).map((message) => (message as { actionType: string }).actionType)
  }

  const only = (wanted: boolean) =>
    Object.fromEntries(topics.map((name) => [name, (name === topic) === wanted]))

  test(`is ${isOn ? '' : 'not '}notified of unless notify.push.${topic} says otherwise`, async () => {
    expect(await sent()).toEqual(isOn ? [type] : [])
    expect(await sent({ [topic]: !isOn })).toEqual(isOn ? [] : [type])
  })

  test('is asked about by no other setting', async () => {
    expect(await sent(only(true))).toEqual([type])
    expect(await sent(only(false))).toEqual([])
  })
})

test('each setting of what is pushed is asked about something', () => {
  const named = Object.keys(settingDefinitions).filter((name) => name.startsWith('notify.push.'))
  const asked = new Set(acts.map(([, topic]) => `notify.push.${topic}`))
  expect(named.filter((name) => !asked.has(name))).toEqual(['notify.push.show_text'])
})
