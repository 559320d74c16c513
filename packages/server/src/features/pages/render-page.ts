import type { Tenant } from '#infra/caller/index.ts'
import type { PageLanguage } from './page-language.ts'
import { type PageTexts, pageTexts, scriptTexts } from './page-texts.ts'

export type PageName =
  | 'home'
  | 'login'
  | 'set-password'
  | 'register'
  | 'activate'
  | 'found-community'
  | 'shared'

/** The tenant of a page. */
interface PageOwner extends Pick<Tenant, 'idTag'> {
  /** Who may register here; undefined where registration is closed. */
  readonly registration?: 'open' | 'invite' | undefined
}

/** The HTML of a page of a person. Nothing in it is secret: data of the visitor is loaded by script. */
export function renderPage(name: PageName, owner: PageOwner, language: PageLanguage): string {
  const texts = pageTexts[language]
  const { idTag, registration } = owner
  const { title, main } = contents[name](texts, escapeHtml(idTag), registration)
  return frame({
    language,
    title: `${title} – ${escapeHtml(idTag)}`,
    head: `<script type="module" src="/assets/${name}.js"></script>`,
    bodyAttributes: ` data-id-tag="${escapeHtml(idTag)}"${registration ? ` data-registration="${registration}"` : ''} data-texts="${escapeHtml(JSON.stringify(scriptTexts[language]))}"`,
    main: `<noscript><p>${texts.needsScript}</p></noscript>
<p id="status" role="status"></p>
<p id="problem" role="alert"></p>
<div id="page" inert>
${main}
</div>`,
  })
}

/** A page with a message only. */
export function renderNotice(
  notice: 'community' | 'absent' | 'absentPage',
  title: string | undefined,
  language: PageLanguage,
): string {
  const heading = escapeHtml(title ?? 'Kith')
  const main = `<h1>${heading}</h1>\n<p>${pageTexts[language][notice]}</p>`
  return frame({ language, title: heading, head: '', bodyAttributes: '', main })
}

interface Contents {
  readonly title: string
  readonly main: string
}

type Render = (texts: PageTexts, idTag: string, registration: PageOwner['registration']) => Contents

const contents: Record<PageName, Render> = {
  login: (texts, idTag, registration) => ({
    title: texts.signIn,
    main: loginMain(texts, idTag) + (registration === 'open' ? registerLink(texts) : ''),
  }),
  register: (texts, idTag) => ({ title: texts.register, main: registerMain(texts, idTag) }),
  'set-password': (texts, idTag) => ({ title: texts.setPassword, main: setPasswordMain(texts, idTag) }),
  activate: (texts) => ({ title: texts.activate, main: activateMain(texts) }),
  'found-community': (texts) => ({ title: texts.found, main: foundMain(texts) }),
  shared: (texts, idTag) => ({ title: texts.shared, main: sharedMain(texts, idTag) }),
  home: (texts, idTag) => ({ title: 'Kith', main: homeMain(texts, idTag) }),
}

// Until its script runs a page takes no input: a form sent before would be lost.
// The forms post, so that without their script a password would not become part of an address.
function loginMain(texts: PageTexts, idTag: string): string {
  return `<h1>${texts.signIn}</h1>
<form id="password-form" method="post">
<label for="id-tag">${texts.identity}</label>
<input id="id-tag" name="id-tag" autocomplete="username webauthn" autocapitalize="none" spellcheck="false" value="${idTag}" aria-describedby="passkey-hint">
<label for="password">${texts.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button type="submit">${texts.signIn}</button>
<button type="button" id="passkey" class="quiet">${texts.passkeySignIn}</button>
<p id="passkey-hint" class="hint">${texts.passkeyHint}</p>
<button type="button" id="forgot" class="link">${texts.forgotPassword}</button>
</form>
<section aria-labelledby="qr-title">
<h2 id="qr-title">${texts.otherDevice}</h2>
<p class="hint">${texts.otherDeviceHint}</p>
<button type="button" id="qr-start" class="quiet">${texts.showCode}</button>
<div id="qr" hidden>
<div id="qr-image"></div>
<p><code id="qr-link"></code></p>
</div>
</section>`
}

function registerLink(texts: PageTexts): string {
  return `\n<p><a href="/register">${texts.register}</a></p>`
}

function setPasswordMain(texts: PageTexts, idTag: string): string {
  return `<h1>${texts.setPassword}</h1>
<form id="password-form" method="post">
<label for="id-tag">${texts.identity}</label>
<input id="id-tag" name="id-tag" autocomplete="username" value="${idTag}" readonly>
<label for="password">${texts.newPassword}</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="1024" required aria-describedby="password-hint">
<p id="password-hint" class="hint">${texts.newPasswordHint}</p>
<label for="repeated">${texts.repeatPassword}</label>
<input id="repeated" name="repeated" type="password" autocomplete="new-password" required>
<label class="choice" id="everything-line" hidden><input type="checkbox" id="everything" checked> ${texts.signOutEverything}</label>
<button type="submit">${texts.setPassword}</button>
</form>`
}

function registerMain(texts: PageTexts, idTag: string): string {
  return `<h1>${texts.register}</h1>
<form id="register-form" method="post">
<p class="hint">${texts.registerHint}</p>
<fieldset>
<legend>${texts.nameKind}</legend>
<label class="choice"><input type="radio" name="kind" value="idp" checked> ${texts.nameHere.replace('{domain}', idTag)}</label>
<label class="choice"><input type="radio" name="kind" value="domain"> ${texts.nameOwn}</label>
<label class="choice"><input type="radio" name="kind" value="elsewhere"> ${texts.nameElsewhere}</label>
</fieldset>
<label for="wanted">${texts.name}</label>
<input id="wanted" name="wanted" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="253" required aria-describedby="identity-line">
<p id="identity-line" class="hint">${texts.identityWillBe} <output id="identity" for="wanted">…</output></p>
<label for="email">${texts.email}</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" required aria-describedby="email-hint">
<p id="email-hint" class="hint">${texts.emailHint}</p>
<button type="submit">${texts.register}</button>
</form>
<section id="registered" aria-labelledby="registered-title" hidden>
<h2 id="registered-title" tabindex="-1">${texts.registered}</h2>
<p id="registered-text"></p>
</section>`
}

// Only a person's click activates: programs that look at the links in mails follow them as well.
function activateMain(texts: PageTexts): string {
  return `<h1>${texts.activate}</h1>
<form id="activate-form" method="post">
<p class="hint">${texts.activateHint}</p>
<label class="choice"><input type="checkbox" id="keep-keys"> ${texts.keepKeys}</label>
<button type="submit">${texts.activateName}</button>
</form>`
}

function foundMain(texts: PageTexts): string {
  return `<h1>${texts.found}</h1>
<form id="found-form" method="post">
<p class="hint">${texts.foundHint}</p>
<label for="called">${texts.communityName}</label>
<input id="called" name="called" autocomplete="off" maxlength="100" required>
<label for="wanted">${texts.communityTag}</label>
<input id="wanted" name="wanted" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="253" required>
<button type="submit">${texts.found}</button>
</form>`
}

function sharedMain(texts: PageTexts, idTag: string): string {
  return `<section id="opening">
<h1>${texts.shared}</h1>
<p class="hint">${texts.sharedHint.replace('{idTag}', idTag)}</p>
<button type="button" id="open">${texts.sharedOpen}</button>
</section>
<section id="content" aria-labelledby="content-title" hidden>
<h1 id="content-title" tabindex="-1"></h1>
<p id="about"></p>
<button type="button" id="up" class="quiet" hidden>${texts.sharedUp}</button>
<ul id="files"></ul>
<button type="button" id="more" class="quiet" hidden>${texts.sharedMore}</button>
</section>`
}

function homeMain(texts: PageTexts, idTag: string): string {
  return `<h1 id="name">${idTag}</h1>
<div id="signed-in" hidden>
<p id="who"></p>
<button type="button" id="sign-out" class="quiet">${texts.signOut}</button>
<section aria-labelledby="approve-title">
<h2 id="approve-title">${texts.approve}</h2>
<form id="approve-form" method="post">
<label for="device-code">${texts.deviceCode}</label>
<input id="device-code" name="device-code" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="500" required aria-describedby="approve-hint">
<p id="approve-hint" class="hint">${texts.approveHint}</p>
<button type="submit">${texts.lookAt}</button>
</form>
<div id="device" hidden>
<dl id="device-details"></dl>
<p class="warning">${texts.approveWarning}</p>
<button type="button" id="deny">${texts.deny}</button>
<button type="button" id="allow" class="quiet">${texts.allow}</button>
</div>
</section>
<section aria-labelledby="sessions-title">
<h2 id="sessions-title">${texts.sessions}</h2>
<ul id="sessions"></ul>
</section>
<section aria-labelledby="passkeys-title">
<h2 id="passkeys-title">${texts.passkeys}</h2>
<ul id="passkeys"></ul>
<form id="passkey-form" method="post">
<label for="passkey-name">${texts.passkeyName}</label>
<input id="passkey-name" name="passkey-name" autocomplete="off" maxlength="100">
<button type="submit">${texts.addPasskey}</button>
</form>
</section>
<p><a href="/api/docs">${texts.apiDocs}</a></p>
</div>`
}

interface Frame {
  readonly language: PageLanguage
  readonly title: string
  readonly head: string
  readonly bodyAttributes: string
  readonly main: string
}

function frame({ language, title, head, bodyAttributes, main }: Frame): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/kith.css">
${head}
</head>
<body${bodyAttributes}>
<main>
${main}
</main>
</body>
</html>
`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}
