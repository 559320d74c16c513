import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BlobHash, type BlobStore, isBlobHash } from '#infra/blobs/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { TestClock } from './test-clock.ts'

const alice = 1 as TenantId
const bob = 2 as TenantId
const unlimited = { maxBytes: Number.MAX_SAFE_INTEGER }

/** What every blob store does. `open` gives an empty store that the caller of the suite removes. One with `ownClock`
 * tells ages by the clock of another machine. */
export function blobStoreContract(
  name: string,
  open: (clock: TestClock) => Promise<BlobStore>,
  { ownClock = false }: { readonly ownClock?: boolean } = {},
): void {
  describe(name, () => {
    describe('staging', () => staging(open))
    describe('keeping', () => keeping(open))
    describe('ages', () => (ownClock ? agesByOwnClock(open) : agesByClock(open)))
    describe('reading', () => reading(open))
    describe('removing', () => removing(open))
  })
}

type Open = (clock: TestClock) => Promise<BlobStore>

export async function* chunksOf(...chunks: readonly (Uint8Array | string)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}

export async function keptBlob(store: BlobStore, tenantId: TenantId, content: string): Promise<BlobHash> {
  const staged = await store.stage(tenantId, chunksOf(content), unlimited)
  await staged.keep()
  return staged.hash
}

const hashOf = (content: string | Uint8Array) =>
  createHash('sha256').update(content).digest('hex') as BlobHash

async function listed(store: BlobStore, tenantId: TenantId): Promise<BlobHash[]> {
  const hashes: BlobHash[] = []
  for await (const { hash } of store.list(tenantId)) hashes.push(hash)
  return hashes.sort()
}

async function expectNothing(store: BlobStore): Promise<void> {
  expect(await listed(store, alice)).toEqual([])
  expect(await store.sweepStaged(-1e15)).toBe(0)
}

function staging(open: Open): void {
  test('hashes and counts what arrives in pieces of any size', async () => {
    const store = await open(new TestClock())
    const pieces = fc.array(fc.uint8Array({ maxLength: 6000 }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(pieces, async (chunks) => {
        const whole = Buffer.concat(chunks)
        const staged = await store.stage(alice, chunksOf(...chunks), unlimited)
        expect(staged.hash).toBe(hashOf(whole))
        expect(staged.size).toBe(whole.length)
        expect(Buffer.from(staged.head)).toEqual(whole.subarray(0, 4100))
        await staged.discard()
      }),
      { numRuns: 30 },
    )
  })

  test('lets another process read the bytes before they are kept', async () => {
    const store = await open(new TestClock())
    const staged = await store.stage(alice, chunksOf('a ', 'picture'), unlimited)
    expect(await readFile(staged.path, 'utf8')).toBe('a picture')
    await staged.discard()
  })

  test('takes exactly as many bytes as allowed, and nothing', async () => {
    const store = await open(new TestClock())
    const full = await store.stage(alice, chunksOf('123', '45'), { maxBytes: 5 })
    const empty = await store.stage(alice, chunksOf(), { maxBytes: 0 })
    expect([full.size, empty.size, empty.head.length]).toEqual([5, 0, 0])
    await Promise.all([full.keep(), empty.keep()])
    expect(await store.size(alice, hashOf(''))).toBe(0)
  })

  test('refuses one byte more, asks for no more, and leaves nothing', async () => {
    const store = await open(new TestClock())
    let asked = 0
    let returned = false
    async function* endless() {
      try {
        while (true) {
          asked++
          yield Buffer.from('1234')
        }
      } finally {
        returned = true
      }
    }
    const staged = store.stage(alice, endless(), { maxBytes: 11 })
    await expect(staged).rejects.toMatchObject({ code: 'E-TOOLARGE', details: { maxBytes: 11 } })
    expect({ asked, returned }).toEqual({ asked: 3, returned: true })
    await expectNothing(store)
  })

  test('leaves nothing when the source fails, and tells its error', async () => {
    const store = await open(new TestClock())
    async function* broken() {
      yield Buffer.from('half')
      throw new Error('The client went away')
    }
    await expect(store.stage(alice, broken(), unlimited)).rejects.toThrow('The client went away')
    await expectNothing(store)
  })

  test('leaves nothing when it is aborted while the source hangs', async () => {
    const store = await open(new TestClock())
    const controller = new AbortController()
    async function* hanging() {
      yield Buffer.from('half')
      setImmediate(() => controller.abort(new Error('Given up')))
      await new Promise(() => undefined)
    }
    const staged = store.stage(alice, hanging(), { ...unlimited, signal: controller.signal })
    await expect(staged).rejects.toThrow('Given up')
    await expectNothing(store)
  })

  test('does not begin when it is aborted already', async () => {
    const store = await open(new TestClock())
    const signal = AbortSignal.abort(new Error('Given up'))
    await expect(store.stage(alice, chunksOf('x'), { ...unlimited, signal })).rejects.toThrow('Given up')
    await expectNothing(store)
  })

  test('takes one piece at a time from the source', async () => {
    const store = await open(new TestClock())
    let ahead = 0
    let mostAhead = 0
    const source: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => {
        let left = 50
        return {
          next: async () => {
            mostAhead = Math.max(mostAhead, ++ahead)
            await new Promise(setImmediate)
            ahead--
            return left-- > 0 ? { value: Buffer.alloc(1000), done: false } : { value: undefined, done: true }
          },
        }
      },
    }
    const staged = await store.stage(alice, source, unlimited)
    expect({ size: staged.size, mostAhead }).toEqual({ size: 50_000, mostAhead: 1 })
    await staged.discard()
  })
}

function keeping(open: Open): void {
  test('gives the bytes their name inside the tenant and nowhere else', async () => {
    const store = await open(new TestClock())
    const hash = await keptBlob(store, alice, 'hello')
    expect(hash).toBe(hashOf('hello'))
    expect([await store.size(alice, hash), await store.size(bob, hash)]).toEqual([5, undefined])
    expect(await store.open(bob, hash)).toBeUndefined()
    expect(await listed(store, bob)).toEqual([])
  })

  test('shows nothing before it, and leaves nothing after a discard', async () => {
    const store = await open(new TestClock())
    const staged = await store.stage(alice, chunksOf('hello'), unlimited)
    expect(await store.size(alice, staged.hash)).toBeUndefined()
    await staged.discard()
    await expectNothing(store)
  })

  test('stores identical bytes of a tenant once, also when they arrive at the same time', async () => {
    const store = await open(new TestClock())
    const both = await Promise.all([1, 2].map(() => store.stage(alice, chunksOf('same'), unlimited)))
    await Promise.all(both.map((staged) => staged.keep()))
    await keptBlob(store, alice, 'same')
    expect(await listed(store, alice)).toEqual([hashOf('same')])
    expect(await store.sweepStaged(-1e15)).toBe(0)
    expect(await contentOf(store, hashOf('same'))).toBe('same')
  })

  test('leaves a kept blob alone on a late discard', async () => {
    const store = await open(new TestClock())
    const staged = await store.stage(alice, chunksOf('hello'), unlimited)
    await staged.keep()
    await staged.discard()
    expect(await store.size(alice, staged.hash)).toBe(5)
  })
}

async function keptAt(store: BlobStore): Promise<number> {
  await keptBlob(store, alice, 'same')
  const [blob] = await Array.fromAsync(store.list(alice))
  return blob?.modifiedAtMs ?? 0
}

function agesByClock(open: Open): void {
  test('are told by the clock, and a blob that was there already counts as new', async () => {
    const clock = new TestClock()
    const store = await open(clock)
    const first = await keptAt(store)
    expect(Math.abs(first - clock.now())).toBeLessThan(2000)
    clock.advance(3_600_000)
    expect(Math.abs((await keptAt(store)) - clock.now())).toBeLessThan(2000)
  })
}

function agesByOwnClock(open: Open): void {
  test('are those of today, and a blob that was there already counts as new', async () => {
    const store = await open(new TestClock())
    const first = await keptAt(store)
    expect(Math.abs(first - Date.now())).toBeLessThan(86_400_000)
    // Such clocks may know whole seconds only.
    await expect.poll(() => keptAt(store)).toBeGreaterThan(first)
  })
}

const contentOf = async (store: BlobStore, hash: BlobHash) =>
  (await buffer((await store.open(alice, hash))!)).toString()

function reading(open: Open): void {
  test('gives back any range', async () => {
    const store = await open(new TestClock())
    const content = 'x'.repeat(70_000) + 'y'.repeat(300_000)
    const hash = await keptBlob(store, alice, content)
    expect(await contentOf(store, hash)).toBe(content)
    const index = fc.nat(content.length - 1)
    await fc.assert(
      fc.asyncProperty(index, index, async (one, other) => {
        const [start, end] = [Math.min(one, other), Math.max(one, other)]
        const part = await buffer((await store.open(alice, hash, { start, end }))!)
        expect(part.toString()).toBe(content.slice(start, end + 1))
      }),
      { numRuns: 20 },
    )
  })

  test('finds nothing under an unknown name', async () => {
    const store = await open(new TestClock())
    const hash = hashOf('nobody stored this')
    expect(await store.open(alice, hash)).toBeUndefined()
    expect(await store.size(alice, hash)).toBeUndefined()
    expect(await store.openLocal(alice, hash)).toBeUndefined()
  })

  test('lends a file that another process can read', async () => {
    const store = await open(new TestClock())
    const hash = await keptBlob(store, alice, 'a picture')
    await using local = (await store.openLocal(alice, hash))!
    expect(await readFile(local.path, 'utf8')).toBe('a picture')
  })

  test('lists every blob with its size', async () => {
    const store = await open(new TestClock())
    const contents = Array.from({ length: 40 }, (_, index) => `blob ${index}`)
    await Promise.all(contents.map((content) => keptBlob(store, alice, content)))
    const blobs = await Array.fromAsync(store.list(alice))
    expect(blobs.map(({ hash }) => hash).sort()).toEqual(contents.map(hashOf).sort())
    for (const { hash, size } of blobs) {
      expect(size).toBe(await store.size(alice, hash))
    }
  })

  test.each([
    '',
    '../../etc/passwd',
    'AB'.repeat(32),
    'ab'.repeat(31),
    `${'ab'.repeat(31)}/.`,
    `${'ab'.repeat(32)}\n`,
  ])('refuses a name that is no hash: %j', async (name) => {
    const store = await open(new TestClock())
    const hash = name as BlobHash
    expect(isBlobHash(name)).toBe(false)
    await expect(store.open(alice, hash)).rejects.toThrow(TypeError)
    await expect(store.size(alice, hash)).rejects.toThrow(TypeError)
    await expect(store.openLocal(alice, hash)).rejects.toThrow(TypeError)
    await expect(store.remove(alice, hash)).rejects.toThrow(TypeError)
  })

  test.each([1.5, -1, Number.NaN, '../2' as unknown as number])(
    'refuses a tenant that is no whole number: %s',
    async (number) => {
      const store = await open(new TestClock())
      await expect(store.size(number as TenantId, hashOf('x'))).rejects.toThrow(TypeError)
      await expect(Array.fromAsync(store.list(number as TenantId))).rejects.toThrow(TypeError)
      await expect(store.stage(number as TenantId, chunksOf('x'), unlimited)).rejects.toThrow(TypeError)
      await expectNothing(store)
    },
  )
}

function removing(open: Open): void {
  test('removes one blob of one tenant, and what is not there without complaint', async () => {
    const store = await open(new TestClock())
    const hash = await keptBlob(store, alice, 'shared')
    await keptBlob(store, bob, 'shared')
    await store.remove(alice, hash)
    await store.remove(alice, hash)
    expect([await store.size(alice, hash), await store.size(bob, hash)]).toEqual([undefined, 6])
  })

  test('removes everything of one tenant and tells how much', async () => {
    const store = await open(new TestClock())
    await keptBlob(store, alice, 'one')
    await keptBlob(store, alice, 'two')
    await keptBlob(store, bob, 'one')
    expect(await store.removeTenant(alice)).toBe(2)
    expect(await store.removeTenant(alice)).toBe(0)
    expect([await listed(store, alice), await listed(store, bob)]).toEqual([[], [hashOf('one')]])
  })

  test('lets a reader that has begun come to the end', async () => {
    const store = await open(new TestClock())
    const hash = await keptBlob(store, alice, 'z'.repeat(600_000))
    const stream = (await store.open(alice, hash))!
    await store.remove(alice, hash)
    expect((await buffer(stream)).length).toBe(600_000)
  })

  test('sweeps nothing that this process has staged', async () => {
    const clock = new TestClock()
    const store = await open(clock)
    const staged = await store.stage(alice, chunksOf('still mine'), unlimited)
    clock.advance(3_600_000)
    expect(await store.sweepStaged(0)).toBe(0)
    await staged.keep()
    expect(await store.size(alice, staged.hash)).toBe(10)
  })
}
