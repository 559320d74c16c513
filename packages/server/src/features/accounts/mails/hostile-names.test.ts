import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runsOf } from '#harness/property-runs.ts'
import { startSmtpServer } from '#harness/smtp-server.ts'
import { openMailer } from '#infra/mail/index.ts'
import { Secret } from '#lib/secret.ts'
import { mailLanguages, mailTemplates } from './mail-texts.ts'
import { renderMail } from './render-mail.ts'

const hostile = fc.constantFrom(
  '\r\nBcc: eve@evil.example\r\n\r\n',
  '\n.\nMAIL FROM:<eve@evil.example>\n',
  '\r\n.\r\nQUIT\r\n',
  '=?utf-8?B?PGV2ZUBldmlsLmV4YW1wbGU+?=',
  '\u202Egnp.exe\u2066\u200F',
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  '--boundary--\n',
  '\0\x1b[31m',
  'x'.repeat(10_000),
  '𝓐nna 👩‍👩‍👧 Ångström',
  '\uD800',
  ' ',
)
const name = fc.array(hostile, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))
const link = 'https://home.example/set-password#token=abc'

interface Read {
  readonly headers: readonly string[]
  readonly parts: readonly string[]
}

/** The headers of a mail, and its parts with theirs. */
function read(source: string): Read {
  const end = source.indexOf('\r\n\r\n')
  const head = source.slice(0, end).replaceAll(/\r\n[ \t]+/g, ' ')
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1] ?? 'none'
  return { headers: head.split('\r\n'), parts: source.slice(end).split(`--${boundary}`).slice(1, -1) }
}

/** Whether a part is as its header says, in lines that every server takes (RFC 5321, 4.5.3.1.6). */
function isAsSaid(part: string): boolean {
  const isLong = part.split('\r\n').some((line) => Buffer.byteLength(line) > 998)
  const isBare = /\r(?!\n)|(?<!\r)\n|\0/.test(part)
  const isAscii = /^\p{ASCII}*$/u.test(part)
  return !isLong && !isBare && (isAscii || part.includes('Content-Transfer-Encoding: 8bit'))
}

test('a name in a mail is text, whatever stands in it', async () => {
  await using server = await startSmtpServer({ disabledCommands: ['STARTTLS'] })
  const smtpUrl = new Secret(`smtp://127.0.0.1:${server.port}`)
  const from = { name: 'Kith', address: 'kith@home.example' }
  const mailer = openMailer({ smtpUrl, from, directory: '/nonexistent', clock: { now: () => 0 } })
  const template = fc.constantFrom(...mailTemplates)
  const language = fc.constantFrom(...(Object.keys(mailLanguages) as ('en' | 'de')[]))
  let sent = 0
  await fc.assert(
    fc.asyncProperty(template, language, name, name, name, async (of, lang, idTag, owner, about) => {
      const rendered = renderMail(of, lang, { idTag, owner, about, link, untilSecs: 0 })
      await mailer.send({ to: 'anna@example.com', ...rendered })
      sent += 1
      expect(server.received).toHaveLength(sent)
      const { from: sender, to, source = '' } = server.received.at(-1) ?? {}
      expect([sender, to]).toEqual(['kith@home.example', ['anna@example.com']])
      const { headers, parts } = read(source)
      expect(headers.map((header) => header.split(':')[0]).sort()).toEqual([
        'Auto-Submitted',
        'Content-Type',
        'Date',
        'From',
        'MIME-Version',
        'Message-ID',
        'Subject',
        'To',
      ])
      expect(headers.join('')).toMatch(/^\p{ASCII}*$/u)
      expect(parts).toHaveLength(2)
      expect(parts.filter((part) => !isAsSaid(part))).toEqual([])
      expect(parts[1]).not.toMatch(/<(img|script)/)
    }),
    { numRuns: runsOf(20) },
  )
})
