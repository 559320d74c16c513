import { maxFrameBytes } from '@kith/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FrameWatch } from './frame-watch.ts'

/** A masked frame with zeros in it. */
function frame(length: number): Buffer {
  const mask = [1, 2, 3, 4]
  if (length < 126) return Buffer.concat([Buffer.from([0x82, 0x80 | length, ...mask]), Buffer.alloc(length)])
  const extended = Buffer.alloc(length < 65_536 ? 2 : 8)
  if (length < 65_536) extended.writeUInt16BE(length)
  else extended.writeBigUInt64BE(BigInt(length))
  const second = 0x80 | (length < 65_536 ? 126 : 127)
  return Buffer.concat([Buffer.from([0x82, second]), extended, Buffer.from(mask), Buffer.alloc(length)])
}

function admitsAll(bytes: Buffer, cuts: readonly number[]): boolean {
  const watch = new FrameWatch(maxFrameBytes)
  let from = 0
  for (const to of [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    if (!watch.admits(bytes.subarray(from, to))) return false
    from = to
  }
  return true
}

test('lengths are read wherever the bytes are cut', () => {
  const lengths = fc.array(fc.constantFrom(0, 1, 125, 126, 127, 65_535, 65_536, 70_000), { maxLength: 6 })
  fc.assert(
    fc.property(lengths, fc.array(fc.nat(), { maxLength: 12 }), (sizes, cuts) => {
      expect(admitsAll(Buffer.concat(sizes.map(frame)), cuts)).toBe(true)
      const tooLong = frame(65_536)
      tooLong.writeBigUInt64BE(BigInt(maxFrameBytes + 1), 2)
      expect(admitsAll(Buffer.concat([...sizes.map(frame), tooLong]), cuts)).toBe(false)
    }),
    { numRuns: 200, verbose: true },
  )
})

test('the longest frame is admitted, and a length beyond all numbers is not', () => {
  expect(new FrameWatch(maxFrameBytes).admits(frame(maxFrameBytes))).toBe(true)
  const endless = frame(65_536)
  endless.fill(0xff, 2, 10)
  expect(new FrameWatch(maxFrameBytes).admits(endless)).toBe(false)
})

test('the bytes of messages are counted, without headers and pings, and whether one has ended', () => {
  const part = (opcode: number, length: number) => {
    const bytes = frame(length)
    bytes[0] = opcode
    return bytes
  }
  const [binary, continuation, last, ping] = [0x02, 0x00, 0x80, 0x89]
  const watch = new FrameWatch(maxFrameBytes)
  const seen = (bytes: Buffer) => {
    watch.admits(bytes)
    return [watch.messageBytes, watch.isMidMessage]
  }
  expect(seen(part(binary, 200))).toEqual([200, true])
  expect(seen(part(ping, 100))).toEqual([0, true])
  expect(seen(part(continuation, 5))).toEqual([5, true])
  expect(seen(part(last, 7))).toEqual([7, false])
  const whole = frame(70_000)
  expect(seen(whole.subarray(0, 3))).toEqual([0, true])
  expect(seen(whole.subarray(3, 1014))).toEqual([1000, true])
  expect(seen(Buffer.concat([whole.subarray(1014), frame(3), part(ping, 4)]))).toEqual([69_003, false])
})
