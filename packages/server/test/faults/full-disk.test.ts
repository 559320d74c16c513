import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClockedPlace, ClockedProcess } from '#harness/clocked-process.ts'
import { localFetch } from '#harness/local-fetch.ts'
import { skipSuite } from '#harness/skip-suite.ts'
import { canMount, LastingDisk } from '#harness/small-disk.ts'
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
  readonly disk: LastingDisk
  readonly #dir: string
  readonly #place: Omit<ClockedPlace, 'nowMs'>
  #process: ClockedProcess
  #bearer = ''

  private constructor(disk: LastingDisk, dir: string, started: Started) {
    this.disk = disk
    this.#dir = dir
    this.#place = started.place
    this.#process = started.process
  }

  static async start(database: 'elsewhere' | 'on the disk', reserveMegabytes = 0): Promise<Site> {
    const dir = await mkdtemp(join(tmpdir(), 'kith-full-'))
    const small = join(dir, 'small')
    await mkdir(small)
    const env = { DATABASE_URL: `sqlite:${join(database === 'elsewhere' ? dir : small, 'kith.db')}` }
    const place = { baseIdTag: baseTag, dataDir: join(small, 'data'), linkPort: 1, identityHosts: {}, env }
    const disk = await LastingDisk.mount(small, diskMegabytes)
    const site = new Site(disk, dir, { place, process: await startOn(disk, place) })
    await site.signIn()
    const body = JSON.stringify({ value: reserveMegabytes })
    expect((await site.send('PUT', '/api/settings/limits.disk_reserve_mb', { body })).status).toBe(200)
    return site
  }

  async signIn(): Promise<void> {
    const login = JSON.stringify({ idTag: baseTag, password: testPassword })
    this.#bearer = (await this.ask<{ token: string }>('POST', '/api/auth/login', login)).token
  }

  /** Kills it, and starts it again on the same disk. */
  async restart(): Promise<void> {
    await this.#process.kill()
    this.#process = await startOn(this.disk, this.#place)
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

  async createUpload(length: number): Promise<string> {
    const described = { 'upload-length': `${length}`, 'upload-metadata': 'filename YQ==,preset cmF3' }
    const created = await this.send('POST', '/api/uploads', { headers: { ...tus, ...described } })
    return created.headers.get('location') ?? (await outcomeOf(created))
  }

  async sendRest(path: string, content: Uint8Array<ArrayBuffer>): Promise<Response> {
    const { headers } = await this.send('HEAD', path, { headers: tus })
    const offset = headers.get('upload-offset') ?? ''
    const described = { 'content-type': 'application/offset+octet-stream', 'upload-offset': offset }
    const body = content.subarray(Number(offset))
    return await this.send('PATCH', path, { headers: { ...tus, ...described }, body })
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

  /** What pieces of uploads take on the disk. */
  async leftBytes(): Promise<number> {
    const folder = join(this.disk.path, 'data/uploads')
    const files = await Promise.all((await readdir(folder)).map((name) => stat(join(folder, name))))
    return files.reduce((sum, { size }) => sum + size, 0)
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
    await this.disk[Symbol.asyncDispose]()
    await rm(this.#dir, { recursive: true, force: true })
  }
}

interface Started {
  readonly place: Omit<ClockedPlace, 'nowMs'>
  readonly process: ClockedProcess
}

const startOn = (disk: LastingDisk, place: Started['place']) =>
  ClockedProcess.start({ ...place, nowMs: Date.now() }, (command) => disk.within(command))

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
  })
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

  test('takes the room of a piece of a resumable upload back, which goes on when there is room', async () => {
    const content = randomBytes(3 * megabyte)
    const path = await site.createUpload(content.length)
    // Too little for all pieces, then enough for them and too little for the file that they become.
    for (const leftBytes of [megabyte, 4 * megabyte]) {
      await site.disk.fill(leftBytes)
      expect(await outcomeOf(await site.sendRest(path, content))).toBe(full)
      await readsOn()
      await site.disk.makeRoom()
      if (leftBytes === megabyte) expect(await site.leftBytes()).toBe(0)
    }
    const last = await site.sendRest(path, content)
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
  })
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
    for (let number = 1; refused.length < 3 && number < 400; number += 1) {
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

function withReserve(): void {
  let site: Site
  beforeAll(async () => {
    site = await Site.start('on the disk', 8)
  })
  afterAll(() => site?.[Symbol.asyncDispose]())

  const post = async (text: string) => {
    const body = JSON.stringify({ type: 'POST', visibility: 'F', content: { text } })
    return outcomeOf(await site.send('POST', '/api/actions', { body }))
  }

  test('takes files up to the part that is kept, and everything else beyond it', async () => {
    const small = randomBytes(megabyte)
    await site.disk.fill(9.5 * megabyte)
    const taken = await site.upload(small)
    const path = await site.createUpload(megabyte / 4)
    expect(path).toMatch(/^\/api\/uploads\//)
    await site.disk.makeRoom()
    await site.disk.fill(8 * megabyte)
    const form = new FormData()
    form.append('file', new Blob([small]), 'file.bin')
    const sent = new Response(form)
    const type = sent.headers.get('content-type') ?? ''
    const before = await site.leftFiles()
    expect(await site.upload(small)).toBe('507 E-QUOTA')
    expect(await site.upload(new Uint8Array(await sent.arrayBuffer()), { type })).toBe('507 E-QUOTA')
    expect(await site.createUpload(megabyte)).toBe('507 E-QUOTA')
    expect(await outcomeOf(await site.sendRest(path, randomBytes(megabyte / 4)))).toBe('507 E-QUOTA')
    expect(await site.leftFiles()).toEqual(before)
    expect(await site.usage()).toMatchObject({ files: 1, usedBytes: megabyte })
    expect(await post('there is room for words')).not.toMatch(/ E-/)
    expect(await site.digestOf(taken)).toBe(digest(small))
    await site.disk.makeRoom()
    expect((await site.send('DELETE', path, { headers: tus })).status).toBe(204)
    expect((await site.send('DELETE', `/api/files/${taken}`)).status).toBe(200)
    expect((await site.send('DELETE', '/api/trash')).status).toBe(200)
  })

  test('on a full disk, started again or not, reads, signs in and deletes, and so recovers', async () => {
    const files: string[] = []
    for (let count = 0; count < 3; count += 1) files.push(await site.upload(randomBytes(2 * megabyte)))
    await site.disk.fill(0)
    expect(await post('no room')).toBe('503 E-UNAVAILABLE')
    for (const fileId of files) {
      expect(await site.upload(randomBytes(1000))).toBe('507 E-QUOTA')
      await site.signIn()
      expect((await site.send('DELETE', `/api/files/${fileId}`)).status).toBe(200)
      await site.restart()
      expect((await site.send('GET', `/api/files/${fileId}/metadata`)).status).toBe(200)
    }
    expect((await site.send('DELETE', '/api/trash')).status).toBe(200)
    await site.pass(1_800_000)
    expect(await post('there is room')).not.toMatch(/ E-/)
    expect(await site.usage()).toMatchObject({ files: 0, usedBytes: 0 })
  })
}

if (canMount()) {
  describe('A disk that is full under everything', underEverything)
  describe('A disk that is full under the files', () => {
    describe('A disk that is full under the files', underFiles)
  })
  describe('A disk of which a part is kept for the database', withReserve)
} else {
  skipSuite('A disk that is full', 'needs a machine that lets users mount')
}
