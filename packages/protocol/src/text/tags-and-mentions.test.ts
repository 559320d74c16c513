import { expect, test } from 'vitest'
import { findMentions, findTags, parseTag } from './tags-and-mentions.ts'

test.each([
  ['#spring in the #garden, #spring', ['spring', 'garden', 'spring']],
  ['(#a) "#b" #c!', ['a', 'b', 'c']],
  ['#Straße #日本語。 #1st #foo_bar #m²', ['Straße', '日本語', '1st', 'foo_bar', 'm²']],
  ['#हिन्दी #தமிழ் #ภาษาไทย', ['हिन्दी', 'தமிழ்', 'ภาษาไทย']],
  ['#မြန်မာ #ខ្មែរ #ລາວ', ['မြန်မာ', 'ខ្មែរ', 'ລາວ']],
  ['#שָׁלוֹם #مُحَمَّد', ['שָׁלוֹם', 'مُحَمَّد']],
  ['#می\u200cخواهم، #ශ්\u200dරී', ['می\u200cخواهم', 'ශ්\u200dරී']],
  ['#e\u0301te\u0301 #été', ['été', 'été']],
  ['#Donau\u00addampf #a\u2060b #c\u200bd', ['Donaudampf', 'ab', 'cd']],
  ['#col·lecció #tag\u200d! #a\u200db', ['col·lecció', 'tag', 'ab']],
  ['❤️#love 1️⃣#one ℹ️#info', ['love', 'one', 'info']],
  ['#rock·#pop #りんご・#みかん #ジョン・レノン', ['rock', 'pop', 'りんご', 'みかん', 'ジョン・レノン']],
  ['https://example.com/#top a#b é#b e\u0301#b &#39; ## # #\u0301 #️⃣', []],
  [`#${'x'.repeat(64)} #${'y'.repeat(65)}`, ['x'.repeat(64)]],
])('%j has the tags %j', (text, tags) => {
  expect(findTags(text).map(({ tag }) => tag)).toEqual(tags)
})

test.each([
  ['Thanks, @alice.example.com!', ['alice.example.com']],
  ['@Alice.Example.COM.', ['alice.example.com']],
  ['@bob.example.com and (@alice.example.com)', ['bob.example.com', 'alice.example.com']],
  ['アリス、@alice.example.com', ['alice.example.com']],
  ['@alice.example.comさん、@bob.example.comは', ['alice.example.com', 'bob.example.com']],
  ['@alice.example.com的 @alice.example.com에게', ['alice.example.com', 'alice.example.com']],
  ['@müller.example.comさん', ['xn--mller-kva.example.com']],
  [
    '@müller.example.com @mu\u0308ller.example.com',
    ['xn--mller-kva.example.com', 'xn--mller-kva.example.com'],
  ],
  ['@नेहा.example.com', ['xn--l2b8ap8a.example.com']],
  ['@alice.例え.jp', ['alice.xn--r8jz45g.jp']],
  ['❤️@alice.example.com 1️⃣@bob.example.com', ['alice.example.com', 'bob.example.com']],
  ['_by @alice.example.com_ and @bob.example.com_2', ['alice.example.com', 'bob.example.com']],
  ['@alice @@alice.example.com x@alice.example.com é@alice.example.com e\u0301@alice.example.com', []],
  ['https://example.org/@alice.example.com', []],
])('%j mentions %j', (text, idTags) => {
  expect([...findMentions(text)].map(({ idTag }) => idTag)).toEqual(idTags)
})

test('places are those of what is written, with its sign', () => {
  const text = 'Hi @alice.example.comさん, #Donau\u00addampf'
  const found = [...findMentions(text), ...findTags(text)].map(({ from, to }) => text.slice(from, to))
  expect(found).toEqual(['@alice.example.com', '#Donau\u00addampf'])
})

test.each([
  [' garden ', 'garden'],
  ['e\u0301te\u0301', 'été'],
  ['\u202egarden', 'garden'],
  ['two words', 'two words'],
  ['e\u034f\u0301 e\u00ad\u0301', 'é é'],
  ['\u1680\u200dक\u200d \u200c', 'क'],
  ['x\u030c\u200d\u0301\u200dy', 'x\u030c\u0301y'],
  ['🏳️\u200d🌈', '🏳️\u200d🌈'],
  ['👨\u200d👩\u200d👧', '👨\u200d👩\u200d👧'],
  ['🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
  ['a\ufe0fb\u{e0067}', 'ab'],
  ['\u200b\u00ad', undefined],
  ['\u2800', undefined],
  ['\u3164', undefined],
  ['\u0301', undefined],
  ['', undefined],
  ['a\u0000', undefined],
  ['a\ud800', undefined],
  ['x'.repeat(65), undefined],
])('%j is kept as the tag %j', (text, tag) => {
  expect(parseTag(text)).toBe(tag)
})

test('what is kept as a tag is a tag, and the same one', () => {
  const pieces = [
    'a',
    'é',
    'e',
    '\u0301',
    '\u0327',
    'क',
    '\u093f',
    '\u200c',
    '\u200d',
    '\u00ad',
    '\ufe0f',
    '👩',
    '🏽',
    '\u{e0067}',
    ' ',
    '\u1680',
    'し',
    '\u3099',
  ]
  const wrong: string[] = []
  for (let number = 0; number < pieces.length ** 4; number += 7) {
    const at = [0, 1, 2, 3].map((place) => Math.floor(number / pieces.length ** place) % pieces.length)
    const text = at.map((index) => pieces[index]).join('')
    const tag = parseTag(text)
    if (parseTag(text.normalize('NFD')) !== tag) wrong.push(text)
    if (tag !== undefined && (parseTag(tag) !== tag || tag.normalize('NFC') !== tag)) wrong.push(text)
  }
  expect(wrong).toEqual([])
})

// Each would take seconds where a part of it is read again for each character.
test('a hostile text is read in one go', () => {
  for (const text of [
    `#अ${'\u200d'.repeat(1e5)}अ`,
    `#a${'\u0301'.repeat(5e4)}${'\u0327'.repeat(5e4)}`,
    '#'.repeat(1e5),
    '@a.'.repeat(5e4),
    `#${'\u0301'.repeat(1e5)}`,
    'e\u0301@'.repeat(5e4),
  ])
    expect([findTags(text).length, [...findMentions(text)].length]).toEqual([0, 0])
})
