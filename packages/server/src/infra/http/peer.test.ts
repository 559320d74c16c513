import type { IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPeerReader, hostOf, rateKeyOf } from './peer.ts'

function requestFrom(remoteAddress: string, headers: Record<string, string> = {}): IncomingMessage {
  return {
    socket: { remoteAddress },
    headers: { host: 'alice.example', ...headers },
  } as unknown as IncomingMessage
}

describe('hostOf', () => {
  test.each([
    ['alice.example', 'alice.example'],
    ['Alice.EXAMPLE', 'alice.example'],
    ['alice.example:8080', 'alice.example'],
    ['alice.example.', 'alice.example'],
    ['alice.example.:443', 'alice.example'],
    ['alice.example..', 'alice.example.'],
    ['[::1]:8080', '[::1]'],
    ['[::1]', '[::1]'],
    ['', undefined],
    [undefined, undefined],
    ['a'.repeat(300), undefined],
  ])('reads %j as %j', (header, host) => {
    expect(hostOf(header)).toBe(host)
  })
})

describe('a peer', () => {
  const forwarded = {
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-host': 'bob.example',
    'x-forwarded-proto': 'https',
  }

  test('is the connection’s when no proxy is trusted', () => {
    expect(createPeerReader([])(requestFrom('127.0.0.1', forwarded))).toEqual({
      ip: '127.0.0.1',
      host: 'alice.example',
      isSecure: false,
    })
  })

  test('is the connection’s when it does not come from a trusted proxy', () => {
    const peer = createPeerReader(['10.0.0.0/8'])(requestFrom('192.0.2.1', forwarded))
    expect(peer).toEqual({ ip: '192.0.2.1', host: 'alice.example', isSecure: false })
  })

  test('is what a trusted proxy says', () => {
    const peer = createPeerReader(['10.0.0.0/8'])(requestFrom('10.1.2.3', forwarded))
    expect(peer).toEqual({ ip: '203.0.113.7', host: 'bob.example', isSecure: true })
  })

  test('keeps what a trusted proxy does not say', () => {
    const peer = createPeerReader(['10.0.0.0/8'])(requestFrom('10.1.2.3'))
    expect(peer).toEqual({ ip: '10.1.2.3', host: 'alice.example', isSecure: false })
  })

  test.each([
    [
      'the right-most untrusted hop, whatever the client put before it',
      '1.1.1.1, 203.0.113.7, 10.9.9.9',
      '203.0.113.7',
    ],
    ['the last hop when all are trusted', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    ['the proxy when the list is not addresses', 'unknown', '10.1.2.3'],
    ['the hop before nonsense', 'nonsense, 10.0.0.2', '10.0.0.2'],
    ['an address without its port', '203.0.113.7:55555', '203.0.113.7'],
    ['an IPv6 address without brackets and port', '[2001:db8::1]:55555', '2001:db8::1'],
    ['an IPv4 address in IPv6 form', '::ffff:203.0.113.7', '203.0.113.7'],
    ['the proxy for an empty list', ' , ', '10.1.2.3'],
  ])('has as address %s', (_, list, ip) => {
    const peer = createPeerReader(['10.0.0.0/8'])(requestFrom('10.1.2.3', { 'x-forwarded-for': list }))
    expect(peer.ip).toBe(ip)
  })

  test('has the host and scheme that the nearest proxy saw', () => {
    const headers = {
      'x-forwarded-host': 'evil.example, Alice.Example:443',
      'x-forwarded-proto': 'https, http',
    }
    const peer = createPeerReader(['10.1.2.3/32'])(requestFrom('10.1.2.3', headers))
    expect(peer).toMatchObject({ host: 'alice.example', isSecure: false })
  })

  test('matches IPv6 networks and IPv4 in IPv6 form', () => {
    const read = createPeerReader(['2001:db8::/32', '10.0.0.0/8'])
    expect(read(requestFrom('2001:db8::9', forwarded)).ip).toBe('203.0.113.7')
    expect(read(requestFrom('::ffff:10.0.0.1', forwarded)).ip).toBe('203.0.113.7')
    expect(read(requestFrom('2001:db9::9', forwarded)).ip).toBe('2001:db9::9')
  })
})

describe('rateKeyOf', () => {
  test('counts IPv6 by its /64 and IPv4 by its address', () => {
    expect(rateKeyOf('203.0.113.7')).toBe('203.0.113.7')
    expect(rateKeyOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::')
    expect(rateKeyOf('2001:db8:1:2::ffff')).toBe('2001:db8:1:2::')
    expect(rateKeyOf('2001:db8:1:3::ffff')).toBe('2001:db8:1:3::')
    expect(rateKeyOf('::1')).toBe('0:0:0:0::')
    expect(rateKeyOf('fe80::1%eth0')).toBe('fe80:0:0:0::')
    expect(rateKeyOf('')).toBe('')
  })

  test('is the same for every address of a /64', () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.ipV6(), (one, other) => {
        const key = rateKeyOf(one)
        if (!one.includes('.') && !other.includes('.')) expect(rateKeyOf(one)).toBe(key)
        expect(key === '' || key.endsWith('::') || !one.includes(':')).toBe(true)
      }),
    )
  })
})
