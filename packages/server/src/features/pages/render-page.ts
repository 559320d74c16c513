import type { Tenant } from '#infra/caller/index.ts'
import { appPageTexts, appScriptTexts } from './app-page-texts.ts'
import { foundPageTexts, foundScriptTexts } from './found-page-texts.ts'
import { escapeHtml, frame } from './html.ts'
import { contents, type PageName, placesOf } from './page-contents.ts'
import type { PageLanguage } from './page-language.ts'
import { scriptTexts } from './page-script-texts.ts'
import { pageTexts } from './page-texts.ts'

/** The tenant of a page. */
interface PageOwner extends Pick<Tenant, 'idTag'> {
  /** Who may register here; undefined where registration is closed. */
  readonly registration?: 'open' | 'invite' | undefined
  /** Do mails stay on this server, because it has no mail server? */
  readonly areMailsKept?: boolean | undefined
  /** Who may make communities here, where the page is about that. */
  readonly creation?: 'open' | 'invite' | undefined
  /** Of the web app, where it is built. */
  readonly appPaths?: readonly string[] | undefined
}

/** The HTML of a page of a person. Nothing in it is secret: data of the visitor is loaded by script. */
export function renderPage(name: PageName, owner: PageOwner, language: PageLanguage): string {
  const texts = { ...pageTexts[language], ...appPageTexts[language], ...foundPageTexts[language] }
  const { idTag, registration, creation, appPaths } = owner
  const ofScript = {
    ...scriptTexts[language],
    ...(isAboutApps(name) ? appScriptTexts[language] : {}),
    ...(name === 'found-community' ? foundScriptTexts[language] : {}),
  }
  const places = placesOf(appPaths !== undefined)
  const { title, main } = contents[name](texts, escapeHtml(idTag), { registration, places })
  return frame({
    language,
    title: `${title} – ${escapeHtml(idTag)}`,
    head: `${styled.has(name) ? `<link rel="stylesheet" href="/assets/${name}.css">\n` : ''}<script src="/assets/look.js"></script>\n<script type="module" src="/assets/${name}.js"></script>`,
    bodyAttributes: attributesOf({
      'id-tag': idTag,
      registration,
      mails: owner.areMailsKept ? 'kept' : undefined,
      creation,
      'app-paths': name === 'login' ? appPaths?.join(' ') : undefined,
      ...(name === 'set-password' ? { home: places.home, welcome: places.welcome } : {}),
      texts: JSON.stringify(ofScript),
    }),
    main: `<noscript><p>${texts.needsScript}</p></noscript>
<p id="status" role="status"></p>
<p id="problem" role="alert"></p>
<div id="page" inert>
${main}
</div>`,
  })
}

// Those that look otherwise than forms do.
const styled: ReadonlySet<PageName> = new Set(['shared'])

function attributesOf(data: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(data)
    .map(([name, value]) => (value === undefined ? '' : ` data-${name}="${escapeHtml(value)}"`))
    .join('')
}

/** The page of every address that has none, or none that may be told of: the same on all hosts. */
export function renderAbsent(language: PageLanguage): string {
  const { absent, absentHint, toStart } = pageTexts[language]
  const main = `<h1>${absent}</h1>
<p>${absentHint}</p>
<p><a href="/">${toStart}</a></p>`
  return frame({ language, title: absent, head: '', bodyAttributes: '', main })
}

function isAboutApps(name: PageName): boolean {
  return name === 'app' || name === 'apps'
}
