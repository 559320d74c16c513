import { uploadFile } from '@kith/client'
import { type ActionId, createAction, type IdTag, updateMe } from '@kith/protocol'
import sharp from 'sharp'
import type { TestServer } from '../../../server/test/harness/test-server.ts'
import { startWebServer } from './open-app.ts'
import { makeFriends } from './people.ts'

export const anna = 'anna.localhost'
export const mallory = 'mallory.localhost'
/** Reads as `apple` and is written in Cyrillic letters. */
export const lookAlike = 'xn--80ak6aa92e.localhost'

const names: Readonly<Record<string, string>> = {
  [mallory]: '<img src=x onerror="document.title=1">',
  [lookAlike]: 'Anna Berg',
  'emoji.localhost': '😀'.repeat(100),
  'family.localhost': '👩‍👩‍👧‍👦'.repeat(100),
  'empty.localhost': '',
  'unseen.localhost': '\u200b\u2066\u202e ',
  'turned.localhost': '\u202egreB annA',
  'marks.localhost': `Z${'\u0301'.repeat(10_000)}`,
  'wide.localhost': 'W'.repeat(2_000),
}

/** What is written in posts, comments and messages, by a word that each of them has. */
export const hostileTexts = {
  markup:
    'markup <script>document.title=1</script><img src=x onerror="document.title=1"><b>bold</b> &amp; <!--',
  links:
    'links javascript:document.title=1 data:text/html,<script>document.title=1</script> vbscript:x JAVASCRIPT://%0aalert(1) [x](javascript:alert(1)) https://ok.example/ok',
  long: `long ${'W'.repeat(49_900)}`,
  lines: `lines ${'\n'.repeat(20_000)}end`,
  marks: `marks Z${'\u0301'.repeat(10_000)}`,
  turned: 'turned \u202e desrever \u2066\u2067\u2068 https://example.org/\u202egpj.exe \u202d',
  controls: 'controls \u0001\u0007\u001b[31m\u2028\u2029\ufeff\ufffe',
  mention: `mention @${lookAlike} @anna.localhost #${'t'.repeat(64)} ${'👩‍👩‍👧‍👦'.repeat(500)}`,
} as const

const longestComment = 10_000

export interface HostileTown {
  readonly server: TestServer
  readonly posts: Readonly<Record<keyof typeof hostileTexts, string>>
  /** Of a type that no version of the app knows. */
  readonly unknownId: string
  readonly picturesId: string
}

/** A server whose base tenant, Anna, is connected with people who wish her no good. */
export async function startHostileTown(): Promise<HostileTown> {
  const server = await startWebServer({ baseIdTag: anna })
  await makeFriends(server, anna, names)
  const own = await server.as(anna)
  const client = await server.as(mallory)
  await client.call(updateMe, {
    body: { x: { bio: hostileTexts.markup, site: 'javascript:document.title=1' } },
  })
  const say = async (type: 'POST' | 'MSG' | 'CMNT', text: string, members: object = {}) =>
    (await client.call(createAction, { body: { type, content: { text }, ...members } as never })).data
      .actionId
  const ownPost = await own.call(createAction, {
    body: { type: 'POST', visibility: 'C', content: { text: 'What do you say to this?' } },
  })
  const posts: Record<string, string> = {}
  for (const [name, text] of Object.entries(hostileTexts)) {
    posts[name] = await say('POST', text, { visibility: 'C' })
    await say('CMNT', text.slice(0, longestComment), { parentId: ownPost.data.actionId })
    await say('MSG', text, { audienceTag: anna })
  }
  for (const idTag of Object.keys(names))
    await (await server.as(idTag)).call(createAction, {
      body: { type: 'POST', visibility: 'C', content: { text: `A word of ${idTag}` } },
    })
  const picturesId = await showPictures(server)
  const unknownId = await say('POST', 'unknown type', { visibility: 'C' })
  await server.settle()
  await rewrite(server, unknownId, {
    type: 'WEATHER',
    content: JSON.stringify({
      text: 'Rain',
      wild: { deep: [1, null, { a: '<b>' }] },
      url: 'javascript:x',
      alt: 7,
    }),
    x: JSON.stringify({ anything: 'y'.repeat(16_000), __proto__: 1, nested: [[[]]] }),
  })
  await rewrite(server, posts.markup ?? '', { created_at: 0, published_at: 0 })
  await rewrite(server, posts.links ?? '', { created_at: 253_402_300_799, published_at: 253_402_300_799 })
  return { server, posts: posts as HostileTown['posts'], unknownId, picturesId }
}

async function showPictures(server: TestServer): Promise<string> {
  const client = await server.as(mallory)
  const sizes = [
    [1, 20_000],
    [20_000, 1],
    [3, 3],
  ] as const
  const attachments: string[] = []
  for (const [width, height] of sizes) {
    const create = { width, height, channels: 3, background: 'teal' } as const
    const png = await sharp({ create }).png().toBuffer()
    const picture = new Blob([new Uint8Array(png)], { type: 'image/png' })
    attachments.push((await uploadFile(client, picture, { fileName: `${width}x${height}.png` })).fileId)
  }
  const { data } = await client.call(createAction, {
    body: { type: 'POST', visibility: 'C', content: { text: 'pictures' }, attachments },
  })
  return data.actionId
}

/** Changes a stored action at every tenant: newer servers, and clocks that are wrong, store what ours would not take. */
async function rewrite(server: TestServer, actionId: string, change: Record<string, unknown>): Promise<void> {
  for (const idTag of [anna, mallory]) {
    const tenant = await server.running.features.identity.tenants.find(idTag as IdTag)
    if (!tenant) throw new Error(`${idTag} does not live here`)
    await server.db.transact(tenant.tenantId, async (tx) => {
      const tables = tx.tables<{ actions: Record<string, unknown> }>()
      const rows = tables.updateTable('actions').set(change)
      await rows
        .where('tenant_id', '=', tx.tenantId)
        .where('action_id', '=', actionId as ActionId)
        .execute()
    })
  }
}
