import type { Tenant } from '#infra/caller/index.ts'
import { followForm, type Visitor } from './follow-elsewhere.ts'
import { escapeHtml, frame } from './html.ts'
import { joinPageTexts } from './join-page-texts.ts'
import type { PageLanguage } from './page-language.ts'
import { pageTexts } from './page-texts.ts'

interface JoinPage {
  readonly community: Pick<Tenant, 'idTag'> & { readonly name: string }
  readonly visitor: Visitor
  /** Lives the visitor on this server? */
  readonly isHere: boolean
  /** Where everybody may register. */
  readonly registerUrl: string | undefined
}

/** The page to which a link into a community leads: it takes a visitor to the app of their own server. The code of the link stays
 * in the browser, whose script hands it on. */
export function renderJoin(
  { community, visitor, isHere, registerUrl }: JoinPage,
  language: PageLanguage,
): string {
  const texts = joinPageTexts[language]
  const name = escapeHtml(community.name)
  const title = texts.joinTitle.replace('{name}', () => name)
  const idTag = escapeHtml(community.idTag)
  const main = `<section id="over" hidden>
<h1 id="over-title" tabindex="-1">${texts.joinOver}</h1>
<p>${texts.joinOverHint}</p>
</section>
<section id="joining">
<h1>${title}</h1>
<p>${texts.joinInvites.replace('{name}', () => name).replace('{idTag}', () => idTag)}</p>
${visitor.address === undefined ? followForm(language, visitor, '/join') : onward(visitor.address, isHere, language)}
${registerUrl === undefined || visitor.address !== undefined ? '' : registerPart(registerUrl, language)}
</section>
<p><a href="/">${texts.joinToCommunity}</a></p>`
  const head = `<script src="/assets/look.js"></script>\n<script type="module" src="/assets/join.js"></script>`
  return frame({ language, title, head, bodyAttributes: '', main })
}

function onward(address: string, isHere: boolean, language: PageLanguage): string {
  const { visitorOn, visitorOnward } = pageTexts[language]
  const host = escapeHtml(new URL(address).host)
  return `<p>${visitorOnward.replace('{host}', () => host)}</p>
<p><a id="onward" href="${escapeHtml(address)}" rel="nofollow"${isHere ? ' data-here' : ''}>${visitorOn}</a></p>`
}

function registerPart(url: string, language: PageLanguage): string {
  const texts = joinPageTexts[language]
  return `<h2>${texts.joinRegister}</h2>
<p><a href="${escapeHtml(url)}" target="_blank" rel="noopener">${texts.joinRegisterHere}</a></p>
<p class="hint">${texts.joinComeBack}</p>`
}
