import { isUtf8 } from 'node:buffer'

/** Tells of bytes that come in pieces whether all of them are text in UTF-8: well-formed, and without U+0000, by which text
 * in UTF-16 is known. */
export class TextCheck {
  #isText = true
  /** The beginning of a character whose rest comes with the next piece. */
  #open: Uint8Array = new Uint8Array()

  take(piece: Uint8Array): void {
    if (!this.#isText) return
    const bytes = this.#open.length === 0 ? piece : Buffer.concat([this.#open, piece])
    const end = bytes.length - openBytes(bytes)
    const whole = bytes.subarray(0, end)
    this.#isText = isUtf8(whole) && !whole.includes(0)
    this.#open = bytes.slice(end)
  }

  isText(): boolean {
    return this.#isText && this.#open.length === 0
  }
}

/** How many bytes at the end are a character that is not whole. */
function openBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < lengthOf(byte) ? back : 0
  }
  return 0
}

function lengthOf(first: number): number {
  if (first >= 0xf0) return 4
  return first >= 0xe0 ? 3 : 2
}
