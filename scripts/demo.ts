/** The main job in front of the reader: two servers, a photo, a post, a feed. Exits with 0 only if every step held. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { CuttableLink } from '../packages/server/test/harness/cuttable-link.ts'
import { eventually, perform, request, root, type Server, say, signIn, step } from './demo-stage.ts'

const photo = new URL('packages/server/test/fixtures/images/photo.jpg', root)

interface FeedItem {
  readonly actionId: string
  readonly issuer: { readonly idTag: string; readonly name: string }
  readonly content?: { readonly text: string }
  readonly attachments: readonly string[]
}

async function tell(alice: Server, bob: Server): Promise<void> {
  const aliceToken = await signIn(alice)
  const bobToken = await signIn(bob)
  await step('alice says who she is', 'PATCH', `${alice.url}/api/me`, {
    token: aliceToken,
    json: { name: 'Alice' },
  })

  const follow = await step('bob follows alice', 'POST', `${bob.url}/api/actions`, {
    token: bobToken,
    json: { type: 'FLLW', audienceTag: alice.idTag },
  })
  await eventually(
    'the follow arrives at alice’s server',
    `${alice.url}/api/actions?type=FLLW`,
    aliceToken,
    (data) => (data as unknown as FeedItem[]).some(({ actionId }) => actionId === follow.data.actionId),
  )

  const upload = await step(
    'alice uploads a photo (JPEG, EXIF orientation 6)',
    'POST',
    `${alice.url}/api/files/default/photo.jpg`,
    {
      token: aliceToken,
      bytes: await readFile(photo),
    },
  )
  const fileId = String(upload.data.fileId)
  const descriptor = await eventually(
    'its variants are made',
    `${alice.url}/api/files/${fileId}/descriptor`,
    aliceToken,
    (data) => (data.variants as { id: string }[]).some(({ id }) => id === 'tn'),
  )
  const original = (descriptor.data.variants as { id: string; width: number; height: number }[]).find(
    ({ id }) => id === 'orig',
  )
  ok(original && original.height > original.width, 'the photo stands upright')

  const post = await step('alice posts it for her followers', 'POST', `${alice.url}/api/actions`, {
    token: aliceToken,
    json: { type: 'POST', content: { text: 'Look what grew!' }, attachments: [fileId], visibility: 'F' },
  })
  const feed = await eventually(
    'the post is in bob’s feed',
    `${bob.url}/api/actions?type=POST`,
    bobToken,
    (data) => (data as unknown as FeedItem[]).some(({ actionId }) => actionId === post.data.actionId),
  )
  const item = (feed.data as unknown as FeedItem[]).find(({ actionId }) => actionId === post.data.actionId)
  strictEqual(item?.content?.text, 'Look what grew!')
  strictEqual(item?.issuer.idTag, alice.idTag)
  deepStrictEqual(item?.attachments, [fileId])

  const copy = await eventually(
    'bob’s server has fetched and checked the photo',
    `${bob.url}/api/files/${fileId}/descriptor`,
    bobToken,
    (data) => (data.variants as { id: string }[]).some(({ id }) => id === 'tn'),
  )
  const thumbnail = await step('bob sees the thumbnail', 'GET', `${bob.url}/api/files/${fileId}?variant=tn`, {
    token: bobToken,
  })
  strictEqual(thumbnail.headers.get('content-type'), 'image/webp')
  strictEqual(Buffer.from(thumbnail.bytes.subarray(8, 12)).toString('latin1'), 'WEBP')
  const variants = copy.data.variants as { id: string; width: number; height: number; size: number }[]
  const described = variants.find(({ id }) => id === 'tn')
  strictEqual(thumbnail.bytes.length, described?.size)
  deepStrictEqual([described?.width, described?.height], [100, 150], 'the thumbnail stands upright')

  const stranger = await request('GET', `${bob.url}/api/files/${fileId}?variant=tn`)
  say(
    'a stranger does not',
    `GET ${bob.url}/api/files/${fileId}?variant=tn`,
    stranger.status,
    stranger.tookMs,
  )
  strictEqual(stranger.status, 404)

  const deliveries = await step(
    'alice looks how the delivery went',
    'GET',
    `${alice.url}/api/actions/${String(post.data.actionId)}/deliveries`,
    {
      token: aliceToken,
    },
  )
  const [delivery] = deliveries.data as unknown as { state: string; recipients: string[] }[]
  deepStrictEqual([delivery?.state, delivery?.recipients], ['delivered', [bob.idTag]])
}

/** A stranger may say something under what is public, and nothing on somebody's page; the page's owner has the last word. */
async function refuse(alice: Server, eve: Server): Promise<void> {
  const [aliceToken, eveToken] = [await signIn(alice), await signIn(eve)]
  const wall = await step(
    'eve, whom alice does not know, posts on alice’s page',
    'POST',
    `${eve.url}/api/actions`,
    {
      token: eveToken,
      json: { type: 'POST', content: { text: 'Buy now!' }, audienceTag: alice.idTag },
    },
  )
  const refused = await eventually(
    'alice’s server refuses it',
    `${eve.url}/api/actions/${String(wall.data.actionId)}/deliveries`,
    eveToken,
    (data) => (data as unknown as { state: string }[])[0]?.state === 'stopped',
  )
  ok(String((refused.data as unknown as { lastError: string }[])[0]?.lastError).includes('403'))

  await step('eve follows alice', 'POST', `${eve.url}/api/actions`, {
    token: eveToken,
    json: { type: 'FLLW', audienceTag: alice.idTag },
  })
  const idOf = (data: unknown, text: string) =>
    (data as FeedItem[]).find(({ content }) => content?.text === text)?.actionId
  await eventually('the follow arrives', `${alice.url}/api/actions?type=FLLW`, aliceToken, (data) =>
    (data as unknown as FeedItem[]).some(({ issuer }) => issuer.idTag === eve.idTag),
  )
  const hello = await step('alice posts for everybody', 'POST', `${alice.url}/api/actions`, {
    token: aliceToken,
    json: { type: 'POST', content: { text: 'Hello, everybody' }, visibility: 'P' },
  })
  await eventually('eve sees it', `${eve.url}/api/actions?type=POST`, eveToken, (data) =>
    Boolean(idOf(data, 'Hello, everybody')),
  )
  await step('eve comments on it', 'POST', `${eve.url}/api/actions`, {
    token: eveToken,
    json: { type: 'CMNT', parentId: hello.data.actionId, content: { text: 'Buy now!' } },
  })
  const taken = await eventually(
    'the comment is taken',
    `${alice.url}/api/actions?type=CMNT`,
    aliceToken,
    (data) => Boolean(idOf(data, 'Buy now!')),
  )
  const comment = `${alice.url}/api/actions/${idOf(taken.data, 'Buy now!')}`
  await step('alice removes it', 'DELETE', comment, { token: aliceToken })
  const history = await request('GET', `${eve.url}/api/outbox?since=0`)
  const tokens = (history.data as unknown as { items: string[] }).items
  strictEqual(tokens.length, 1, 'her post; what is said under others’ is theirs to tell')
  for (const token of tokens) {
    const again = await request('POST', `${alice.url}/api/inbox`, { json: { token } })
    say('eve’s server sends her post once more', `POST ${alice.url}/api/inbox`, again.status, again.tookMs)
    strictEqual(again.status, 403)
  }
  const gone = await request('GET', comment, { token: aliceToken })
  say('the comment is gone', `GET ${comment}`, gone.status, gone.tookMs)
  strictEqual(gone.status, 404)
}

await perform(async (start) => {
  await using toAlice = await CuttableLink.open()
  await using toBob = await CuttableLink.open()
  await using toEve = await CuttableLink.open()
  const peers = Object.entries({ alice: toAlice, bob: toBob, eve: toEve })
    .map(([name, { port }]) => `${name}.localhost=http://${name}.localhost:${port}`)
    .join(',')
  const alice = await start({ idTag: 'alice.localhost', link: toAlice, peers })
  const bob = await start({ idTag: 'bob.localhost', link: toBob, peers })
  await tell(alice, bob)
  await refuse(alice, await start({ idTag: 'eve.localhost', link: toEve, peers }))
})
