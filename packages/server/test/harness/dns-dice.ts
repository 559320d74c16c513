import { Dice } from './dice.ts'

/** What somebody may send to a name server. */
export interface ThrownPacket {
  readonly bytes: Buffer
  /** A question that any server answers. */
  readonly isQuestion: boolean
  /** It has, or had before it was spoiled, a cookie that the server has given. */
  readonly hasRightCookie: boolean
}

type Label = string | Buffer

const types = [
  1, 2, 5, 6, 12, 15, 16, 28, 33, 41, 43, 46, 47, 65, 249, 250, 251, 252, 253, 254, 255, 256, 257, 65_280,
]
const udpSizes = [0, 511, 512, 513, 1232, 1233, 4096, 65_535]
const cookieLengths = [0, 1, 7, 9, 15, 16, 23, 24, 25, 40, 41, 200]
const headBytes = 12

/** Questions for the names of a provider, most of them spoiled. Ids stay for the caller to set. */
export class DnsDice {
  readonly #dice: Dice
  readonly #apex: readonly string[]
  readonly #labels: readonly string[]

  constructor(seed: number, { apex, labels }: { readonly apex: string; readonly labels: readonly string[] }) {
    this.#dice = new Dice(seed)
    this.#apex = apex.split('.')
    this.#labels = labels
  }

  get dice(): Dice {
    return this.#dice
  }

  throw(rightCookie: Buffer): ThrownPacket {
    const dice = this.#dice
    const hasRightCookie = dice.isIn(0.1)
    const question = this.#question(hasRightCookie ? rightCookie : undefined)
    if (dice.isIn(0.3)) return { bytes: question, isQuestion: true, hasRightCookie }
    let bytes: Buffer = question
    for (let left = 1 + dice.below(3); left > 0; left -= 1) bytes = this.#spoil(bytes)
    return { bytes, isQuestion: false, hasRightCookie }
  }

  #question(rightCookie: Buffer | undefined): Buffer {
    const dice = this.#dice
    const type = dice.isIn(0.5) ? 1 : dice.pick(types)
    const asked = Buffer.concat([
      this.#name(),
      number(type),
      number(dice.isIn(0.97) ? 1 : dice.below(65_536)),
    ])
    const authority = type === 251 ? this.#soa() : undefined
    const additionals = [
      ...(rightCookie || dice.isIn(0.6) ? [this.#edns(rightCookie)] : []),
      ...(dice.isIn(0.1) ? [this.#signature()] : []),
    ]
    const flags = dice.pick([0, 0x0100, 0x0010, 0x0130])
    const head = [0, flags, 1, 0, authority ? 1 : 0, additionals.length].map(number)
    return Buffer.concat([...head, asked, ...(authority ? [authority] : []), ...additionals])
  }

  #name(): Buffer {
    const dice = this.#dice
    const known = [...(dice.isIn(0.9) ? dice.pick(this.#labels).split('.') : []), ...this.#apex]
    const labels = dice.pick<() => readonly Label[]>([
      () => known,
      () => known,
      () => known,
      () => ['_service', ...known],
      () => [this.#bytes(1 + dice.below(63)), ...this.#apex],
      () => [this.#bytes(63), ...this.#apex],
      () => [this.#bytes(5), this.#bytes(5)],
      () => [],
      () => Array.from({ length: 127 }, () => 'a'),
      () => [this.#bytes(63), this.#bytes(63), this.#bytes(63), this.#bytes(61)],
    ])()
    return wireName(labels.map((label) => (typeof label === 'string' ? this.#anyCase(label) : label)))
  }

  #anyCase(label: string): string {
    return [...label].map((char) => (this.#dice.isIn(0.5) ? char.toUpperCase() : char)).join('')
  }

  #bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.#dice.below(256)))
  }

  #edns(rightCookie: Buffer | undefined): Buffer {
    const dice = this.#dice
    const options = [
      ...(dice.isIn(0.2) ? [option(dice.pick([3, 8, 12, 65_001]), this.#bytes(dice.below(20)))] : []),
      ...(rightCookie ? [option(10, rightCookie)] : []),
      ...(!rightCookie && dice.isIn(0.5) ? [option(10, this.#bytes(dice.pick([8, 8, 24, 40])))] : []),
    ]
    const data = Buffer.concat(options)
    const version = dice.isIn(0.95) ? 0 : dice.below(256)
    const flags = dice.pick([0, 0x8000, 0x0040])
    const head = [
      number(41),
      number(dice.pick(udpSizes)),
      number(version),
      number(flags),
      number(data.length),
    ]
    return Buffer.concat([Buffer.of(0), ...head, data])
  }

  #soa(): Buffer {
    const names = Buffer.concat([number(0xc00c), number(0xc00c)])
    const data = Buffer.concat([names, this.#bytes(20)])
    return Buffer.concat([number(0xc00c), number(6), number(1), Buffer.alloc(4), number(data.length), data])
  }

  /** A TSIG record of a key that nobody has. */
  #signature(): Buffer {
    const dice = this.#dice
    const algorithm = dice.isIn(0.7) ? wireName(['hmac-sha256']) : this.#name()
    const mac = this.#bytes(dice.pick([0, 15, 16, 32, 64]))
    const times = [this.#bytes(6), number(300)]
    const data = Buffer.concat([
      algorithm,
      ...times,
      number(mac.length),
      mac,
      number(0),
      number(0),
      number(0),
    ])
    return Buffer.concat([this.#name(), number(250), number(255), Buffer.alloc(4), number(data.length), data])
  }

  #spoil(bytes: Buffer): Buffer {
    const dice = this.#dice
    const at = () => dice.below(bytes.length + 1)
    const put = (from: number, value: Buffer) =>
      Buffer.concat([bytes.subarray(0, from), value, bytes.subarray(from + value.length)])
    const insert = (from: number, value: Buffer) =>
      Buffer.concat([bytes.subarray(0, from), value, bytes.subarray(from)])
    const afterQuestion = Math.max(bytes.indexOf(0, headBytes), 0) + 5
    return dice.pick<() => Buffer>([
      () => put(at(), this.#bytes(1)),
      () => put(at(), this.#bytes(1 + dice.below(8))),
      () => bytes.subarray(0, at()),
      () => Buffer.concat([bytes.subarray(0, at()), bytes.subarray(at())]),
      () => insert(at(), this.#bytes(1 + dice.below(40))),
      () => insert(at(), bytes.subarray(at())),
      () => put(4 + 2 * dice.below(4), number(dice.pick([0, 1, 2, 3, 255, 65_535]))),
      () => put(dice.isIn(0.5) ? headBytes : at(), number(0xc000 | dice.pick([0, 12, 13, at(), 0x3fff]))),
      () => put(headBytes, Buffer.of(dice.pick([0, 63, 64, 128, 191, 192, 255]))),
      () => insert(headBytes, wireName([this.#bytes(63), this.#bytes(63), this.#bytes(63)]).subarray(0, -1)),
      () => put(4, Buffer.concat([number(2), insert(afterQuestion, bytes.subarray(headBytes)).subarray(6)])),
      () => put(2, number(dice.below(16) << 11)),
      () => put(2, this.#bytes(2)),
      () => put(2, number(0x8000 | dice.below(0x8000))),
      () => bytes.subarray(0, dice.below(headBytes)),
      () => this.#withCookie(bytes),
    ])()
  }

  /** In place of everything after the question: an OPT record with a cookie of any length, twice at times. */
  #withCookie(bytes: Buffer): Buffer {
    const cookies = Array.from({ length: 1 + this.#dice.below(2) }, () =>
      option(10, this.#bytes(this.#dice.pick(cookieLengths))),
    )
    const data = Buffer.concat(cookies)
    const opt = [Buffer.of(0), number(41), number(1232), Buffer.alloc(4), number(data.length), data]
    const question = bytes.subarray(headBytes, Math.max(bytes.indexOf(0, headBytes), headBytes) + 5)
    return Buffer.concat([...[0, 0, 1, 0, 0, 1].map(number), question, ...opt])
  }
}

function wireName(labels: readonly Label[]): Buffer {
  const parts = labels.map((label) => Buffer.from(label as string, 'latin1'))
  return Buffer.concat([...parts.flatMap((part) => [Buffer.of(part.length), part]), Buffer.of(0)])
}

function option(code: number, data: Buffer): Buffer {
  return Buffer.concat([number(code), number(data.length), data])
}

function number(value: number): Buffer {
  return Buffer.of((value >> 8) & 255, value & 255)
}
