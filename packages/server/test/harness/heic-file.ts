import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pictures } from './image-desk.ts'

const number = (bytes: 1 | 2 | 4, value: number) => {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUIntBE(value, 0, bytes)
  return buffer
}

/** A box of ISO/IEC 14496-12; `claimed` is a length that it only claims. */
export function box(type: string, content: readonly Uint8Array[], claimed?: number): Buffer {
  const body = Buffer.concat(content)
  return Buffer.concat([number(4, claimed ?? 8 + body.length), Buffer.from(type, 'latin1'), body])
}

const fullBox = (type: string, version: number, content: readonly Uint8Array[]) =>
  box(type, [number(4, version * 2 ** 24), ...content])

/** The coded picture of the committed HEIC file, 600×400 as it is stored, and what configures its decoder. */
function tile() {
  const file = readFileSync(join(pictures, 'phone.heic'))
  const boxAt = (type: string) => {
    const at = file.indexOf(type, 0, 'latin1') - 4
    return file.subarray(at, at + file.readUInt32BE(at))
  }
  const data = boxAt('mdat').subarray(8)
  // Behind the picture stands the EXIF block, with four bytes before it.
  return { configuration: boxAt('hvcC'), data: data.subarray(0, data.indexOf('Exif\0\0', 0, 'latin1') - 4) }
}

export interface GridOptions {
  readonly rows: number
  readonly columns: number
  /** The size that the grid claims. */
  readonly width: number
  readonly height: number
  /** How many pictures there are; as many as the grid has places when absent. */
  readonly items?: number
  /** The grid is made of itself. */
  readonly ofItself?: boolean
}

/** A HEIC file whose picture is a grid of others, all of them the same bytes. */
export function gridHeic({
  rows,
  columns,
  width,
  height,
  items = rows * columns,
  ofItself,
}: GridOptions): Buffer {
  const { configuration, data } = tile()
  const ids = Array.from({ length: items }, (_, index) => index + 2)
  const entry = (id: number, type: string) =>
    fullBox('infe', 2, [number(2, id), number(2, 0), Buffer.from(`${type}\0`, 'latin1')])
  const grid = Buffer.concat([
    Buffer.from([0, 0, rows - 1, columns - 1]),
    number(2, width),
    number(2, height),
  ])
  const properties = [
    fullBox('ispe', 0, [number(4, width), number(4, height)]),
    fullBox('ispe', 0, [number(4, 600), number(4, 400)]),
    configuration,
  ]
  const associations = [1, ...ids].map((id) =>
    Buffer.concat([number(2, id), ...(id === 1 ? [Buffer.from([1, 1])] : [Buffer.from([2, 2, 0x83])])]),
  )
  const places = rows * columns
  const parts = Array.from({ length: places }, (_, index) => (ofItself ? 1 : (ids[index % items] ?? 1)))
  const meta = (dataAt: number) =>
    fullBox('meta', 0, [
      fullBox('hdlr', 0, [number(4, 0), Buffer.from('pict'), Buffer.alloc(13)]),
      fullBox('pitm', 0, [number(2, 1)]),
      fullBox('iinf', 0, [number(2, 1 + items), entry(1, 'grid'), ...ids.map((id) => entry(id, 'hvc1'))]),
      fullBox('iref', 0, [
        box('dimg', [number(2, 1), number(2, places), ...parts.map((id) => number(2, id))]),
      ]),
      box('iprp', [
        box('ipco', properties),
        fullBox('ipma', 0, [number(4, associations.length), ...associations]),
      ]),
      fullBox('iloc', 1, [
        Buffer.from([0x44, 0]),
        number(2, 1 + items),
        // The grid lies in the box `idat`, the others in the file.
        ...[number(2, 1), number(2, 1), number(2, 0), number(2, 1), number(4, 0), number(4, grid.length)],
        ...ids.flatMap((id) => [
          number(2, id),
          number(2, 0),
          number(2, 0),
          number(2, 1),
          number(4, dataAt),
          number(4, data.length),
        ]),
      ]),
      box('idat', [grid]),
    ])
  const start = box('ftyp', [Buffer.from('heic\0\0\0\0mif1heic', 'latin1')])
  const dataAt = start.length + meta(0).length + 8
  return Buffer.concat([start, meta(dataAt), box('mdat', [data])])
}
