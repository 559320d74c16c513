import { call, resume } from './api.js'
import {
  begin,
  element,
  idTag,
  onClick,
  onSubmit,
  run,
  say,
  showTime,
  spaced,
  text,
  toSignIn,
} from './browser.js'
import { canUsePasskeys, usePasskey } from './passkeys.js'

// The session of another device that asks to be signed in, as long as it was not answered.
let askingDevice

async function start() {
  if (!(await resume())) return toSignIn()
  element('approving').hidden = false
  await lookAtLink()
}

onSubmit('approve-form', () => lookAt(element('device-code').value))

/** Shows who asks; to look is not to agree. `code` is the session's id, or the address that ends with it. */
async function lookAt(code) {
  const sessionId = code.trim().split('#qr=').at(-1)
  element('device').hidden = true
  element('prove-form').hidden = true
  const details = await call('GET', `/api/auth/qr-login/${encodeURIComponent(sessionId)}/details`)
  askingDevice = details.sessionId
  const rows = [
    ['detailIdentity', details.idTag],
    ['detailAgent', details.userAgent ?? text('unknownDevice')],
    ['detailIp', details.ipAddress],
    ['detailTime', showTime(details.createdAt)],
  ]
  element('short-code').textContent = spaced(details.code)
  element('device-details').replaceChildren(...rows.flatMap(([name, value]) => describe(text(name), value)))
  element('approve-form').hidden = true
  element('device').hidden = false
  say('')
  element('device-title').focus()
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
  await lookAt(code)
}

/** Answers once; a sign-in that is not recent must be shown to be the person's first. */
async function answerDevice(approved, proof = {}) {
  const path = `/api/auth/qr-login/${encodeURIComponent(askingDevice)}/respond`
  try {
    await call('POST', path, { body: { approved, ...proof } })
  } catch (error) {
    if (error.reason === 'sign-in-again') return askForProof()
    // It may be tried again with another password or passkey.
    if (error.code !== 'E-AUTH-BADCRED' && error.code !== 'E-RATELIMIT') leaveDevice()
    throw error
  }
  leaveDevice()
  say(text(approved ? 'approved' : 'denied'))
}

function leaveDevice() {
  askingDevice = undefined
  element('device').hidden = true
  element('prove-form').hidden = true
  element('prove-form').reset()
  element('device-code').value = ''
  element('approve-form').hidden = false
}

function askForProof() {
  element('prove-passkey').hidden = !canUsePasskeys()
  element('prove-form').hidden = false
  say(text('proveYourself'))
  element('password').focus()
}

onClick('allow', () => answerDevice(true))
onClick('deny', () => answerDevice(false))

onSubmit('prove-form', () => answerDevice(true, { password: element('password').value }))

onClick('prove-passkey', async () => {
  const query = `?idTag=${encodeURIComponent(idTag)}`
  const { options } = await call('GET', `/api/auth/wa/login/challenge${query}`)
  const credential = await usePasskey(options).catch(() => {
    throw new Error(text('passkeyCancelled'))
  })
  await answerDevice(true, { credential })
})

// The code of another device may be opened in a tab that shows this page already.
window.addEventListener('hashchange', () => void run(lookAtLink))

begin(start)
