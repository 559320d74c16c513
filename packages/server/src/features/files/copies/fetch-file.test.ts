import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { FileId, IdTag } from '@kith/protocol'
import { afterEach, expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { alice, aliceTag, bobTag, type FilesLab, filesLab, identity } from '#harness/files-lab.ts'
import { startOrigin } from '#harness/origin-server.ts'
import type { BlobHash } from '#infra/blobs/index.ts'
import { createDnsResolver } from '#infra/dns/index.ts'
import { createEgress } from '#infra/egress/index.ts'
import { type JobContext, JobVerdict } from '#infra/jobs/index.ts'
import { commitTo } from '../file.ts'
import { updateCopyEnd } from './copy-store.ts'
import { type FetchDeps, fetchFile } from './fetch-file.ts'
import { queueFetches } from './queue-fetches.ts'
import { addSharedFile } from './shared-file.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const owner = identity(aliceTag, alice)
const caraTag = 'cara.example' as IdTag
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex') as BlobHash

interface Remote {
  readonly bytes: Buffer
  readonly descriptor: Record<string, unknown>
  readonly fileId: FileId
}

function remoteFile(bytes: Buffer, change: Record<string, unknown> = {}): Remote {
  const { fileId, content } = commitTo(hashOf(bytes))
  const sha256 = Buffer.from(content.hash, 'hex').toString('base64url')
  const described = { fileId, contentType: 'text/plain', fileName: 'a.txt', size: bytes.length, sha256 }
  const rest = { createdAt: '2026-01-01T00:00:00.000Z', variants: [], salt: content.salt }
  return { bytes, fileId, descriptor: { ...described, ...rest, ...change } }
}

/** The server of Bob, with one file. */
async function serverOf({ bytes, descriptor }: Remote) {
  const origin = await startOrigin((request: IncomingMessage, answer: ServerResponse) => {
    if (!request.url?.endsWith('/descriptor')) answer.end(bytes)
    else answer.setHeader('content-type', 'application/json').end(JSON.stringify({ data: descriptor }))
  })
  closers.push(() => origin.close())
  return origin
}

function depsOf(lab: FilesLab, serverUrl: string | undefined): FetchDeps {
  const resolver = createDnsResolver()
  const egress = createEgress({ privateNetworks: true, resolver, userAgent: 'test' })
  closers.push(() => egress.close())
  const findServer = async () =>
    serverUrl ? ({ kind: 'found', serverUrl } as const) : ({ kind: 'unknown', isGone: true } as const)
  return { ...lab.deps, egress, findServer, proxyToken: async (_, target) => `proxy-for-${target}` }
}

const context: JobContext = {
  tenantId: alice.tenantId,
  attempt: 1,
  createdAtMs: 0,
  signal: new AbortController().signal,
}

eachDialect('A file of another server', (open) => {
  const openLab = filesLab(open)

  async function fetched(remote: Remote, payload: object = {}) {
    const lab = await openLab()
    const origin = await serverOf(remote)
    const deps = depsOf(lab, origin.url)
    await want(lab, remote.fileId)
    const attempt = () => fetchFile(deps, { fileId: remote.fileId, ownerTag: bobTag, ...payload }, context)
    return { lab, origin, deps, attempt }
  }
  /** What no action here names any more is not kept. */
  const want = (lab: FilesLab, fileId: FileId) =>
    lab.putAction(alice, { visibility: null, attachments: [fileId], issuer: caraTag })
  const nothing = { files: 0, blobs: 0, reservations: 0, claims: 0, jobs: 0, onDisk: 0 }
  const verdictOf = (attempt: Promise<unknown>) =>
    attempt.then(
      () => 'done',
      (error: unknown) => (error instanceof JobVerdict ? error.verdict.kind : error),
    )

  test('is stored as a checked copy of its owner’s, once', async () => {
    const remote = remoteFile(Buffer.from('hello'))
    const { lab, origin, attempt } = await fetched(remote)
    await attempt()
    expect(origin.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      [`/api/files/${remote.fileId}/descriptor`, `Bearer proxy-for-${bobTag}`],
      [`/api/files/${remote.fileId}?variant=orig`, `Bearer proxy-for-${bobTag}`],
    ])
    const { data } = (await lab.send('GET', `/api/files/${remote.fileId}/metadata`, { as: owner })).json
    expect(data).toMatchObject({
      owner: { idTag: bobTag },
      status: 'A',
      visibility: null,
      fileName: 'a.txt',
      size: 5,
    })
    expect((await lab.send('GET', `/api/files/${remote.fileId}`, { as: owner })).body.toString()).toBe(
      'hello',
    )
    const asIssuer = { as: identity(bobTag, alice) }
    expect((await lab.send('GET', `/api/files/${remote.fileId}`, asIssuer)).status).toBe(404)
    expect(await lab.usage()).toEqual({ used_bytes: 5, files: 1 })
    await attempt()
    expect(origin.requests).toHaveLength(2)
  })

  test('is fetched from where its owner’s server sends us, without the token', async () => {
    const remote = remoteFile(Buffer.from('hello'))
    const lab = await openLab()
    const bucket = await startOrigin((_, answer) => void answer.end(remote.bytes))
    const origin = await startOrigin((request, answer) => {
      if (!request.url?.endsWith('/descriptor'))
        answer.writeHead(307, { location: `${bucket.url}/b?s=1` }).end()
      else answer.end(JSON.stringify({ data: remote.descriptor }))
    })
    closers.push(
      () => origin.close(),
      () => bucket.close(),
    )
    const payload = { fileId: remote.fileId, ownerTag: bobTag }
    await want(lab, remote.fileId)
    await fetchFile(depsOf(lab, origin.url), payload, context)
    expect(bucket.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/b?s=1', undefined],
    ])
    const { body } = await lab.send('GET', `/api/files/${remote.fileId}`, { as: owner })
    expect(body.toString()).toBe('hello')
  })

  test('gets its variants from the checked original', async () => {
    const photo = await readFile(join(import.meta.dirname, '../../../../test/fixtures/images/photo.jpg'))
    const remote = remoteFile(photo, { contentType: 'text/html', variants: [] })
    const { lab, attempt } = await fetched(remote)
    await attempt()
    await lab.settle()
    const { data } = (await lab.send('GET', `/api/files/${remote.fileId}/descriptor`, { as: owner })).json
    expect(data).toMatchObject({ contentType: 'image/jpeg' })
    expect(data.variants).toHaveLength(5)
  })

  test('tells when a picture was taken, as the checked original says', async () => {
    const photo = await readFile(join(import.meta.dirname, '../../../../test/fixtures/images/phone.heic'))
    const remote = remoteFile(photo, { contentType: 'image/heic', takenAt: 1, width: 1 })
    const { lab, attempt } = await fetched(remote)
    await attempt()
    await lab.settle()
    const { data } = (await lab.send('GET', `/api/files/${remote.fileId}/metadata`, { as: owner })).json
    expect(data).toMatchObject({ width: 400, height: 600, takenAt: Date.UTC(2024, 6, 1, 12, 30) / 1000 })
  })

  const hello = Buffer.from('hello')
  test.each<[string, Remote]>([
    ['other bytes', { ...remoteFile(hello), bytes: Buffer.from('hellO') }],
    ['more bytes than were described', { ...remoteFile(hello), bytes: Buffer.from('hello and more') }],
    ['another salt', remoteFile(hello, { salt: 'A'.repeat(22) })],
    ['another hash', remoteFile(hello, { sha256: 'A'.repeat(43) })],
    ['no salt', remoteFile(hello, { salt: undefined })],
    ['a negative size', remoteFile(hello, { size: -1 })],
    ['a size that is too small', remoteFile(hello, { size: 4 })],
    ['a size that is no number', remoteFile(hello, { size: '5' })],
    ['a size beyond one file here', remoteFile(hello, { size: 1e12 })],
    ['no descriptor', { ...remoteFile(hello), descriptor: {} }],
  ])('is refused for ever with %s, and leaves nothing', async (_, remote) => {
    const { lab, attempt } = await fetched(remote, { isOnDemand: true })
    expect(await verdictOf(attempt())).toBe('dead')
    expect(await lab.remains()).toEqual(nothing)
  })

  test.each([2 ** 50 + 1, 2 ** 53, 1e30])('of %d bytes is refused before it is noted', async (size) => {
    const { lab, attempt } = await fetched(remoteFile(hello, { size }))
    expect(await verdictOf(attempt())).toBe('dead')
    expect(await lab.remains()).toEqual(nothing)
  })

  test('with a name or a type that could harm gets others', async () => {
    const change = { fileName: '../etc/passwd', contentType: 'text/html\r\nset-cookie: a=b' }
    const remote = remoteFile(hello, change)
    const { lab, attempt } = await fetched(remote)
    await attempt()
    const { data } = (await lab.send('GET', `/api/files/${remote.fileId}/metadata`, { as: owner })).json
    expect(data).toMatchObject({ fileName: '.._etc_passwd', contentType: 'application/octet-stream' })
  })

  test.each([
    [404, 'retry'],
    [401, 'retry'],
    [429, 'retry'],
    [500, 'retry'],
    [410, 'dead'],
    [400, 'dead'],
  ])('that answers %i: %s', async (status, verdict) => {
    const lab = await openLab()
    const origin = await startOrigin((_, answer) => void answer.writeHead(status).end('{}'))
    closers.push(() => origin.close())
    const { fileId } = remoteFile(hello)
    const attempt = fetchFile(depsOf(lab, origin.url), { fileId, ownerTag: bobTag }, context)
    expect(await verdictOf(attempt)).toBe(verdict)
    expect(await lab.remains()).toEqual(nothing)
  })

  test('is tried again when nothing answers, not when nobody knows the owner', async () => {
    const lab = await openLab()
    const { fileId } = remoteFile(hello)
    const attempt = (url: string | undefined) =>
      fetchFile(depsOf(lab, url), { fileId, ownerTag: bobTag }, context)
    const gone = await startOrigin(() => {})
    await gone.close()
    expect(await verdictOf(attempt(gone.url))).toBe('retry')
    expect(await verdictOf(attempt(undefined))).toBe('dead')
  })

  test('is fetched later when the storage is used up', async () => {
    const remote = remoteFile(hello)
    const { lab, attempt } = await fetched(remote)
    lab.settings.limits = { maxFileBytes: 100, maxStorageBytes: 4 }
    expect(await verdictOf(attempt())).toBe('retry')
    expect(await lab.remains()).toEqual(nothing)
    lab.settings.limits = { maxFileBytes: 100, maxStorageBytes: 5 }
    await attempt()
    expect(await lab.usage()).toEqual({ used_bytes: 5, files: 1 })
  })

  test('that is large stays where it is until somebody wants to read it', async () => {
    const remote = remoteFile(Buffer.alloc(25 * 1024 * 1024 + 1, 7))
    const { lab, origin, deps, attempt } = await fetched(remote)
    await attempt()
    expect(origin.requests).toHaveLength(1)
    const path = `/api/files/${remote.fileId}`
    expect((await lab.send('GET', `${path}/metadata`, { as: owner })).json.data).toMatchObject({
      status: 'P',
      size: remote.bytes.length,
    })
    expect((await lab.send('GET', path, { as: identity(bobTag, alice) })).status).toBe(404)
    expect(await lab.remains()).toMatchObject({ files: 1, blobs: 0, jobs: 0 })
    for (let times = 0; times < 2; times += 1) {
      const asked = await lab.send('GET', path, { as: owner })
      expect([asked.status, asked.headers['retry-after']]).toEqual([503, '5'])
    }
    expect(await lab.remains()).toMatchObject({ jobs: 1 })
    await fetchFile(deps, { fileId: remote.fileId, ownerTag: bobTag, isOnDemand: true }, context)
    expect((await lab.send('GET', path, { as: owner })).body.equals(remote.bytes)).toBe(true)
    expect(await lab.usage()).toEqual({ used_bytes: remote.bytes.length, files: 1 })
  })

  test('is queued once for each attachment that is one', async () => {
    const lab = await openLab()
    // No action names the file: a job that runs ends at once.
    await lab.jobs.stop()
    const { fileId } = remoteFile(hello)
    const received = { issuerTag: bobTag as IdTag, attachments: [fileId, 'x', fileId, ''] }
    for (let times = 0; times < 2; times += 1)
      await lab.db.transact(alice.tenantId, (tx) =>
        queueFetches(lab, tx, { ...received, sourceTag: received.issuerTag }),
      )
    expect(await lab.remains()).toMatchObject({ jobs: 1 })
    // Nor does one who names it first keep it from its owner.
    const ofCara = { ...received, issuerTag: caraTag, sourceTag: caraTag }
    await lab.db.transact(alice.tenantId, (tx) => queueFetches(lab, tx, ofCara))
    expect(await lab.remains()).toMatchObject({ jobs: 2 })
  })

  test('stays its owner’s when others have the same bytes, and is shown by none of their actions', async () => {
    const remote = remoteFile(hello)
    const { lab, origin, deps, attempt } = await fetched(remote)
    const shown = () => lab.send('GET', `/api/files/${remote.fileId}`)
    const attached = { visibility: 'P', attachments: [remote.fileId] } as const
    await attempt()
    await fetchFile(deps, { fileId: remote.fileId, ownerTag: caraTag }, context)
    expect(origin.requests).toHaveLength(2)
    await lab.putAction(alice, { ...attached, issuer: caraTag })
    await lab.putAction(alice, attached)
    expect((await shown()).status).toBe(404)
    await lab.relate(alice, bobTag, { connection: 'connected', at: 1 })
    await lab.putAction(alice, { ...attached, issuer: bobTag, audienceTag: alice.idTag })
    expect((await shown()).body.toString()).toBe('hello')
  })

  test('that its owner shared is filled by none but its owner', async () => {
    const remote = remoteFile(hello)
    const { lab, origin, deps, attempt } = await fetched(remote)
    const shared = { fileId: remote.fileId, ownerTag: bobTag, expiresAt: undefined }
    await lab.db.transact(alice.tenantId, (tx) =>
      addSharedFile(lab.deps, tx, { ...shared, fileName: 'a.txt', contentType: 'text/plain' }),
    )
    await fetchFile(deps, { fileId: remote.fileId, ownerTag: caraTag }, context)
    expect(origin.requests).toEqual([])
    await attempt()
    expect((await lab.send('GET', `/api/files/${remote.fileId}`, { as: owner })).status).toBe(200)
  })

  test('that its owner shared has its size before it is fetched, however large it is', async () => {
    const remote = remoteFile(Buffer.alloc(25 * 1024 * 1024 + 1, 7))
    const { lab, attempt } = await fetched(remote)
    const shared = { fileId: remote.fileId, ownerTag: bobTag, expiresAt: undefined }
    await lab.db.transact(alice.tenantId, (tx) =>
      addSharedFile(lab.deps, tx, { ...shared, fileName: 'shared.txt', contentType: 'text/plain' }),
    )
    const known = async () =>
      (await lab.send('GET', `/api/files/${remote.fileId}/metadata`, { as: owner })).json.data
    expect(await known()).toMatchObject({ status: 'P', size: 0 })
    await attempt()
    expect(await known()).toMatchObject({ status: 'P', size: remote.bytes.length, fileName: 'shared.txt' })
    expect(await lab.usage()).toEqual({ used_bytes: 0, files: 1 })
  })

  test.each([
    [caraTag, 404],
    [bobTag, 200],
  ])('ends with its share, whatever %s attaches it to: %i', async (issuer, status) => {
    const { fileId } = remoteFile(hello)
    const lab = await openLab()
    const shared = { fileId, ownerTag: bobTag, fileName: 'a.txt', contentType: 'text/plain' }
    const nowSecs = Math.floor(lab.clock.now() / 1000)
    await lab.db.transact(alice.tenantId, (tx) =>
      addSharedFile(lab.deps, tx, { ...shared, expiresAt: undefined }),
    )
    await lab.putAction(alice, { visibility: null, attachments: [fileId], issuer })
    await lab.db.transact(alice.tenantId, (tx) =>
      updateCopyEnd(tx, { fileId, ownerTag: bobTag, expiresAt: nowSecs + 10 }),
    )
    lab.clock.advance(11_000)
    expect((await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })).status).toBe(status)
  })

  test('is not taken from whoever says it is theirs when it is the tenant’s own', async () => {
    const lab = await openLab()
    const { fileId } = (await lab.upload('a', 'hello')).json.data
    const deps = depsOf(lab, 'http://127.0.0.1:1')
    await fetchFile(deps, { fileId, ownerTag: bobTag }, context)
    const { data } = (await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })).json
    expect(data.owner.idTag).toBe(aliceTag)
  })
})
