import { expect, test } from 'vitest'
import { linksIn } from './links-in.ts'
import { isWebAddress, type TextPart, textParts } from './text-parts.ts'

const linked = (text: string) => textParts(text, linksIn).filter(({ kind }) => kind !== 'text')

test.each<[string, TextPart[]]>([
  ['see https://a.de/x?y=1.', [{ kind: 'link', text: 'https://a.de/x?y=1', href: 'https://a.de/x?y=1' }]],
  ['www.a.de', [{ kind: 'link', text: 'www.a.de', href: 'https://www.a.de' }]],
  ['to bob@a.de', [{ kind: 'link', text: 'bob@a.de', href: 'mailto:bob@a.de' }]],
  ['hi @anna.example.com!', [{ kind: 'mention', text: '@anna.example.com', idTag: 'anna.example.com' }]],
  ['@müller.de', [{ kind: 'mention', text: '@müller.de', idTag: 'xn--mller-kva.de' }]],
  ['@anna.example.comさん', [{ kind: 'mention', text: '@anna.example.com', idTag: 'anna.example.com' }]],
  ['#हिन्दी में', [{ kind: 'tag', text: '#हिन्दी', tag: 'हिन्दी' }]],
  ['#Donau\u00addampf', [{ kind: 'tag', text: '#Donau\u00addampf', tag: 'Donaudampf' }]],
  ['a #garden party', [{ kind: 'tag', text: '#garden', tag: 'garden' }]],
  ['https://a.de/#part', [{ kind: 'link', text: 'https://a.de/#part', href: 'https://a.de/#part' }]],
])('finds what is linked in "%s"', (text, parts) => {
  expect(linked(text)).toEqual(parts)
})

test.each([
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x file:///etc/passwd',
  'ftp://a.de/x',
  'notes.md and index.ts',
  '<a href="javascript:alert(1)">x</a>',
  '@nobody # @',
])('links nothing in "%s"', (text) => {
  expect(linked(text)).toEqual([])
})

test('loses no character, whatever the text', () => {
  for (const text of [
    '',
    '@'.repeat(2_000),
    '#a'.repeat(2_000),
    'http://'.repeat(500),
    'x @a.b #c https://d.de e',
  ])
    expect(
      textParts(text, linksIn)
        .map((part) => part.text)
        .join(''),
    ).toBe(text)
})

test.each([
  ['https://a.de', true],
  ['HTTP://a.de', true],
  ['javascript:alert(1)', false],
  [' https://a.de', false],
  ['https://', false],
])('%s is an address of the web: %s', (address, is) => {
  expect(isWebAddress(address)).toBe(is)
})
