/** The main job in front of the reader: two servers, a photo, a post, a feed. Exits with 0 only if every step held. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Agent, fetch } from 'undici'

const root = new URL('..', import.meta.url)
const kith = new URL('packages/server/bin/kith.js', root)
const photo = new URL('packages/server/test/fixtures/images/photo.jpg', root)
const password = 'a password for the demo'
const patienceMs = 20_000

interface Server {
  readonly idTag: string
  readonly url: string
  readonly process: ChildProcess
}

// Names under .localhost are this machine (RFC 6761), though not every resolver knows.
const agent = new Agent({
  connect: {
    lookup: (_, options, done) =>
      options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
  },
})

async function request(
  method: string,
  url: string,
  options: { token?: string; json?: object; bytes?: Uint8Array } = {},
) {
  const { token, json, bytes } = options
  const startedAt = performance.now()
  const response = await fetch(url, {
    method,
    dispatcher: agent,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(json ? { 'content-type': 'application/json' } : {}),
      ...(bytes ? { 'content-type': 'image/jpeg' } : {}),
    },
    ...(json ? { body: JSON.stringify(json) } : bytes ? { body: bytes } : {}),
  })
  const body = new Uint8Array(await response.arrayBuffer())
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  const document = isJson ? JSON.parse(new TextDecoder().decode(body)) : {}
  const tookMs = performance.now() - startedAt
  const data = document.data ?? document
  return { status: response.status, headers: response.headers, data, bytes: body, tookMs }
}

/** One request, printed with its time; anything but success ends the demo. */
async function step(title: string, method: string, url: string, options: Parameters<typeof request>[2] = {}) {
  const answer = await request(method, url, options)
  say(title, `${method} ${url.replace(/token=[^&]*/, 'token=…')}`, answer.status, answer.tookMs)
  ok(answer.status < 300, `${title}: ${JSON.stringify(answer.data)}`)
  return answer
}

function say(title: string, what: string, status: number, tookMs: number): void {
  console.log(`${title}\n    ${what}\n    ${status} in ${tookMs.toFixed(1)} ms`)
}

/** Asks again until the answer is as it should be; the last answer and the whole time are printed. */
async function eventually(
  title: string,
  url: string,
  token: string,
  isThere: (data: Awaited<ReturnType<typeof request>>['data']) => boolean,
) {
  const startedAt = performance.now()
  for (;;) {
    const answer = await request('GET', url, { token })
    const tookMs = performance.now() - startedAt
    if (answer.status === 200 && isThere(answer.data)) {
      say(title, `GET ${url}`, answer.status, tookMs)
      return answer
    }
    ok(
      tookMs < patienceMs,
      `${title}: not within ${patienceMs} ms, last ${answer.status} ${JSON.stringify(answer.data)}`,
    )
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  ok(address !== null && typeof address === 'object')
  return address.port
}

async function start(idTag: string, port: number, folder: string, peers: string): Promise<Server> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [kith.pathname, 'serve'], {
    cwd: folder,
    env: {
      BASE_ID_TAG: idTag,
      BASE_PASSWORD: password,
      LISTEN: `127.0.0.1:${port}`,
      DATA_DIR: join(folder, idTag),
      IDENTITY_HOSTS: peers,
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const [line] = (await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error(`the server of ${idTag} did not start`))),
  ])) as [string]
  strictEqual(JSON.parse(line).event, 'ready')
  const url = `http://${idTag}:${port}`
  console.log(
    `A server for ${idTag}\n    ${url}\n    ready in ${(performance.now() - startedAt).toFixed(0)} ms`,
  )
  return { idTag, url, process: child }
}

async function signIn({ idTag, url }: Server): Promise<string> {
  const { data } = await step(`${idTag} signs in`, 'POST', `${url}/api/auth/login`, {
    json: { idTag, password },
  })
  return String(data.token)
}

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

async function stop(server: Server): Promise<void> {
  server.process.kill('SIGTERM')
  const [code] = await once(server.process, 'exit')
  strictEqual(code, 0, `the server of ${server.idTag} stops cleanly`)
}

const folder = await mkdtemp(join(tmpdir(), 'kith-demo-'))
const servers: Server[] = []
try {
  const [alicePort, bobPort] = [await freePort(), await freePort()]
  const hosts = `alice.localhost=http://alice.localhost:${alicePort},bob.localhost=http://bob.localhost:${bobPort}`
  const alice = await start('alice.localhost', alicePort, folder, hosts)
  servers.push(alice)
  const bob = await start('bob.localhost', bobPort, folder, hosts)
  servers.push(bob)
  await tell(alice, bob)
  await Promise.all(servers.splice(0).map(stop))
  console.log('\nEvery step held.')
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  for (const server of servers) server.process.kill('SIGKILL')
  await agent.close()
  await rm(folder, { recursive: true, force: true })
}
