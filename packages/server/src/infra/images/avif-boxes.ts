/** A place in a file or in some bytes: where it begins, and where it ends. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface Box extends Span {
  readonly type: string
}

/** Types of boxes that may be there, and the most bytes that each may have. */
export type KnownBoxes = ReadonlyMap<string, number>

export function knownBoxes(sizes: Readonly<Record<string, number>>): KnownBoxes {
  return new Map(Object.entries(sizes))
}

/** The box whose first 16 bytes these are; undefined where it is not known, too long, or longer than what holds it. */
export function boxAt(head: Buffer, { start, end }: Span, known: KnownBoxes): Box | undefined {
  const claimed = head.length < 8 ? Number.NaN : head.readUInt32BE(0)
  const headBytes = claimed === 1 ? 16 : 8
  if (head.length < headBytes) return undefined
  const size = claimed === 1 ? Number(head.readBigUInt64BE(8)) : claimed || end - start
  const type = head.toString('latin1', 4, 8)
  const isWhole = size >= headBytes && start + size <= end
  if (!isWhole || size - headBytes > (known.get(type) ?? -1)) return undefined
  return { type, start: start + headBytes, end: start + size }
}

interface BoxContent {
  readonly type: string
  readonly content: Buffer
}

/** The boxes that fill some bytes without a gap; undefined where they do not, or where one is not known. */
export function boxesOf(bytes: Buffer, known: KnownBoxes): BoxContent[] | undefined {
  const boxes: BoxContent[] = []
  for (let at = 0; at < bytes.length; ) {
    const box = boxAt(bytes.subarray(at, at + 16), { start: at, end: bytes.length }, known)
    if (!box) return undefined
    boxes.push({ type: box.type, content: bytes.subarray(box.start, box.end) })
    at = box.end
  }
  return boxes
}

/** Reads numbers one after the other; NaN beyond the end, and of sizes that no number has there. */
export class NumberReader {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  /** A number of 0, 1, 2, 4 or 8 bytes. */
  take(size: number): number {
    const start = this.#at
    this.#at += size
    if (size === 0) return 0
    if (this.#at > this.#bytes.length || ![1, 2, 4, 8].includes(size)) return Number.NaN
    return size === 8 ? Number(this.#bytes.readBigUInt64BE(start)) : this.#bytes.readUIntBE(start, size)
  }

  /** The bytes behind those that were taken. */
  rest(): Buffer {
    return this.#bytes.subarray(this.#at)
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }
}
