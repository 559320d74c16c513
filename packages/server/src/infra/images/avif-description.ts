import { boxesOf, knownBoxes, NumberReader, type Span } from './avif-boxes.ts'

/** Where the bytes of the picture are that an AVIF file describes. */
export interface AvifDescription {
  readonly inFile: readonly Span[]
  /** In the data of the description itself. */
  readonly inData: readonly Span[]
  readonly dataBytes: number
}

/** Larger ones are not read: a picture of a thousand tiles has some 40 KiB. */
export const maxDescriptionBytes = 64 * 1024

// Without sizes of their numbers some bytes could list billions.
const maxPlaces = 4096
const any = maxDescriptionBytes
const parts = knownBoxes({
  ...{ hdlr: 64, dinf: 28, pitm: 8, iloc: any, iinf: any, iprp: any, iref: any, idat: any },
})
const propertyLists = knownBoxes({ ipco: any, ipma: any })
// Size, colours, codec, transparency and orientation (ISO/IEC 23008-12, AV1 Image File Format).
const properties = knownBoxes({
  ...{ ispe: 12, pixi: 9, av1C: 64, colr: any, auxC: 64, irot: 1, imir: 1, pasp: 8, clap: 32 },
  ...{ a1op: 1, a1lx: 17, lsel: 2, clli: 4, mdcv: 24 },
})
const alphaForms = ['urn:mpeg:mpegB:cicp:systems:auxiliary:alpha', 'urn:mpeg:hevc:2015:auxid:1']
const itemTypes = new Set(['av01', 'grid'])
// What libraries write there by themselves.
const itemNames = new Set(['', 'Color', 'Alpha'])
const handlerNames = new Set(['', 'libavif', 'PictureHandler'])

/** Reads a `meta` box. Undefined where it is malformed or describes anything but one picture with its tiles, its
 * transparency and the properties that a decoder needs. */
export function readAvifDescription(meta: Buffer): AvifDescription | undefined {
  const boxes = boxesOf(meta.subarray(4), parts)
  const contents = new Map(boxes?.map(({ type, content }) => [type, content]))
  // Of each there is one.
  if (!boxes || boxes.length !== contents.size) return undefined
  const contentOf = (type: string) => contents.get(type) ?? Buffer.alloc(0)
  const isPlain = handlerNames.has(textOf(contentOf('hdlr'), 24)) && hasPlainProperties(contentOf('iprp'))
  const items = readItems(contentOf('iinf'))
  const references = readReferences(contentOf('iref'))
  if (!isPlain || !items || !references) return undefined
  if (!areOnePicture(items, references, idOf(contentOf('pitm')))) return undefined
  const data = contentOf('idat')
  const places = readPlaces(contentOf('iloc'))
  return places && { ...places, dataBytes: data.length }
}

/** The text that fills the bytes from this place on, without the zero at its end. */
function textOf(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at).replace(/\0$/, '')
}

function hasPlainProperties(iprp: Buffer): boolean {
  const lists = boxesOf(iprp, propertyLists)
  return (
    lists?.every(({ type, content }) => {
      if (type === 'ipma') return true
      const found = boxesOf(content, properties)
      return found?.every(({ type, content }) => type !== 'auxC' || alphaForms.includes(textOf(content, 4)))
    }) ?? false
  )
}

/** The ids of the items, of which each is a picture or a part of one, without a name of its own. */
function readItems(iinf: Buffer): number[] | undefined {
  const entries = boxesOf(iinf.subarray(iinf[0] === 0 ? 6 : 8), knownBoxes({ infe: 64 }))
  const ids = entries?.map(({ content }) => {
    const [version] = content
    const reader = new NumberReader(content, 4)
    const id = reader.take(version === 2 ? 2 : 4)
    reader.take(2)
    const about = reader.rest()
    const isPlain =
      (version === 2 || version === 3) &&
      itemTypes.has(about.toString('latin1', 0, 4)) &&
      itemNames.has(textOf(about, 4))
    return isPlain ? id : Number.NaN
  })
  return ids?.some(Number.isNaN) ? undefined : ids
}

interface Reference {
  readonly type: string
  readonly from: number
  readonly to: readonly number[]
}

/** The references between items: from a picture to its tiles (`dimg`), from a transparency to its picture (`auxl`). */
function readReferences(iref: Buffer): Reference[] | undefined {
  const idSize = iref[0] === 0 ? 2 : 4
  const boxes = boxesOf(iref.subarray(4), knownBoxes({ dimg: any, auxl: any, prem: 16 }))
  return boxes?.map(({ type, content }) => {
    const reader = new NumberReader(content, 0)
    const from = reader.take(idSize)
    const count = Math.min(reader.take(2), content.length)
    return { type, from, to: Array.from({ length: count || 0 }, () => reader.take(idSize)) }
  })
}

function idOf(pitm: Buffer): number {
  return new NumberReader(pitm, 4).take(pitm[0] === 0 ? 2 : 4)
}

/** Whether all items belong to the primary one: its tiles, its transparency, and the tiles of that. */
function areOnePicture(items: readonly number[], references: readonly Reference[], primary: number): boolean {
  const isTransparency = ({ type, to }: Reference) => type === 'auxl' && to.includes(primary)
  const whole = new Set([primary, ...references.filter(isTransparency).map(({ from }) => from)])
  const tiles = references
    .filter(({ type, from }) => type === 'dimg' && whole.has(from))
    .flatMap(({ to }) => to)
  const belonging = new Set([...whole, ...tiles])
  return items.includes(primary) && items.every((item) => belonging.has(item))
}

/** ISO/IEC 14496-12, 8.11.3. */
function readPlaces(iloc: Buffer): Pick<AvifDescription, 'inFile' | 'inData'> | undefined {
  const version = iloc[0] ?? 0
  const reader = new NumberReader(iloc, 4)
  const sizes = reader.take(2)
  const [offsetSize, lengthSize, baseSize] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15]
  const indexSize = version === 0 ? 0 : sizes & 15
  const idSize = version < 2 ? 2 : 4
  const found: { readonly inFile: Span[]; readonly inData: Span[] } = { inFile: [], inData: [] }
  let places = 0
  const items = reader.take(idSize)
  for (let item = 0; item < items; item += 1) {
    reader.take(idSize)
    const method = version === 0 ? 0 : reader.take(2) & 15
    // The file in which it is: always this one.
    reader.take(2)
    const base = reader.take(baseSize)
    const extents = reader.take(2)
    for (let extent = 0; extent < extents; extent += 1) {
      reader.take(indexSize)
      const start = base + reader.take(offsetSize)
      const end = start + reader.take(lengthSize)
      places += 1
      if (Number.isNaN(end) || places > maxPlaces) return undefined
      const where = [found.inFile, found.inData][method]
      where?.push({ start, end })
    }
    if (Number.isNaN(extents)) return undefined
  }
  return reader.isAtEnd() ? found : undefined
}
