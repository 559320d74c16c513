import { appMain, appsMain } from './app-page-content.ts'
import type { AppPageTexts } from './app-page-texts.ts'
import type { FoundPageTexts } from './found-page-texts.ts'
import type { PageTexts } from './page-texts.ts'

export type PageName =
  | 'account'
  | 'app'
  | 'apps'
  | 'approve'
  | 'login'
  | 'set-password'
  | 'register'
  | 'activate'
  | 'found-community'
  | 'shared'

interface Contents {
  readonly title: string
  readonly main: string
}

type Render = (
  texts: PageTexts & AppPageTexts & FoundPageTexts,
  idTag: string,
  owner: { readonly registration: 'open' | 'invite' | undefined; readonly places: Places },
) => Contents

/** Where a page leads on to: screens of the web app, and without it the page of the account. */
export function placesOf(hasApp: boolean) {
  const at = (screen: string) => (hasApp ? screen : '/account')
  return {
    home: at('/'),
    welcome: at('/welcome'),
    communities: at('/communities'),
    security: at('/settings/security'),
    sessions: at('/settings/sessions'),
  } as const
}
type Places = ReturnType<typeof placesOf>

/** What stands on each page. */
export const contents: Record<PageName, Render> = {
  app: (texts) => ({ title: texts.apps, main: appMain(texts) }),
  apps: (texts) => ({ title: texts.apps, main: appsMain(texts) }),
  login: (texts, idTag, { registration }) => ({
    title: texts.signIn,
    main: loginMain(texts, idTag) + (registration === 'open' ? registerLink(texts) : ''),
  }),
  register: (texts, idTag) => ({ title: texts.register, main: registerMain(texts, idTag) }),
  'set-password': (texts, idTag, { places }) => ({
    title: texts.setPassword,
    main: setPasswordMain(texts, idTag, places),
  }),
  activate: (texts) => ({ title: texts.activate, main: activateMain(texts) }),
  'found-community': (texts, _, { places }) => ({ title: texts.found, main: foundMain(texts, places) }),
  shared: (texts, idTag) => ({ title: texts.shared, main: sharedMain(texts, idTag) }),
  account: (texts, idTag) => ({ title: texts.account, main: accountMain(texts, idTag) }),
  approve: (texts, _, { places }) => ({ title: texts.approve, main: approveMain(texts, places) }),
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
<p class="hint" id="short-code-hint">${texts.shortCodeHint}</p>
<p><output id="short-code" class="short-code" aria-describedby="short-code-hint"></output></p>
</div>
</section>`
}

function registerLink(texts: PageTexts): string {
  return `\n<p><a href="/register">${texts.register}</a></p>`
}

function setPasswordMain(texts: PageTexts, idTag: string, { welcome }: Places): string {
  return `<h1>${texts.setPassword}</h1>
${linkOver(
  texts,
  `<button type="button" id="new-link" class="quiet">${texts.newLink}</button>
${signInLink(texts)}`,
)}
<form id="password-form" method="post" hidden>
<label for="id-tag">${texts.identity}</label>
<input id="id-tag" name="id-tag" autocomplete="username" value="${idTag}" readonly>
<label for="password">${texts.newPassword}</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="1024" required aria-describedby="password-hint">
<p id="password-hint" class="hint">${texts.newPasswordHint}</p>
<label for="repeated">${texts.repeatPassword}</label>
<input id="repeated" name="repeated" type="password" autocomplete="new-password" required>
<label class="choice" id="everything-line" hidden><input type="checkbox" id="everything" checked> ${texts.signOutEverything}</label>
<button type="submit">${texts.setPassword}</button>
</form>
<form id="email-form" method="post" hidden>
<label for="email">${texts.email}</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" required aria-describedby="email-hint">
<p id="email-hint" class="hint">${texts.emailSetUp}</p>
<button type="submit">${texts.emailAsk}</button>
<p><a href="${welcome}">${texts.emailLater}</a></p>
</form>`
}

function registerMain(texts: PageTexts, idTag: string): string {
  return `<h1>${texts.register}</h1>
${linkOver(
  texts,
  `<p>${texts.newInvitation}</p>
${signInLink(texts)}`,
)}
<form id="register-form" method="post" hidden>
<p class="hint">${texts.registerHint}</p>
<fieldset>
<legend>${texts.nameKind}</legend>
<label class="choice"><input type="radio" name="kind" value="idp" checked> ${texts.nameHere.replace('{domain}', idTag)}</label>
<label class="choice"><input type="radio" name="kind" value="domain"> ${texts.nameOwn}</label>
<p id="own-hint" class="hint" hidden>${texts.nameOwnHint}</p>
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
${linkOver(texts, `<p>${texts.newActivation}</p>`)}
<form id="activate-form" method="post" hidden>
<p class="hint">${texts.activateHint}</p>
<label class="choice"><input type="checkbox" id="keep-keys"> ${texts.keepKeys}</label>
<button type="submit">${texts.activateName}</button>
</form>
<p><a id="onward" href="/" hidden></a></p>`
}

function foundMain(texts: PageTexts & FoundPageTexts, { communities }: Places): string {
  return `<h1>${texts.found}</h1>
${linkOver(
  texts,
  `<p>${texts.newInvitation}</p>
<p><a href="${communities}">${texts.account}</a></p>`,
)}
<form id="found-form" method="post" hidden>
<p class="hint">${texts.foundHint}</p>
<label for="called">${texts.communityName}</label>
<input id="called" name="called" autocomplete="off" maxlength="100" required>
<label for="wanted">${texts.communityTag}</label>
<input id="wanted" name="wanted" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="253" required aria-describedby="wanted-hint">
<p id="wanted-hint" class="hint">${texts.communityTagHint}</p>
<button type="submit">${texts.found}</button>
</form>
<p id="found-next" hidden><a id="found-link" href="${communities}">${texts.toCommunity}</a></p>
<p id="found-back" hidden><a href="${communities}">${texts.toCommunities}</a></p>`
}

function sharedMain(texts: PageTexts, idTag: string): string {
  return `${linkOver(texts, `<p>${texts.newShare.replace('{idTag}', idTag)}</p>`)}
<section id="opening" hidden>
<h1>${texts.shared}</h1>
<p class="hint">${texts.sharedHint.replace('{idTag}', idTag)}</p>
<button type="button" id="open">${texts.sharedOpen}</button>
</section>
<section id="content" aria-labelledby="content-title" hidden>
<h1 id="content-title" tabindex="-1"></h1>
<p id="about"></p>
<div id="tools" hidden>
<button type="button" id="up" class="quiet" hidden>${texts.sharedUp}</button>
<button type="button" id="add" hidden>${texts.sharedAdd}</button>
<button type="button" id="look" class="quiet" hidden></button>
<a id="zip" hidden>${texts.sharedZip}</a>
</div>
<input id="add-input" type="file" multiple hidden>
<ul id="uploads"></ul>
<ul id="files" class="list"></ul>
<button type="button" id="more" class="quiet" hidden>${texts.sharedMore}</button>
</section>
${viewerMain(texts)}`
}

function viewerMain(texts: PageTexts): string {
  return `<dialog id="viewer" aria-labelledby="viewer-name">
<header>
<button type="button" id="viewer-close" class="quiet">${texts.close}</button>
<div>
<h2 id="viewer-name"></h2>
<p id="viewer-at" role="status"></p>
</div>
<a id="viewer-download">${texts.save}</a>
</header>
<div id="viewer-strip" tabindex="0"></div>
<button type="button" id="viewer-previous" class="quiet" aria-label="${texts.previous}">‹</button>
<button type="button" id="viewer-next" class="quiet" aria-label="${texts.next}">›</button>
</dialog>`
}

function accountMain(texts: PageTexts & AppPageTexts & FoundPageTexts, idTag: string): string {
  return `<h1 id="name">${idTag}</h1>
<div id="signed-in" hidden>
<p id="who"></p>
<p><a href="/">${texts.publicPage}</a></p>
<p><a href="/apps">${texts.apps}</a></p>
<p><a href="/approve">${texts.approve}</a></p>
<button type="button" id="sign-out" class="quiet">${texts.signOut}</button>
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
<section aria-labelledby="email-title">
<h2 id="email-title">${texts.emailSection}</h2>
<p id="email-missing" class="warning" hidden>${texts.emailMissing}</p>
<p id="email-address"></p>
<p id="email-pending" class="hint"></p>
<form id="email-form" method="post">
<label for="email">${texts.emailNew}</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" required>
<label for="email-password">${texts.emailPassword}</label>
<input id="email-password" name="email-password" type="password" autocomplete="current-password">
<button type="submit">${texts.emailAsk}</button>
</form>
</section>
<p><a href="/api/docs">${texts.apiDocs}</a></p>
</div>`
}

function approveMain(texts: PageTexts, { sessions }: Places): string {
  return `<h1>${texts.approve}</h1>
<div id="approving" hidden>
<form id="approve-form" method="post">
<label for="device-code">${texts.deviceCode}</label>
<input id="device-code" name="device-code" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="500" required aria-describedby="approve-hint">
<p id="approve-hint" class="hint">${texts.approveHint}</p>
<button type="submit">${texts.lookAt}</button>
</form>
<section id="device" aria-labelledby="device-title" hidden>
<h2 id="device-title" tabindex="-1">${texts.approveDevice}</h2>
<p class="hint" id="short-code-hint">${texts.sameCode}</p>
<p><output id="short-code" class="short-code" aria-describedby="short-code-hint"></output></p>
<dl id="device-details"></dl>
<p class="warning">${texts.approveWarning}</p>
<button type="button" id="deny">${texts.deny}</button>
<button type="button" id="allow" class="quiet">${texts.allow}</button>
<form id="prove-form" method="post" hidden>
<label for="password">${texts.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button type="submit">${texts.allowWithPassword}</button>
<button type="button" id="prove-passkey" class="quiet">${texts.allowWithPasskey}</button>
</form>
</section>
<p><a href="${sessions}">${texts.account}</a></p>
</div>`
}

/** What stands in place of the form when a link is over, with the ways onward. */
function linkOver(texts: PageTexts, onward: string): string {
  return `<section id="link-over" aria-labelledby="link-over-title" hidden>
<h2 id="link-over-title" tabindex="-1">${texts.linkOver}</h2>
<p id="link-over-why"></p>
${onward}
</section>`
}

function signInLink(texts: PageTexts): string {
  return `<p><a href="/login">${texts.signIn}</a></p>`
}
