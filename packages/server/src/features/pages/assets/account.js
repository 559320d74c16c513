import { call, resume } from './api.js'
import { begin, element, leave, onClick, onSubmit, run, say, showTime, text, toSignIn } from './browser.js'
import { listenToEmailForm, showEmail } from './email.js'
import { canUsePasskeys, createPasskey } from './passkeys.js'

async function start() {
  const login = await resume()
  if (!login) return toSignIn()
  element('name').textContent = login.name
  element('who').textContent = text('signedInAs', login)
  if (login.email) showEmail(login.email)
  element('passkey-form').hidden = !canUsePasskeys()
  element('signed-in').hidden = false
  await Promise.all([showSessions(), showPasskeys()])
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

listenToEmailForm()

onClick('sign-out', async () => {
  await call('POST', '/api/auth/logout', { takesCookie: true }).catch((error) => {
    // It was ended from elsewhere.
    if (error.code !== 'E-AUTH-UNAUTH') throw error
  })
  await leave()
})

begin(start)
