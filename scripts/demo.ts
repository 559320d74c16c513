/** The main job in front of the reader: two servers, a photo, a post, a feed. Exits with 0 only if every step held. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { eventually, freePort, perform, request, root, type Server, say, signIn, step } from './demo-stage.ts'

const photo = new URL('packages/server/test/fixtures/images/photo.jpg', root)

interface FeedItem {
  readonly actionId: string
  readonly issuer: { readonly idTag: string; readonly name: string }
  readonly content: { readonly text: string }
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
  strictEqual(item?.content.text, 'Look what grew!')
  strictEqual(item.issuer.idTag, alice.idTag)
  deepStrictEqual(item.attachments, [fileId])

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

await perform(async (start) => {
  const [alicePort, bobPort] = [await freePort(), await freePort()]
  const peers = `alice.localhost=http://alice.localhost:${alicePort},bob.localhost=http://bob.localhost:${bobPort}`
  const alice = await start({ idTag: 'alice.localhost', port: alicePort, peers })
  const bob = await start({ idTag: 'bob.localhost', port: bobPort, peers })
  await tell(alice, bob)
})
