import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClockedProcess } from '#harness/clocked-process.ts'
import { localFetch } from '#harness/local-fetch.ts'
import { skipSuite } from '#harness/skip-suite.ts'
import { canMount, onSmallDisk, SmallDisk } from '#harness/small-disk.ts'
import { testPassword } from '#harness/test-server.ts'

const baseTag = 'home.localhost'
const megabyte = 1024 * 1024
const diskMegabytes = 24
const photo = join(import.meta.dirname, '../fixtures/images/photo.jpg')
const tus = { 'tus-resumable': '1.0.0' }
const fetchLocal = localFetch()
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** A server whose data directory is on a disk that the test fills. */
class Site {
  readonly disk: SmallDisk
  readonly #process: ClockedProcess
  readonly #dir: string
  #bearer = ''

  private constructor(process: ClockedProcess, dir: string) {
    this.#process = process
    this.#dir = dir
    this.disk = new SmallDisk(process.pid, join(dir, 'small'))
  }

  static async start(database: 'elsewhere' | 'on the disk'): Promise<Site> {
    const dir = await mkdtemp(join(tmpdir(), 'kith-full-'))
    const small = join(dir, 'small')
    await mkdir(small)
    const env = { DATABASE_URL: `sqlite:${join(database === 'elsewhere' ? dir : small, 'kith.db')}` }
    const place = { baseIdTag: baseTag, dataDir: join(small, 'data'), linkPort: 1, identityHosts: {}, env }
    const process = await ClockedProcess.start({ ...place, nowMs: Date.now() }, (command) =>
      onSmallDisk(small, diskMegabytes, command),
    )
    const site = new Site(process, dir)
    const login = JSON.stringify({ idTag: baseTag, password: testPassword })
    site.#bearer = (await site.ask<{ token: string }>('POST', '/api/auth/login', login)).token
    return site
  }

  send(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const own = this.#bearer === '' ? {} : { authorization: `Bearer ${this.#bearer}` }
    const headers = { 'content-type': 'application/json', ...own, ...init.headers }
    return fetchLocal(`http://${baseTag}:${this.#process.port}${path}`, { ...init, method, headers })
  }

  async ask<Data>(method: string, path: string, body?: string): Promise<Data> {
    const response = await this.send(method, path, body === undefined ? {} : { body })
    return ((await response.json()) as { data: Data }).data
  }

  /** Its file, or how it failed. */
  async upload(
    body: Uint8Array<ArrayBuffer>,
    { preset = 'raw', type = 'application/octet-stream' } = {},
  ): Promise<string> {
    const headers = { 'content-type': type }
    return outcomeOf(await this.send('POST', `/api/files/${preset}/file`, { body, headers }))
  }

  async digestOf(fileId: string): Promise<string> {
    return digest(await (await this.send('GET', `/api/files/${fileId}`)).bytes())
  }

  async pass(ms: number): Promise<void> {
    await this.#process.obey({ kind: 'advance', ms })
    await this.#process.obey({ kind: 'settle' })
  }

  /** What an upload may leave behind on the disk. */
  async leftFiles(): Promise<string[]> {
    const below = (path: string) => readdir(join(this.disk.path, 'data', path))
    return (await Promise.all(['blobs/staging', 'uploads', 'tmp'].map(below))).flat()
  }

  usage(): Promise<{ usedBytes: number; files: number }> {
    return this.ask('GET', '/api/me/usage')
  }

  /** What it may leave behind at all. */
  async remains() {
    using db = new DatabaseSync(join(this.#dir, 'kith.db'), { readOnly: true })
    const rows = ['files', 'blobs', 'storage_reservations', 'blob_claims', 'uploads'].map(
      (table) => `${table} ${db.prepare(`select count(*) as rows from ${table}`).get()?.rows}`,
    )
    return { usage: await this.usage(), files: await this.leftFiles(), rows }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.kill()
    await rm(this.#dir, { recursive: true, force: true })
  }
}

async function outcomeOf(response: Response): Promise<string> {
  const { data, error } = (await response.json()) as { data?: { fileId: string }; error?: { code: string } }
  return data?.fileId ?? `${response.status} ${error?.code}`
}

const full = '503 E-UNAVAILABLE'

/** What the disk needs for them, and not a byte more. */
const pagesOf = ({ length }: Uint8Array) => Math.ceil(length / 4096) * 4096

function underFiles(): void {
  let site: Site
  let known: { readonly fileId: string; readonly digest: string }

  beforeAll(async () => {
    site = await Site.start('elsewhere')
    const bytes = randomBytes(megabyte)
    known = { fileId: await site.upload(bytes), digest: digest(bytes) }
  }, 60_000)
  afterAll(() => site?.[Symbol.asyncDispose]())

  const readsOn = async () => expect(await site.digestOf(known.fileId)).toBe(known.digest)

  async function refuses(leftBytes: number, send: () => Promise<string>): Promise<void> {
    const before = await site.remains()
    await site.disk.fill(leftBytes)
    expect(await send()).toBe(full)
    await readsOn()
    expect(await site.remains()).toEqual(before)
    await site.disk.makeRoom()
  }

  test.each(['raw bytes', 'a form'])(
    'refuses an upload of %s, and takes it when there is room',
    async (kind) => {
      const bytes = randomBytes(3 * megabyte)
      const form = new FormData()
      form.append('file', new Blob([bytes]), 'file.bin')
      const sent = new Response(kind === 'a form' ? form : bytes)
      const type = sent.headers.get('content-type') ?? 'application/octet-stream'
      const body = new Uint8Array(await sent.arrayBuffer())
      await refuses(megabyte, () => site.upload(body, { type }))
      expect(await site.digestOf(await site.upload(body, { type }))).toBe(digest(bytes))
    },
  )

  test('refuses a picture for which there is room, but not for what is made of it', async () => {
    const picture = new Uint8Array(await readFile(photo))
    const send = () => site.upload(picture, { preset: 'profile-picture', type: 'image/jpeg' })
    await refuses(pagesOf(picture), send)
    expect(await send()).toMatch(/^b1~/)
  })

  test('leaves a resumable upload where it was, to go on when there is room', async () => {
    const content = randomBytes(3 * megabyte)
    const created = await site.send('POST', '/api/uploads', {
      headers: {
        ...tus,
        'upload-length': `${content.length}`,
        'upload-metadata': 'filename YQ==,preset cmF3',
      },
    })
    const path = created.headers.get('location') ?? ''
    const sendRest = async () => {
      const { headers } = await site.send('HEAD', path, { headers: tus })
      const offset = headers.get('upload-offset') ?? ''
      const described = { 'content-type': 'application/offset+octet-stream', 'upload-offset': offset }
      return await site.send('PATCH', path, {
        headers: { ...tus, ...described },
        body: content.subarray(Number(offset)),
      })
    }
    // Too little for all pieces, then enough for them and too little for the file that they become.
    for (const leftBytes of [megabyte, 2.5 * megabyte]) {
      await site.disk.fill(leftBytes)
      expect(await outcomeOf(await sendRest())).toBe(full)
      await readsOn()
      await site.disk.makeRoom()
    }
    const last = await sendRest()
    expect(await site.digestOf(last.headers.get('x-file-id') ?? '')).toBe(digest(content))
    expect(await site.leftFiles()).toEqual([])
  })

  test('gives a picture its variants when there is room, hours later', async () => {
    const picture = new Uint8Array(await readFile(photo))
    await site.disk.fill(pagesOf(picture))
    const fileId = await site.upload(picture, { preset: 'default', type: 'image/jpeg' })
    for (let hour = 0; hour < 6; hour += 1) await site.pass(3_600_000)
    expect(await site.digestOf(`${fileId}?variant=tn`)).toBe(digest(picture))
    expect(await site.leftFiles()).toEqual([])
    await site.disk.makeRoom()
    await site.pass(7_200_000)
    const thumbnail = await site.send('GET', `/api/files/${fileId}?variant=tn`)
    expect(thumbnail.headers.get('content-type')).toBe('image/webp')
    const { status, x } = await site.ask<{ status: string; x?: object }>(
      'GET',
      `/api/files/${fileId}/metadata`,
    )
    expect([status, x]).toEqual(['A', undefined])
  })
}

function underEverything(): void {
  let site: Site
  beforeAll(async () => {
    site = await Site.start('on the disk')
  }, 60_000)
  afterAll(() => site?.[Symbol.asyncDispose]())

  const post = async (text: string) => {
    const body = JSON.stringify({ type: 'POST', visibility: 'F', content: { text } })
    return (await site.send('POST', '/api/actions', { body })).status
  }
  const listed = async () => {
    const posts = await site.ask<{ content: { text: string } }[]>('GET', '/api/actions?type=POST&limit=200')
    return posts.map(({ content }) => Number.parseInt(content.text, 10)).sort((one, other) => one - other)
  }

  test('acknowledges no write that is not there, reads on, and takes writes when there is room', async () => {
    const fileId = await site.upload(Buffer.from('hello'))
    await site.disk.fill(0)
    const acknowledged: number[] = []
    const refused: number[] = []
    // The log of the database has room of its own for some.
    for (let number = 1; refused.length < 3 && number < 150; number += 1) {
      const status = await post(`${number} ${'x'.repeat(5000)}`)
      if (status === 201) acknowledged.push(number)
      else refused.push(status)
    }
    expect(refused).toEqual([503, 503, 503])
    expect(await listed()).toEqual(acknowledged)
    expect(await site.upload(randomBytes(megabyte))).toBe(full)
    expect(await site.digestOf(fileId)).toBe(digest(Buffer.from('hello')))
    await site.disk.makeRoom()
    expect(await post('999 there is room')).toBe(201)
    expect(await listed()).toEqual([...acknowledged, 999])
    expect(await site.usage()).toMatchObject({ files: 1, usedBytes: 5 })
    expect(await site.leftFiles()).toEqual([])
  })
}

if (canMount()) {
  describe('A disk that is full under the files', underFiles)
  describe('A disk that is full under everything', underEverything)
} else {
  skipSuite('A disk that is full', 'needs a machine that lets users mount')
}
