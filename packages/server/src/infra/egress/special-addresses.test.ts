import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { isInRanges, specialPurposeOf, specialRanges } from './special-addresses.ts'

const special: readonly (readonly [address: string, purpose: string])[] = [
  ['0.0.0.0', 'this network'],
  ['0.255.255.255', 'this network'],
  ['10.0.0.1', 'private use'],
  ['100.64.0.1', 'shared address space'],
  ['100.127.255.255', 'shared address space'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['169.254.169.254', 'link-local'],
  ['172.16.0.1', 'private use'],
  ['172.31.255.255', 'private use'],
  ['192.0.0.8', 'IETF protocol assignments'],
  ['192.0.0.170', 'IETF protocol assignments'],
  ['192.0.2.1', 'documentation'],
  ['192.31.196.1', 'AS112'],
  ['192.52.193.1', 'AMT'],
  ['192.88.99.1', '6to4 relay anycast'],
  ['192.168.1.1', 'private use'],
  ['192.175.48.1', 'AS112'],
  ['198.18.0.1', 'benchmarking'],
  ['198.19.255.255', 'benchmarking'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'reserved'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::7f00:1', 'IPv4-compatible'],
  ['::ffff:127.0.0.1', 'IPv4-mapped'],
  ['::ffff:8.8.8.8', 'IPv4-mapped'],
  ['::ffff:0:7f00:1', 'IPv4-translated'],
  ['64:ff9b::7f00:1', 'IPv4-IPv6 translation'],
  ['64:ff9b::8.8.8.8', 'IPv4-IPv6 translation'],
  ['64:ff9b:1::1', 'IPv4-IPv6 translation'],
  ['64:ff9b:1:ffff:ffff:ffff:ffff:ffff', 'IPv4-IPv6 translation'],
  ['100::1', 'discard-only'],
  ['100:0:0:1::1', 'dummy prefix'],
  ['2001::1', 'Teredo'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'Teredo'],
  ['2001:1::1', 'IETF protocol assignments'],
  ['2001:2::1', 'benchmarking'],
  ['2001:3::1', 'AMT'],
  ['2001:4:112::1', 'AS112'],
  ['2001:10::1', 'ORCHID'],
  ['2001:20::1', 'ORCHIDv2'],
  ['2001:30::1', 'drone remote identification'],
  ['2001:1ff:ffff::1', 'IETF protocol assignments'],
  ['2001:db8::1', 'documentation'],
  ['2002:7f00:1::1', '6to4'],
  ['2002:808:808::1', '6to4'],
  ['2620:4f:8000::1', 'AS112'],
  ['3fff::1', 'documentation'],
  ['3fff:fff:ffff::1', 'documentation'],
  ['5f00::1', 'segment routing'],
  ['fc00::1', 'unique local'],
  ['fd12:3456:789a::1', 'unique local'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['4000::1', 'not allocated'],
  ['1::1', 'not allocated'],
  ['64:ff9c::1', 'not allocated'],
]

const notAnAddress = ['', 'localhost', '127.1', '0x7f000001', '2130706433', '0177.0.0.1', '1.2.3.4.5', '::g']

const open = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '191.255.255.255',
  '192.0.1.0',
  '192.0.3.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '203.0.112.255',
  '203.0.114.0',
  '223.255.255.255',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2001:db7:ffff::1',
  '2001:db9::1',
  '2003::1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:80f::200e',
  '3ffe:ffff::1',
  '3fff:1000::1',
]

describe('an address', () => {
  test.each(special)('%s is special: %s', (address, purpose) => {
    expect(specialPurposeOf(address)).toBe(purpose)
  })

  test.each(notAnAddress)('written as "%s" is none', (address) => {
    expect(specialPurposeOf(address)).toBe('not an address')
  })

  test.each(open)('%s is public', (address) => {
    expect(specialPurposeOf(address)).toBeUndefined()
  })

  test('anywhere in a registered range is special', () => {
    const anywhere = fc
      .tuple(fc.constantFrom(...specialRanges), fc.uint8Array({ minLength: 16, maxLength: 16 }))
      .map(([[cidr], noise]) => {
        const [base, bits] = ipaddr.parseCIDR(cidr)
        const bytes = base.toByteArray().map((byte, at) => {
          const fixed = Math.max(0, Math.min(8, bits - at * 8))
          const mask = 0xff >> fixed
          return (byte & ~mask) | ((noise[at] ?? 0) & mask)
        })
        return ipaddr.fromByteArray(bytes).toString()
      })
    fc.assert(fc.property(anywhere, (address) => specialPurposeOf(address) !== undefined))
  })
})

test('a list of ranges holds what is in one of them, of its own family', () => {
  const ranges = ['127.0.0.0/8', 'fd00::/8']
  expect(isInRanges('127.0.0.2', ranges)).toBe(true)
  expect(isInRanges('fd00::1', ranges)).toBe(true)
  expect(isInRanges('10.0.0.1', ranges)).toBe(false)
  expect(isInRanges('::ffff:127.0.0.1', ranges)).toBe(false)
  expect(isInRanges('not an address', ranges)).toBe(false)
})
