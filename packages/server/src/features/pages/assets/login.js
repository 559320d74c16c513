import { call, hasToken, keepToken } from './api.js'
import { complain, element, idTag, onClick, onSubmit, run, say, text } from './browser.js'
import { canUsePasskeys, usePasskey } from './passkeys.js'
import { qrImage } from './qr-image.js'

const waitSecs = 25
const retryMs = 3000

/** Who came with the code of another device, or with an invitation, goes on with it; nothing else of the address counts. */
function goOn() {
  const given = new URLSearchParams(location.hash.slice(1))
  const invitation = given.get('invitation')
  if (invitation !== null) location.replace(`/communities/new#token=${encodeURIComponent(invitation)}`)
  else location.replace(given.has('qr') ? `/${location.hash}` : '/')
}

function enter({ token }) {
  keepToken(token)
  goOn()
}

if (hasToken()) goOn()

onSubmit('password-form', async () => {
  say(text('working'))
  const body = { idTag: element('id-tag').value.trim() || idTag, password: element('password').value }
  enter(await call('POST', '/api/auth/login', { body }))
})

onClick('passkey', async () => {
  say(text('working'))
  const named = element('id-tag').value.trim()
  const query = named === '' ? '' : `?idTag=${encodeURIComponent(named)}`
  const { options } = await call('GET', `/api/auth/wa/login/challenge${query}`)
  const credential = await usePasskey(options).catch((error) => {
    throw new Error(error.name === 'SecurityError' ? text('noPasskeys') : text('passkeyCancelled'))
  })
  enter(await call('POST', '/api/auth/wa/login', { body: { credential } }))
})

onClick('forgot', async () => {
  const body = { idTag: element('id-tag').value.trim() || idTag, lang: document.documentElement.lang }
  await call('POST', '/api/auth/forgot-password', { body })
  say(text('mailSent'))
})

onClick('qr-start', async () => {
  const session = await call('POST', '/api/auth/qr-login/init')
  const link = `${location.origin}/#qr=${session.sessionId}`
  element('qr-image').replaceChildren(qrImage(link, text('qrImage')))
  element('qr-link').textContent = link
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
    if (login) return enter(login)
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

void run(async () => {
  if (!canUsePasskeys()) element('passkey').hidden = true
})
