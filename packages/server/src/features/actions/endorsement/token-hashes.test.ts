import { generateKeyPairSync, sign, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import { hashOfToken } from '../action-id.ts'
import { hashesOfToken } from './token-hashes.ts'

const dsaEncoding = 'ieee-p1363'
const order = 2n ** 384n - 0x389cb27e0bc8d220a7e5f24db74f58851313e695333ad68dn

test('a token is named by either form of its signature, both of which are good', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
  const input = 'head.payload'
  const text = (signature: Buffer) => `${input}.${signature.toString('base64url')}`
  const made = sign('sha384', Buffer.from(input), { key: privateKey, dsaEncoding })
  const s = order - BigInt(`0x${made.subarray(48).toString('hex')}`)
  const other = Buffer.concat([made.subarray(0, 48), Buffer.from(s.toString(16).padStart(96, '0'), 'hex')])
  for (const signature of [made, other])
    expect(verify('sha384', Buffer.from(input), { key: publicKey, dsaEncoding }, signature)).toBe(true)
  const [one, two] = [hashOfToken(text(made)), hashOfToken(text(other))]
  expect(one).not.toBe(two)
  expect(hashesOfToken(text(made))).toEqual([one, two])
  expect(hashesOfToken(text(other))).toEqual([two, one])
})
