import { type Box, boxAt, knownBoxes, type Span } from './avif-boxes.ts'
import { maxDescriptionBytes, readAvifDescription } from './avif-description.ts'
import type { PictureFile } from './picture-file.ts'

const fileBoxes = knownBoxes({ ftyp: 64, meta: maxDescriptionBytes, mdat: Number.POSITIVE_INFINITY })
const maxBoxes = 64

/** Whether an AVIF file holds anything but one picture and what a decoder needs for it, bytes that no item refers to
 * included. */
export async function hasAvifExtras(file: PictureFile): Promise<boolean> {
  const boxes = await boxesIn(file)
  const [meta, ...more] = boxes?.filter(({ type }) => type === 'meta') ?? []
  if (!boxes || !meta || more.length > 0) return true
  const description = readAvifDescription(await file.read(meta.start, meta.end - meta.start))
  if (!description) return true
  const { inFile, inData, dataBytes } = description
  const data = boxes.filter(({ type }) => type === 'mdat')
  return !data.every((box) => isCovered(box, inFile)) || !isCovered({ start: 0, end: dataBytes }, inData)
}

async function boxesIn(file: PictureFile): Promise<Box[] | undefined> {
  const boxes: Box[] = []
  for (let at = 0; at < file.size; ) {
    const box = boxAt(await file.read(at, 16), { start: at, end: file.size }, fileBoxes)
    if (!box || boxes.length === maxBoxes) return undefined
    boxes.push(box)
    at = box.end
  }
  return boxes
}

/** Parts may share bytes: tiles that are alike are written once. */
function isCovered({ start, end }: Span, parts: readonly Span[]): boolean {
  let covered = start
  for (const part of parts.toSorted((one, other) => one.start - other.start))
    if (part.start <= covered) covered = Math.max(covered, part.end)
  return covered >= end
}
