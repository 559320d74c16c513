import { call, dropToken, hasToken, keepToken } from './api.js'
import { element, onClick, onSubmit, run, say, showTime, text } from './browser.js'
import { canUsePasskeys, createPasskey } from './passkeys.js'

// The session of another device that asks to be signed in, as long as it was not answered.
let askingDevice

function toLogin() {
  dropToken()
  location.replace(`/login${location.hash}`)
}

async function start() {
  if (!hasToken()) return toLogin()
  const login = await call('GET', '/api/auth/login-token').catch((error) => {
    if (error.code !== 'E-AUTH-UNAUTH') throw error
  })
  if (!login) return toLogin()
  keepToken(login.token)
  element('name').textContent = login.name
  element('who').textContent = text('signedInAs', login)
  element('passkey-form').hidden = !canUsePasskeys()
  element('signed-in').hidden = false
  await Promise.all([showSessions(), showPasskeys()])
  await lookAtLink()
}

function line(content, button) {
  const item = document.createElement('li')
  const label = document.createElement('span')
  label.textContent = content
  item.append(label, ...(button ? [button] : []))
  return item
}

function lineButton(content, label, work) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'quiet'
  button.textContent = content
  // Many buttons say the same: a screen reader must tell them apart.
  button.ariaLabel = label
  button.addEventListener('click', () => void run(work))
  return button
}

function fill(id, lines) {
  element(id).replaceChildren(...(lines.length > 0 ? lines : [line(text('none'))]))
}

async function showSessions() {
  const sessions = await call('GET', '/api/auth/sessions')
  fill('sessions', sessions.map(sessionLine))
}

function sessionLine({ sid, current, method, createdAt, ipAddress, userAgent }) {
  const device = userAgent ?? text('unknownDevice')
  const about = { device, ip: ipAddress, time: showTime(createdAt), method }
  const content = text('sessionLine', about)
  if (current) return line(`${content} – ${text('thisSession')}`)
  const end = async () => {
    await call('DELETE', `/api/auth/sessions/${encodeURIComponent(sid)}`)
    await showSessions()
    say(text('endedSession'))
  }
  return line(content, lineButton(text('end'), text('endSession', about), end))
}

async function showPasskeys() {
  const passkeys = await call('GET', '/api/auth/wa/reg')
  fill('passkeys', passkeys.map(passkeyLine))
}

function passkeyLine({ keyId, name, createdAt }) {
  const remove = async () => {
    await call('DELETE', `/api/auth/wa/reg/${encodeURIComponent(keyId)}`)
    await showPasskeys()
    say(text('passkeyRemoved'))
  }
  const content = text('passkeyLine', { name, time: showTime(createdAt) })
  return line(content, lineButton(text('remove'), text('removePasskey', { name }), remove))
}

onSubmit('passkey-form', async () => {
  say(text('working'))
  const { options } = await call('GET', '/api/auth/wa/reg/challenge')
  const credential = await createPasskey(options).catch((error) => {
    const reasons = { SecurityError: 'noPasskeys', InvalidStateError: 'passkeyKnown' }
    throw new Error(text(reasons[error.name] ?? 'passkeyCancelled'))
  })
  const name = element('passkey-name').value.trim() || text('passkeyDefault')
  await call('POST', '/api/auth/wa/reg', { body: { name, credential } })
  element('passkey-name').value = ''
  await showPasskeys()
  say(text('passkeyAdded'))
})

onClick('sign-out', async () => {
  await call('POST', '/api/auth/logout')
  say(text('signedOut'))
  toLogin()
})

onSubmit('approve-form', () => lookAt(element('device-code').value))

/** Shows who asks; to look is not to agree. `code` is the session's id, or the address that ends with it. */
async function lookAt(code) {
  const sessionId = code.trim().split('#qr=').at(-1)
  element('device').hidden = true
  const details = await call('GET', `/api/auth/qr-login/${encodeURIComponent(sessionId)}/details`)
  askingDevice = details.sessionId
  const rows = [
    ['detailIdentity', details.idTag],
    ['detailIp', details.ipAddress],
    ['detailAgent', details.userAgent ?? text('unknownDevice')],
    ['detailTime', showTime(details.createdAt)],
  ]
  element('device-details').replaceChildren(...rows.flatMap(([name, value]) => describe(text(name), value)))
  element('device').hidden = false
  element('deny').focus()
}

function describe(name, value) {
  const term = document.createElement('dt')
  const description = document.createElement('dd')
  term.textContent = name
  description.textContent = value
  return [term, description]
}

async function lookAtLink() {
  if (!location.hash.startsWith('#qr=')) return
  const code = location.hash
  history.replaceState(null, '', location.pathname)
  element('device-code').value = code.slice('#qr='.length)
  await lookAt(code)
}

async function answerDevice(approved) {
  const sessionId = askingDevice
  askingDevice = undefined
  element('device').hidden = true
  element('device-code').value = ''
  await call('POST', `/api/auth/qr-login/${encodeURIComponent(sessionId)}/respond`, { body: { approved } })
  await showSessions()
  say(text(approved ? 'approved' : 'denied'))
}

onClick('allow', () => answerDevice(true))
onClick('deny', () => answerDevice(false))

// The code of another device may be opened in a tab that shows this page already.
window.addEventListener('hashchange', () => void run(lookAtLink))

void run(start)
