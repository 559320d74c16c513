import fc from 'fast-check'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { readTakenAt } from './exif-date.ts'

const date = 'DateTimeOriginal'
const offset = 'OffsetTimeOriginal'

/** The EXIF block that a picture with these tags has. */
async function exifOf(tags: Record<string, string>, IFD0: Record<string, string> = {}): Promise<Buffer> {
  const jpeg = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
    .withExif({ IFD0: { Make: 'Kith', ...IFD0 }, IFD2: tags })
    .jpeg()
    .toBuffer()
  const { exif } = await sharp(jpeg).metadata()
  if (!exif) throw new Error('no EXIF block was written')
  return exif
}

const secs = (iso: string) => Date.parse(iso) / 1000

test.each([
  [{ [date]: '2024:07:01 14:30:05' }, secs('2024-07-01T14:30:05Z')],
  [{ [date]: '2024:07:01 14:30:05', [offset]: '+02:00' }, secs('2024-07-01T12:30:05Z')],
  [{ [date]: '2024:01:01 00:10:00', [offset]: '-09:30' }, secs('2024-01-01T09:40:00Z')],
  [{ [date]: '2024:01:01 00:10:00', [offset]: '+99:00' }, secs('2024-01-01T00:10:00Z')],
  [{ [date]: '2024:01:01 00:10:00', [offset]: 'nine' }, secs('2024-01-01T00:10:00Z')],
  [{ [date]: '1954:07:04 17:30:00', [offset]: '+02:00' }, secs('1954-07-04T15:30:00Z')],
  [{ [date]: '1826:06:01 12:00:00' }, secs('1826-06-01T12:00:00Z')],
  [{ [date]: '1970:01:01 00:30:00', [offset]: '+01:00' }, -1800],
  [{ DateTimeDigitized: '2020:02:29 08:00:00', OffsetTimeDigitized: '+01:00' }, secs('2020-02-29T07:00:00Z')],
  [{ [date]: '0000:00:00 00:00:00', DateTimeDigitized: '2020:02:29 08:00:00' }, secs('2020-02-29T08:00:00Z')],
])('%j is %i', async (tags, expected) => {
  expect(readTakenAt(await exifOf(tags))).toBe(expected)
})

test.each([
  '0000:00:00 00:00:00',
  '    :  :     :  :  ',
  '0001:01:01 00:00:00',
  '1825:12:31 23:59:59',
  '1904:01:01 00:00:00',
  '1970:01:01 00:00:00',
  '2023:02:29 08:00:00',
  '2023:13:01 08:00:00',
  '2023:01:01 25:00:00',
  '2023-01-01 08:00:00',
  '2023:01:01',
  'yesterday',
])('%j is no moment', async (text) => {
  expect(readTakenAt(await exifOf({ [date]: text }))).toBeUndefined()
})

test('when a program changed the picture is not when it was taken', async () => {
  expect(readTakenAt(await exifOf({}, { DateTime: '2024:07:01 14:30:05' }))).toBeUndefined()
})

test('whatever the bytes are, it is a moment or nothing', async () => {
  const exif = await exifOf({ [date]: '2024:07:01 14:30:05', [offset]: '+02:00' })
  expect(readTakenAt(Buffer.alloc(0))).toBeUndefined()
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(exif.length), fc.nat(255), (bytes, at, value) => {
      const changed = Buffer.from(exif)
      changed.set([value, value], Math.min(at, changed.length - 2))
      for (const block of [bytes, changed, exif.subarray(0, at)]) {
        const taken = readTakenAt(Buffer.from(block))
        expect(taken === undefined || Number.isInteger(taken)).toBe(true)
      }
    }),
  )
})
