import { call, keepSignedIn, keepsCookies, resume } from './api.js'
import { complain, element, idTag, onClick, onSubmit, say, spaced, text, wipeDevice } from './browser.js'
import { askAgain, readIdentity } from './fields.js'
import { canUsePasskeys, usePasskey } from './passkeys.js'
import { pathBack } from './path-back.js'

// Where the web app is built.
const appPaths = document.body.dataset.appPaths?.split(' ')
const waitSecs = 25
const retryMs = 3000

/** Goes on where the person came from: on a page of this server, or with an invitation. Nothing else of the address counts. */
function goOn() {
  const given = new URLSearchParams(location.hash.slice(1))
  const invitation = given.get('invitation')
  if (invitation !== null) location.replace(`/communities/new#token=${encodeURIComponent(invitation)}`)
  else if (given.has('qr')) location.replace(`/approve#qr=${encodeURIComponent(given.get('qr'))}`)
  else location.replace(pathBack(given.get('to'), location.origin, appPaths) ?? (appPaths ? '/' : '/account'))
}

async function enter(login) {
  if (!(await keepSignedIn(login))) throw new Error(text('noCookies'))
  goOn()
}

/** Whom the form names: only who lives at this address signs in here. */
function named() {
  const typed = element('id-tag').value.trim()
  if (typed === '') return undefined
  const identity = readIdentity(typed)
  if (identity === undefined) askAgain('id-tag', text('identityWrong', { idTag }))
  const port = location.port === '' ? '' : `:${location.port}`
  const address = `${location.protocol}//${identity}${port}/login`
  if (identity !== idTag) askAgain('id-tag', text('signsInElsewhere', { idTag, identity, address }))
  return identity
}

async function start() {
  if (!keepsCookies) complain(text('noCookies'))
  if (!canUsePasskeys()) element('passkey').hidden = true
  if (await resume()) goOn()
  else await wipeDevice()
}

onSubmit('password-form', async () => {
  const body = { idTag: named() ?? idTag, password: element('password').value }
  say(text('working'))
  await enter(await call('POST', '/api/auth/login', { body }))
})

onClick('passkey', async () => {
  const identity = named()
  say(text('working'))
  const query = identity === undefined ? '' : `?idTag=${encodeURIComponent(identity)}`
  const { options } = await call('GET', `/api/auth/wa/login/challenge${query}`)
  const credential = await usePasskey(options).catch((error) => {
    throw new Error(error.name === 'SecurityError' ? text('noPasskeys') : text('passkeyCancelled'))
  })
  await enter(await call('POST', '/api/auth/wa/login', { body: { credential } }))
})

onClick('forgot', async () => {
  const body = { idTag: named() ?? idTag, lang: document.documentElement.lang }
  await call('POST', '/api/auth/forgot-password', { body })
  say(text('mailSent'))
})

onClick('qr-start', async () => {
  const session = await call('POST', '/api/auth/qr-login/init')
  const link = `${location.origin}/approve#qr=${session.sessionId}`
  // More than the rest of the page, and seldom asked for.
  const { qrImage } = await import('./qr-image.js')
  element('qr-image').replaceChildren(qrImage(link, text('qrImage')))
  element('qr-link').textContent = link
  element('short-code').textContent = spaced(session.code)
  element('qr').hidden = false
  element('qr-start').hidden = true
  say(text('qrWaiting'))
  // The page stays usable while the other device is awaited.
  void awaitAnswer(session).finally(() => {
    element('qr').hidden = true
    element('qr-start').hidden = false
  })
})

async function awaitAnswer(session) {
  for (;;) {
    const { status, login } = await poll(session)
    // Handed out once: it must not wait for what else the page does.
    if (login) return await enter(login).catch((error) => complain(error.message))
    if (status === 'denied') return complain(text('qrDenied'))
    if (status !== 'pending') return complain(text('qrExpired'))
  }
}

async function poll({ sessionId, secret }) {
  const path = `/api/auth/qr-login/${encodeURIComponent(sessionId)}/status?timeout=${waitSecs}`
  try {
    return await call('GET', path, { headers: { 'x-qr-secret': secret } })
  } catch (error) {
    if (error.code !== 'offline' && error.code !== 'E-RATELIMIT') return { status: 'expired' }
    await new Promise((resolve) => setTimeout(resolve, retryMs))
    return { status: 'pending' }
  }
}

// Nothing that a person types waits for it, and what goes wrong shows when the form is sent.
void start().catch(() => undefined)
