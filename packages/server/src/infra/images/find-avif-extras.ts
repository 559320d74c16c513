import type { PictureFile } from './picture-file.ts'

interface Box {
  readonly type: string
  /** Where its content begins, and where it ends. */
  readonly start: number
  readonly end: number
}

// What describes a picture takes some hundred bytes.
const maxDescribedBytes = 32 * 1024
// A picture of a thousand tiles has as many items.
const maxBoxes = 4096
const topBoxes = new Set(['ftyp', 'meta', 'mdat'])
const metaBoxes = new Set(['hdlr', 'pitm', 'iloc', 'iinf', 'iprp', 'iref', 'idat'])
// Size, colours, codec, transparency and orientation (ISO/IEC 23008-12, AV1 Image File Format).
const properties = new Set(
  'ispe pixi av1C colr auxC irot imir pasp clap a1op a1lx lsel clli mdcv cclv'.split(' '),
)
const itemTypes = new Set(['av01', 'grid'])
// What libraries write there by themselves.
const itemNames = new Set(['', 'Color', 'Alpha'])
const handlerNames = new Set(['', 'libavif', 'PictureHandler'])

/** Does an AVIF file hold more than one picture, its transparency and what is needed to show it? Bytes that belong to no
 * part of the picture are more. */
export async function hasAvifExtras(file: PictureFile): Promise<boolean> {
  const boxes = await boxesIn(file, { start: 0, end: file.size }, topBoxes)
  const [meta, ...others] = boxes?.filter(({ type }) => type === 'meta') ?? []
  const parts = meta && (await boxesIn(file, { start: meta.start + 4, end: meta.end }, metaBoxes))
  if (!boxes || !parts || others.length > 0) return true
  for (const part of parts) if (await hasMore(file, part)) return true
  const held = [...boxes, ...parts].filter(({ type }) => type === 'mdat' || type === 'idat')
  const bytes = held.reduce((sum, { start, end }) => sum + end - start, 0)
  const [places, ...more] = parts.filter(({ type }) => type === 'iloc')
  return !places || more.length > 0 || placedBytes(await contentOf(file, places)) !== bytes
}

async function hasMore(file: PictureFile, part: Box): Promise<boolean> {
  switch (part.type) {
    case 'hdlr':
      return !handlerNames.has(nameIn(await contentOf(file, part), 24))
    case 'iinf':
      return await hasOtherItems(file, part)
    case 'iprp':
      return await hasOtherProperties(file, part)
    default:
      return false
  }
}

async function hasOtherItems(file: PictureFile, { start, end }: Box): Promise<boolean> {
  const isLong = (await file.read(start, 1))[0] !== 0
  const items = await boxesIn(file, { start: start + (isLong ? 8 : 6), end }, new Set(['infe']))
  if (!items) return true
  for (const item of items) if (!isPlainItem(await contentOf(file, item))) return true
  return false
}

async function hasOtherProperties(file: PictureFile, part: Box): Promise<boolean> {
  const lists = await boxesIn(file, part, new Set(['ipco', 'ipma']))
  if (!lists) return true
  for (const list of lists) if (list.type === 'ipco' && !(await boxesIn(file, list, properties))) return true
  return false
}

/** A picture, a part of one, or its transparency, without a name of its own. */
function isPlainItem(content: Buffer): boolean {
  const [version] = content
  if (version !== 2 && version !== 3) return false
  const at = version === 2 ? 8 : 10
  return itemTypes.has(content.toString('latin1', at, at + 4)) && itemNames.has(nameIn(content, at + 4))
}

/** The text that fills the content from this place on, without the zero at its end. */
function nameIn(content: Buffer, at: number): string {
  return content.toString('latin1', at).replace(/\0$/, '')
}

/** How many bytes the parts of the picture have altogether (ISO/IEC 14496-12, 8.11.3); NaN for what cannot be read. */
function placedBytes(content: Buffer): number {
  let at = 4
  const take = (size: number) => {
    at += size
    if (size === 0) return 0
    if (at > content.length || ![2, 4, 8].includes(size)) return Number.NaN
    return size === 8 ? Number(content.readBigUInt64BE(at - 8)) : content.readUIntBE(at - size, size)
  }
  const version = content[0] ?? 0
  const sizes = take(2)
  const [offsetSize, lengthSize, baseSize] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15]
  const indexSize = version === 0 ? 0 : sizes & 15
  const idSize = version < 2 ? 2 : 4
  const items = take(idSize)
  let bytes = 0
  for (let item = 0; item < items && !Number.isNaN(bytes); item += 1) {
    // Its id, for later versions how it is placed, the file, and where counting begins.
    for (const size of [idSize, ...(version === 0 ? [] : [2]), 2, baseSize]) take(size)
    const extents = take(2)
    if (Number.isNaN(extents)) return Number.NaN
    for (let extent = 0; extent < extents && !Number.isNaN(bytes); extent += 1) {
      take(indexSize)
      take(offsetSize)
      bytes += take(lengthSize)
    }
  }
  return at === content.length ? bytes : Number.NaN
}

async function contentOf(file: PictureFile, { start, end }: Box): Promise<Buffer> {
  return file.read(start, Math.min(end - start, maxDescribedBytes))
}

/** The boxes that fill a place without a gap; undefined where they do not, or where one is not known. */
async function boxesIn(
  file: PictureFile,
  { start, end }: Pick<Box, 'start' | 'end'>,
  known: ReadonlySet<string>,
): Promise<Box[] | undefined> {
  const boxes: Box[] = []
  for (let at = start; at < end; ) {
    const box = boxAt(await file.read(at, 16), at, end)
    if (!box || !known.has(box.type) || boxes.length === maxBoxes) return undefined
    boxes.push(box)
    at = box.end
  }
  return boxes
}

function boxAt(head: Buffer, at: number, limit: number): Box | undefined {
  const claimed = head.length < 8 ? Number.NaN : head.readUInt32BE(0)
  const headBytes = claimed === 1 ? 16 : 8
  if (head.length < headBytes) return undefined
  const size = claimed === 1 ? Number(head.readBigUInt64BE(8)) : claimed || limit - at
  if (size < headBytes || at + size > limit) return undefined
  return { type: head.toString('latin1', 4, 8), start: at + headBytes, end: at + size }
}
