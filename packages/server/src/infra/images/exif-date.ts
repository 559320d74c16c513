const exifPointer = 0x8769
const original = { date: 0x9003, offset: 0x9011 }
const digitized = { date: 0x9004, offset: 0x9012 }
// Cameras write some dozens; a directory can claim 65 535.
const maxTags = 512

interface Directory {
  readonly texts: ReadonlyMap<number, string>
  readonly pointers: ReadonlyMap<number, number>
}

/** When a picture was taken, Unix seconds, by the EXIF block of a file. The camera's clock is read in the zone
 * that the block names, else in UTC. Negative before 1970. Undefined without a date, or with one before photography. */
export function readTakenAt(exif: Buffer): number | undefined {
  const tiff = exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif
  const order = tiff.toString('latin1', 0, 2)
  if (tiff.length < 8 || (order !== 'II' && order !== 'MM')) return undefined
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.length)
  const isLittle = order === 'II'
  const main = readDirectory(view, view.getUint32(4, isLittle), isLittle)
  const pointer = main.pointers.get(exifPointer)
  if (pointer === undefined) return undefined
  const { texts } = readDirectory(view, pointer, isLittle)
  for (const { date, offset } of [original, digitized]) {
    const taken = momentOf(texts.get(date), texts.get(offset))
    if (taken !== undefined) return taken
  }
  return undefined
}

const asciiType = 2
const longType = 4

/** The texts and the pointers of one directory; what lies outside of the block is left out. */
function readDirectory(view: DataView, start: number, isLittle: boolean): Directory {
  const texts = new Map<number, string>()
  const pointers = new Map<number, number>()
  if (start + 2 > view.byteLength) return { texts, pointers }
  const count = Math.min(view.getUint16(start, isLittle), maxTags)
  for (let at = start + 2; at + 12 <= Math.min(view.byteLength, start + 2 + count * 12); at += 12) {
    const tag = view.getUint16(at, isLittle)
    const type = view.getUint16(at + 2, isLittle)
    const length = view.getUint32(at + 4, isLittle)
    if (type === longType && length === 1) pointers.set(tag, view.getUint32(at + 8, isLittle))
    if (type !== asciiType || length > 64) continue
    const place = length <= 4 ? at + 8 : view.getUint32(at + 8, isLittle)
    if (place + length <= view.byteLength)
      texts.set(tag, Buffer.from(view.buffer, view.byteOffset + place, length).toString('latin1'))
  }
  return { texts, pointers }
}

const dateForm = /^(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)\0*\s*$/
// The first second of a clock that was never set.
const unsetClocks: ReadonlySet<string> = new Set(['1904-01-01T00:00:00', '1970-01-01T00:00:00'])
// The first photograph that is kept is of the year 1826; programs write the year 1 for none.
const firstPhoto = Date.UTC(1826) / 1000
const offsetForm = /^([+-])(\d\d):(\d\d)/

function momentOf(date = '', offset = ''): number | undefined {
  const [, year, month, day, hour, minute, second] = dateForm.exec(date) ?? []
  if (year === undefined) return undefined
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  const ms = Date.parse(`${text}Z`)
  // A day that no month has is taken for one of the next.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text)) return undefined
  const taken = ms / 1000 - offsetSecs(offset)
  return unsetClocks.has(text) || taken < firstPhoto ? undefined : taken
}

function offsetSecs(offset: string): number {
  const [, sign, hours, minutes] = offsetForm.exec(offset) ?? []
  // UTC+14 is the furthest zone.
  if (sign === undefined || Number(hours) > 14 || Number(minutes) > 59) return 0
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60)
}
