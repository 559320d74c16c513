import { describe, expect, test } from 'vitest'
import { mailLanguage, mailLanguages, mailTemplates } from './mail-texts.ts'
import { renderMail } from './render-mail.ts'

const link = 'https://alice.example.com/set-password#token=0123456789ABCDEFabcdefgh'

describe.each(Object.keys(mailLanguages) as ('en' | 'de')[])('a mail in %s', (language) => {
  test.each(mailTemplates)('about %s is complete', (template) => {
    const opens = mailLanguages[language][template].action !== undefined
    const { subject, text, html } = renderMail(template, language, {
      idTag: 'alice.example.com',
      ...(opens ? { link, untilSecs: 1_769_860_800 } : {}),
    })
    for (const part of [text, html]) {
      expect(part).toContain('alice.example.com')
      expect(part.includes(link)).toBe(opens)
      expect(part.includes('2026')).toBe(opens)
      expect(part).not.toMatch(/<%|undefined|\bit\./)
    }
    expect(subject).not.toBe('')
    expect(html).toContain(`<html lang="${language}">`)
  })
})

test('what is filled in cannot become markup', () => {
  const { html } = renderMail('passkey-added', 'en', { idTag: '<b>x</b>' })
  expect(html).not.toContain('<b>x')
  expect(html).toContain('&lt;b&gt;x')
})

test('a name that is to be somebody else’s says whose', () => {
  const facts = { idTag: 'alice.example.com', link, untilSecs: 1_769_860_800 }
  expect(renderMail('idp-activate', 'en', facts).text).toContain('it belongs to you.')
  const owned = { ...facts, owner: 'club.example.com' }
  for (const language of ['en', 'de'] as const)
    expect(renderMail('idp-activate', language, owned).text).toContain('club.example.com.')
})

test('without a link there is no button', () => {
  expect(renderMail('passkey-added', 'en', { idTag: 'alice.example.com' }).html).not.toContain('<a ')
})

test('the language is the primary subtag, English where it is unknown', () => {
  expect(mailLanguage('de')).toBe('de')
  expect(mailLanguage('DE-at')).toBe('de')
  expect(mailLanguage('fr')).toBe('en')
  expect(mailLanguage(undefined)).toBe('en')
})
