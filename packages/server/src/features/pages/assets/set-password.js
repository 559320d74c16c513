import { call, dropToken, keepToken } from './api.js'
import { complain, element, idTag, onSubmit, say, text } from './browser.js'

const token = new URLSearchParams(location.hash.slice(1)).get('token')
if (token === null) complain(text('noToken'))
// Whether there is anything to end is for those to say who had a password.
const asked = findType(token).then((type) => {
  const isReset = type === 'password-reset'
  element('everything-line').hidden = !isReset
  return isReset
})

onSubmit('password-form', async () => {
  const password = element('password').value
  if (token === null) throw new Error(text('noToken'))
  if (password !== element('repeated').value) throw new Error(text('passwordsDiffer'))
  say(text('working'))
  dropToken()
  await call('POST', '/api/auth/set-password', {
    body: { token, password, ...((await asked) ? { signOutEverything: element('everything').checked } : {}) },
  })
  // The token is used up: it need not stay in the history.
  history.replaceState(null, '', location.pathname)
  say(text('passwordSet'))
  const login = await call('POST', '/api/auth/login', { body: { idTag, password } })
  keepToken(login.token)
  location.replace('/')
})

async function findType(refId) {
  if (refId === null) return undefined
  const path = `/api/refs/${encodeURIComponent(refId)}`
  const reference = await call('GET', path, { token: null }).catch(() => undefined)
  return reference?.type
}
