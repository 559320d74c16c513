import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { box, gridHeic } from '#harness/heic-file.ts'
import { ImageDesk, isRunning, pictures } from '#harness/image-desk.ts'
import { sniffType } from '#infra/media/index.ts'

let desk: ImageDesk

beforeAll(async () => {
  desk = await ImageDesk.open()
})
afterAll(() => desk[Symbol.asyncDispose]())

const phone = () => readFile(join(pictures, 'phone.heic'))
const processed = async (name: string, bytes: Uint8Array, limited = desk) =>
  await limited.process(await limited.original(name, bytes))

describe('HEIC', () => {
  test('is put upright and shown without what it says beside its pixels', async () => {
    const { original, outputs } = await desk.made('phone.heic')
    const takenAt = Date.UTC(2024, 6, 1, 12, 30) / 1000
    expect(original).toEqual({ width: 400, height: 600, format: 'heic', frames: 1, takenAt })
    expect(outputs.map((o) => [o.variant, o.width, o.height])).toEqual([
      ['hd', 400, 600],
      ['tn', 100, 150],
      ['ic', 43, 64],
    ])
    for (const { path } of outputs) {
      const { exif, xmp, format } = await sharp(path).metadata()
      expect([exif, xmp, format]).toEqual([undefined, undefined, 'webp'])
    }
    const { data, info } = await sharp(outputs[0]?.path).raw().toBuffer({ resolveWithObject: true })
    const at = (x: number, y: number) => [
      ...data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3),
    ]
    const near = (colour: number[]) => colour.map((channel) => Math.round(channel / 32) * 32)
    expect([at(100, 150), at(300, 150), at(100, 450), at(300, 450)].map(near)).toEqual(
      [
        [220, 0, 0],
        [0, 160, 0],
        [0, 0, 220],
        [240, 220, 0],
      ].map(near),
    )
  })

  test('is cut for a profile, and reduced to a thumbnail', async () => {
    for (const [preset, variants] of [
      ['profile-picture', ['orig', 'tn', 'ic']],
      ['thumbnail-only', ['tn', 'ic']],
    ] as const) {
      const { outputs } = await desk.made('phone.heic', { preset })
      expect(outputs.map(({ variant }) => variant)).toEqual(variants)
    }
  })

  test('of several pictures side by side, as phones write it, is one', async () => {
    const bytes = gridHeic({ rows: 2, columns: 2, width: 1200, height: 800 })
    expect((await sniffType(bytes.subarray(0, 4100))).contentType).toBe('image/heic')
    const result = await processed('grid.heic', bytes)
    expect(result).toMatchObject({ kind: 'made', original: { width: 1200, height: 800 } })
  })

  test('leaves nothing behind in the memory of the worker', async () => {
    await using own = await ImageDesk.open({ maxWorkers: 1 })
    await own.made('phone.heic')
    expect(isRunning(own.pids[0]!)).toBe(false)
    await own.made('still.webp')
    expect(own.pids).toHaveLength(2)
  })
})

describe('A hostile HEIC file has no variants, and the next picture has', () => {
  const damaged = 'The picture is damaged.'
  const tooMany = 'The picture has too many pixels.'
  const cases: [name: string, bytes: () => Promise<Buffer> | Buffer, reasons: string[]][] = [
    ['cut off in its pixels', async () => (await phone()).subarray(0, 700), [damaged]],
    ['cut off in its boxes', async () => (await phone()).subarray(0, 200), [damaged]],
    [
      'a grid of 30 000 × 30 000',
      () => gridHeic({ rows: 1, columns: 1, width: 30_000, height: 30_000 }),
      [tooMany],
    ],
    [
      'a grid that lacks parts',
      () => gridHeic({ rows: 200, columns: 40, width: 9000, height: 9000, items: 1 }),
      [damaged],
    ],
    [
      'a grid of itself',
      () => gridHeic({ rows: 2, columns: 2, width: 1200, height: 800, ofItself: true }),
      [damaged],
    ],
    [
      '30 000 items',
      () => gridHeic({ rows: 1, columns: 1, width: 600, height: 400, items: 30_000 }),
      [damaged],
    ],
    [
      'a box longer than the file',
      async () =>
        Buffer.concat([(await phone()).subarray(0, 28), box('meta', [Buffer.alloc(100)], 0xfffffff0)]),
      [damaged],
    ],
    [
      'boxes in boxes in boxes',
      () => {
        let nested = box('free', [])
        for (let depth = 0; depth < 2000; depth++) nested = box('iprp', [nested])
        return Buffer.concat([box('ftyp', [Buffer.from('heic\0\0\0\0mif1heic', 'latin1')]), nested])
      },
      [damaged],
    ],
  ]

  test.each(cases)('%s', async (name, bytes, reasons) => {
    const result = await processed(`${name.replaceAll(/\W/g, '-')}.heic`, await bytes())
    expect(result.kind).toBe('unprocessable')
    expect(reasons).toContain(result.kind === 'unprocessable' && result.reason)
  })

  test('one that takes more memory than it may', async () => {
    await using small = await ImageDesk.open({ maxMemoryBytes: 300 * 1024 * 1024 })
    const huge = gridHeic({ rows: 15, columns: 16, width: 9600, height: 6000 })
    const reason = 'Reading the picture takes too much memory.'
    expect(await processed('huge.heic', huge, small)).toEqual({ kind: 'unprocessable', reason })
    expect(await small.process('orientation-6.jpg')).toMatchObject({ kind: 'made' })
  })

  test('one that takes too long', async () => {
    await using hasty = await ImageDesk.open({ timeLimitMs: 200 })
    const large = gridHeic({ rows: 20, columns: 12, width: 7200, height: 8000 })
    const reason = 'Reading the picture takes too long.'
    expect(await processed('large.heic', large, hasty)).toEqual({ kind: 'unprocessable', reason })
  })

  test('and whatever bytes are turned over', async () => {
    const bytes = await phone()
    const places = [130, 240, 425, 40, 90, 200, 300, 352, 400, 500]
    for (const at of places) {
      const changed = Buffer.from(bytes)
      changed[at] = 255 - (changed[at] ?? 0)
      expect((await processed(`turned-${at}.heic`, changed)).kind).toMatch(/^(made|unprocessable)$/)
    }
    expect(await desk.process('still.webp')).toMatchObject({ kind: 'made' })
  })
})
