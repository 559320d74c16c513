import { expect, test } from 'vitest'
import { pushMessage } from './push-message.ts'

/** What a browser shows of a text. */
function previewOf(text: string): string {
  const action = {
    actionId: 'a1~x',
    type: 'MSG',
    issuer: { idTag: 'bob.example.com' },
    content: { text },
  }
  const message = pushMessage(action as never, { conversationId: undefined, showsText: true })
  expect(message.length).toBeLessThan(1500)
  return (JSON.parse(message.toString()) as { preview: string }).preview
}

const family = '👨\u200d👩\u200d👧'
const scotland = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}'

test.each([
  ['a family', family],
  ['a heart on fire', '❤\ufe0f\u200d🔥'],
  ['a skin tone before a joiner', '👩🏽\u200d🚀'],
  ['the flag of a region', `${scotland} x`],
  ['the flag of a country', '🇭🇺 x'],
  ['a key', '1\ufe0f\u20e3'],
  ['Persian', 'می\u200cخواهم'],
  ['a Persian letter that joins nothing', 'ه\u200d.'],
  ['Sinhala', 'ශ්\u200dරී'],
  ['Devanagari', 'क्\u200dष र्\u200cक'],
  ['an Arabic number sign', '\u0600١٢'],
  ['combining marks', 'e\u0301'],
])('%s stays as it was written', (_, text) => {
  expect(previewOf(text)).toBe(text)
})

test.each([
  ['line breaks and tabs', 'one\r\n\ttwo\u2028three\u0085four', 'one two three four'],
  ['controls', 'one\u0000\u001b[31m two\u007f', 'one [31m two'],
  ['overrides of direction', 'a \u202e\u202db\u202c c', 'a b c'],
  ['isolates', '\u2066a\u2069\u2067b\u2068c', 'abc'],
  ['marks of direction', 'a\u200eb\u200fc\u061cd', 'abcd'],
  ['what is zero wide', 'Do\u00adnau\u200b\u2060\ufeffdampf', 'Donaudampf'],
  ['joiners that join nothing', '\u200d\u200c \u200d', ''],
  ['a heap of joiners', `a${'\u200d'.repeat(50)}b`, 'a\u200db'],
  ['tags that are no flag', 'hi\u{e0068}\u{e0069} \u{1f3f4}\u{e0067}\u{e0062}', 'hi 🏴'],
  ['a sentence in a flag', `🏴${'\u{e0061}'.repeat(7)}\u{e007f}`, '🏴'],
  ['a hidden sentence behind a flag', `${scotland}\u{e0068}\u{e0069}\u{e007f}`, scotland],
  ['private and impossible characters', 'a\ue000b\uffffc\ud800 d', 'abc d'],
])('%s are left out', (_, text, shown) => {
  expect(previewOf(text)).toBe(shown)
})

test('a long text is cut after 160 characters at most, and between two that are read as one each', () => {
  expect(previewOf('x'.repeat(160))).toBe('x'.repeat(160))
  expect(previewOf('x'.repeat(161))).toBe(`${'x'.repeat(159)}…`)
  expect(previewOf(family.repeat(40))).toBe(`${family.repeat(31)}…`)
  expect(previewOf(`x${'e\u0301'.repeat(100)}`)).toBe(`x${'e\u0301'.repeat(79)}…`)
  expect(previewOf(`${'x'.repeat(158)}🇭🇺🇭🇺`)).toBe(`${'x'.repeat(158)}…`)
  expect(previewOf(`a${'\u0301'.repeat(9000)}`)).toBe(`a${'\u0301'.repeat(158)}…`)
})
