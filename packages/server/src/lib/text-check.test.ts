import { Buffer } from 'node:buffer'
import { expect, test } from 'vitest'
import { TextCheck } from './text-check.ts'

function isText(...pieces: Uint8Array[]): boolean {
  const check = new TextCheck()
  for (const piece of pieces) check.take(piece)
  return check.isText()
}

const hex = (text: string) => Buffer.from(text, 'hex')

test.each([
  ['ASCII', Buffer.from('hello\r\n\t')],
  ['characters of one to four bytes', Buffer.from('aé€😀')],
  ['a byte order mark', Buffer.from('\ufeffhello')],
  ['nothing', Buffer.alloc(0)],
])('%s is UTF-8, wherever it is cut', (_, bytes) => {
  for (let cut = 0; cut <= bytes.length; cut += 1)
    expect(isText(bytes.subarray(0, cut), bytes.subarray(cut))).toBe(true)
  expect(isText(...[...bytes].map((byte) => Uint8Array.of(byte)))).toBe(true)
})

test.each([
  ['Latin-1', Buffer.from('café', 'latin1')],
  ['Latin-1 before ASCII', Buffer.from('é is a letter', 'latin1')],
  ['UTF-16 with a byte order mark', hex('fffe68006900')],
  ['UTF-16 without one', hex('68006900')],
  ['Shift JIS', hex('93fa967b8cea')],
  ['an overlong form', hex('c0af')],
  ['half of a pair', hex('eda080')],
  ['a character that is cut short', hex('61e282')],
  ['a byte that begins none', hex('6180')],
])('%s is not, wherever it is cut', (_, bytes) => {
  for (let cut = 0; cut <= bytes.length; cut += 1)
    expect(isText(bytes.subarray(0, cut), bytes.subarray(cut))).toBe(false)
})
