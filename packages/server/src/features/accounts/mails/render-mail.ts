import { Eta } from 'eta/core'
import { type MailLanguage, type MailTemplate, mailLanguages } from './mail-texts.ts'

interface MailFacts {
  readonly idTag: string
  /** The future owner of the name, when that is not the reader. */
  readonly owner?: string
  /** What it is about, where the texts cannot say it. */
  readonly about?: string
  /** Of mails that carry a reference. */
  readonly link?: string
  /** When the reference ends, Unix seconds. */
  readonly untilSecs?: number
}

interface RenderedMail {
  readonly subject: string
  readonly text: string
  readonly html: string
}

const layout = `<!doctype html>
<html lang="<%= it.language %>">
<head><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title><%= it.subject %></title></head>
<body style="font-family:sans-serif;line-height:1.5;max-width:36em;margin:2em auto;padding:0 1em">
<% for (const paragraph of it.paragraphs) { %><p><%= paragraph %></p>
<% } %><% if (it.link) { %><p><a href="<%= it.link %>" style="display:inline-block;padding:.6em 1.2em;background:#1a56db;color:#fff;text-decoration:none;border-radius:.4em"><%= it.action %></a></p>
<p style="color:#555;font-size:.9em;word-break:break-all"><%= it.link %></p>
<% } %></body>
</html>
`

const html = new Eta({ autoEscape: true })
const plain = new Eta({ autoEscape: false })

/** A mail in the words of a language. What is filled in is escaped in the HTML part. */
export function renderMail(template: MailTemplate, language: MailLanguage, facts: MailFacts): RenderedMail {
  const { subject, paragraphs, action } = mailLanguages[language][template]
  const { idTag, owner, about, link, untilSecs } = facts
  const values = {
    idTag,
    owner,
    about,
    until: untilSecs === undefined ? '' : readableTime(untilSecs, language),
  }
  const filled = paragraphs.map((paragraph) => plain.renderString(paragraph, values))
  const page = { language, subject, paragraphs: filled, link, action }
  return {
    subject,
    text: `${[...filled, ...(link === undefined ? [] : [link])].join('\n\n')}\n`,
    html: html.renderString(layout, page),
  }
}

function readableTime(secs: number, language: MailLanguage): string {
  const format = { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' } as const
  return `${new Intl.DateTimeFormat(language, format).format(secs * 1000)} UTC`
}
