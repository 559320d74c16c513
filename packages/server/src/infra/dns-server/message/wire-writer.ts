import { type RecordData, type ResourceRecord, recordTypes } from './records.ts'

const internet = 1
const longestName = 255
// Pointers have 14 bits.
const lastPointer = 0x3fff

/** Writes a message. A name that was written before becomes a pointer to it. */
export class WireWriter {
  // At most one entry for each label of a message of 64 KiB.
  readonly #offsets = new Map<string, number>()
  #bytes = Buffer.allocUnsafe(2048)
  length = 0

  number(value: number, bytes: 1 | 2 | 4 | 6): void {
    this.#reserve(bytes)
    this.#bytes.writeUIntBE(value, this.length, bytes)
    this.length += bytes
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  name(name: string): void {
    // Bytes are no more than characters, with a length before each label and a zero at the end.
    if (name.length > longestName - 2 && nameBytes(name).length > longestName)
      throw new RangeError('a name has more than 255 bytes')
    for (let rest = name; rest !== ''; ) {
      const known = this.#offsets.get(rest)
      if (known !== undefined) {
        this.number(0xc000 | known, 2)
        return
      }
      this.know(rest, this.length)
      const dot = rest.indexOf('.')
      const label = labelBytes(dot < 0 ? rest : rest.slice(0, dot))
      if (label.length === 0 || label.length > 63) throw new RangeError('a label has not 1 to 63 bytes')
      this.number(label.length, 1)
      this.bytes(label)
      rest = dot < 0 ? '' : rest.slice(dot + 1)
    }
    this.number(0, 1)
  }

  /** Notes that a name stands at an offset. */
  know(name: string, offset: number): void {
    if (offset <= lastPointer) this.#offsets.set(name, offset)
  }

  record({ name, ttl, ...record }: ResourceRecord): void {
    this.name(name)
    this.number(recordTypes[record.type], 2)
    this.number(internet, 2)
    this.number(ttl, 4)
    const lengthAt = this.length
    this.number(0, 2)
    this.#data(record)
    this.#bytes.writeUInt16BE(this.length - lengthAt - 2, lengthAt)
  }

  /** What was written so far, with the section counts in its header. */
  finish(counts: {
    readonly answers: number
    readonly authority: number
    readonly additional: number
  }): Buffer {
    const bytes = this.#bytes.subarray(0, this.length)
    bytes.writeUInt16BE(counts.answers, 6)
    bytes.writeUInt16BE(counts.authority, 8)
    bytes.writeUInt16BE(counts.additional, 10)
    return bytes
  }

  #data(record: RecordData): void {
    const { type, data } = record
    if (type === 'A') this.bytes(Uint8Array.from(data.split('.'), Number))
    else if (type === 'AAAA') this.bytes(ipv6Bytes(data))
    else if (type === 'TXT') this.#text(data)
    else if (type === 'CAA') {
      this.number(data.flags, 1)
      this.#string(Buffer.from(data.tag, 'latin1'))
      this.bytes(Buffer.from(data.value))
    } else if (type === 'SOA') {
      this.name(data.primary)
      this.name(data.mailbox)
      const { serial, refreshSecs, retrySecs, expireSecs, negativeTtl } = data
      for (const value of [serial, refreshSecs, retrySecs, expireSecs, negativeTtl]) this.number(value, 4)
    } else this.name(data)
  }

  /** Strings have 255 bytes at most; readers join those of a record. */
  #text(text: string): void {
    const bytes = Buffer.from(text)
    for (let from = 0; from === 0 || from < bytes.length; from += 255)
      this.#string(bytes.subarray(from, from + 255))
  }

  #string(bytes: Uint8Array): void {
    this.number(bytes.length, 1)
    this.bytes(bytes)
  }

  #reserve(bytes: number): void {
    const needed = this.length + bytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.length)
    this.#bytes = larger
  }
}

/** The bytes of a name without compression, as signatures have it (RFC 8945 section 4.3.3). */
export function nameBytes(name: string): Buffer {
  const labels = name === '' ? [] : name.split('.').map(labelBytes)
  return Buffer.concat([...labels.flatMap((label) => [Buffer.of(label.length), label]), Buffer.of(0)])
}

function labelBytes(label: string): Buffer {
  const plain = label.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number(code)))
  return Buffer.from(plain, 'latin1')
}

/** Of an address in any notation. */
function ipv6Bytes(address: string): Uint8Array {
  const { hostname } = new URL(`http://[${address}]/`)
  const [head = '', tail = ''] = hostname.slice(1, -1).split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const [first, last] = [groups(head), groups(tail)]
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0')
  const all = [...first, ...zeros, ...last].map((group) => Number.parseInt(group, 16))
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 255]))
}
