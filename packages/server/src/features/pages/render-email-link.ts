import type { Tenant } from '#infra/caller/index.ts'
import { escapeHtml, frame } from './html.ts'
import type { PageLanguage } from './page-language.ts'
import { pageTexts } from './page-texts.ts'

/** What a link to confirm an address has led to. */
export type EmailLinkOutcome =
  | { readonly kind: 'open' | 'confirmed'; readonly email: string }
  | { readonly kind: 'done'; readonly email: string; readonly signedOut: boolean }
  | { readonly kind: 'spent' | 'unknown' | 'tooMany' }

export const emailLinkStatus: Readonly<Record<EmailLinkOutcome['kind'], number>> = {
  open: 200,
  confirmed: 200,
  done: 200,
  spent: 410,
  unknown: 404,
  tooMany: 429,
}

/** The page of a link that confirms an address. It has no script: the button sends the token of the address back. */
export function renderEmailLink(
  outcome: EmailLinkOutcome,
  {
    idTag,
    token,
    onward: place,
  }: Pick<Tenant, 'idTag'> & { readonly token: string; readonly onward: string },
  language: PageLanguage,
): string {
  const texts = pageTexts[language]
  const fill = (text: string) =>
    text
      // Functions, since `$` in a text would be a pattern.
      .replace('{idTag}', () => escapeHtml(idTag))
      .replace('{email}', () => ('email' in outcome ? `<strong>${escapeHtml(outcome.email)}</strong>` : ''))
  const action = `/confirm-email?token=${encodeURIComponent(token)}`
  const onward = `<p><a href="${place}">${texts.emailOnward}</a></p>`
  const bodies: Readonly<Record<EmailLinkOutcome['kind'], readonly string[]>> = {
    open: [
      `<p>${fill(texts.emailOpen)}</p>`,
      `<form method="post" action="${escapeHtml(action)}"><button type="submit">${texts.confirmEmail}</button></form>`,
      `<p class="hint">${texts.emailNotYours}</p>`,
    ],
    done: [`<p role="status">${fill(texts.emailDone)}</p>`, onward],
    confirmed: [`<p role="status">${fill(texts.emailDone)}</p>`, onward],
    spent: [`<p role="alert">${texts.emailSpent}</p>`, onward],
    unknown: [`<p role="alert">${texts.emailUnknown}</p>`, onward],
    tooMany: [`<p role="alert">${texts.tooMany}</p>`, onward],
  }
  const ended = outcome.kind === 'done' && outcome.signedOut ? [`<p>${texts.emailSignedOut}</p>`] : []
  const main = [`<h1>${texts.confirmEmail}</h1>`, ...ended, ...bodies[outcome.kind]].join('\n')
  const title = `${texts.confirmEmail} – ${escapeHtml(idTag)}`
  return frame({ language, title, head: '', bodyAttributes: '', main })
}
