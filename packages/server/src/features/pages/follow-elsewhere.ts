import { type IdTag, parseIdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import { escapeHtml, frame } from './html.ts'
import type { PageLanguage } from './page-language.ts'
import { pageTexts } from './page-texts.ts'

/** The identity that a visitor has typed, or the address of its server. */
export function parseVisitor(typed: string): IdTag | undefined {
  return parseIdTag(
    typed
      .trim()
      .replace(/^https:\/\//i, '')
      .replace(/^@/, '')
      .replace(/\/$/, ''),
  )
}

/** Where the app of a server shows somebody, and how to follow or join. */
export function followAddress(serverUrl: string, { idTag, type }: Pick<Tenant, 'idTag' | 'type'>): string {
  return `${serverUrl}/${type === 'community' ? 'communities' : 'profiles'}/${idTag}`
}

export interface Visitor {
  readonly typed: string
  /** Undefined where what was typed is no identity. */
  readonly address: string | undefined
}

/** On a public page, folded: a form that takes a visitor to the app of their own server. It needs no script. */
export function followPart({ type }: Pick<Tenant, 'type'>, language: PageLanguage): string {
  const title = titleOf(type, language)
  return `<details class="follow">
<summary>${title}</summary>
${followForm(language, { typed: '', address: undefined })}
</details>`
}

function titleOf(type: Tenant['type'], language: PageLanguage): string {
  const { joinElsewhere, followElsewhere } = pageTexts[language]
  return type === 'community' ? joinElsewhere : followElsewhere
}

/** Asks for the identity of a visitor, whom `action` then shows the way. */
export function followForm(language: PageLanguage, { typed, address }: Visitor, action = '/follow'): string {
  const texts = pageTexts[language]
  const isWrong = typed !== '' && address === undefined
  const problem = isWrong ? `<p id="visitor-problem" role="alert">${texts.visitorWrong}</p>\n` : ''
  const about = isWrong ? 'visitor-hint visitor-problem' : 'visitor-hint'
  return `<form action="${action}">
<label for="visitor">${texts.visitor}</label>
<input id="visitor" name="visitor" value="${escapeHtml(typed)}" autocomplete="off" autocapitalize="none" spellcheck="false" inputmode="url" maxlength="253" required aria-describedby="${about}"${isWrong ? ' aria-invalid="true"' : ''}>
<p id="visitor-hint" class="hint">${texts.visitorHint}</p>
${problem}<button type="submit" class="quiet">${texts.visitorOn}</button>
</form>`
}

/** The page of the form: where it was filled in wrongly, or a link of somebody else has filled it in. */
export function renderFollow(
  owner: Pick<Tenant, 'idTag' | 'type'>,
  visitor: Visitor,
  language: PageLanguage,
): string {
  const texts = pageTexts[language]
  const idTag = escapeHtml(owner.idTag)
  const { address } = visitor
  const onward =
    address === undefined
      ? `<h2>${titleOf(owner.type, language)}</h2>
${followForm(language, visitor)}`
      : `<p>${texts.visitorOnward.replace('{host}', () => escapeHtml(new URL(address).host))}</p>
<p><a href="${escapeHtml(address)}" rel="nofollow">${texts.visitorOn}</a></p>`
  const main = `<h1>${idTag}</h1>
${onward}
<p><a href="/">${texts.toStart}</a></p>`
  return frame({ language, title: idTag, head: '', bodyAttributes: '', main })
}
