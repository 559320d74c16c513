import { domainToASCII } from 'node:url'
import { describe, expect, test } from 'vitest'
import { idTag } from '#harness/http-site.ts'
import { isLookAlike } from './look-alike.ts'
import { type NameKind, refusalOf } from './name-rules.ts'

const rules = {
  baseIdTag: idTag('kith.example'),
  reserved: ['www', 'admin', 'mail', 'ns1'],
  ownHosts: ['edge.example.net', '198.51.100.7'],
}

const refusal = (name: string, kind: NameKind = 'idp') => refusalOf(idTag(name), kind, rules)

describe('a name below the server’s own domain', () => {
  test.each(['alice.kith.example', 'a.kith.example', 'dr.alice.kith.example', 'mall.kith.example'])(
    '%s can be had',
    (name) => {
      for (const kind of ['idp', 'domain', 'community'] as const) expect(refusal(name, kind)).toBeUndefined()
    },
  )

  test.each([
    'www.kith.example',
    'ADMIN.kith.example',
    'mail.alice.kith.example',
    'ns1.kith.example',
    'adm1n.kith.example',
    'mai1.kith.example',
    'ádmin.kith.example',
    'ns1.www.kith.example',
    'admın.kith.example',
    'adrnin.kith.example',
    'vvvvvv.kith.example',
    'ad-min.kith.example',
    'ns-1.kith.example',
  ])('%s is reserved, however it is asked for', (name) => {
    for (const kind of ['idp', 'domain', 'community'] as const)
      expect(refusal(name, kind)).toBe('This name is reserved.')
  })

  test.each(['pаypal.kith.example', 'аррӏе.kith.example'])('%s can be taken for another one', (name) => {
    expect(refusal(name)).toBe('This name can be taken for another one.')
  })
})

describe('another name', () => {
  test('is no name of this provider', () => {
    for (const name of ['alice.example', 'kith.example', 'alicekith.example'])
      expect(refusal(name)).toBe('This server gives names below kith.example.')
  })

  test('may be like anything that its owner has in the DNS', () => {
    for (const name of ['www.alice.example', 'xn--80ak6aa92e.example', 'alice.example'])
      expect(refusal(name, 'domain')).toBeUndefined()
  })

  test('is not one of the machine, of every machine, or endless', () => {
    expect(refusal('edge.example.net', 'domain')).toBe('This is a name of the server itself.')
    expect(refusal('alice.localhost', 'domain')).toBe('Names under .localhost are not for the network.')
    expect(refusal('a.b.c.d.e.f.g.h.i.j.example', 'domain')).toBe('A name has at most 10 parts.')
    const local = { ...rules, baseIdTag: idTag('home.localhost') }
    expect(refusalOf(idTag('alice.localhost'), 'domain', local)).toBeUndefined()
  })
})

test.each([
  ['müller', false],
  ['søren-ærø', false],
  ['алиса', false],
  ['αλίκη', false],
  ['日本語', false],
  ['東京タワー', false],
  ['서울', false],
  ['alice', false],
  ['аlice', true],
  ['αlice', true],
  ['соса', true],
  ['ѕсоре', true],
])('%s is deceptive: %s', (label, expected) => {
  expect(isLookAlike(domainToASCII(label))).toBe(expected)
})
