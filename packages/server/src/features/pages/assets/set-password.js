import { call, dropToken, keepToken } from './api.js'
import { complain, element, idTag, onSubmit, say, text } from './browser.js'

const token = new URLSearchParams(location.hash.slice(1)).get('token')
if (token === null) complain(text('noToken'))

onSubmit('password-form', async () => {
  const password = element('password').value
  if (token === null) throw new Error(text('noToken'))
  if (password !== element('repeated').value) throw new Error(text('passwordsDiffer'))
  say(text('working'))
  dropToken()
  await call('POST', '/api/auth/set-password', { body: { token, password } })
  // The token is used up: it need not stay in the history.
  history.replaceState(null, '', location.pathname)
  say(text('passwordSet'))
  const login = await call('POST', '/api/auth/login', { body: { idTag, password } })
  keepToken(login.token)
  location.replace('/')
})
