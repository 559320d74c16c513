import { call, dropToken, keepSignedIn, keepsCookies } from './api.js'
import { begin, complain, element, idTag, onClick, onSubmit, say, text } from './browser.js'
import { askForEmail } from './email.js'
import { checkLink, linkToken, showOver } from './links.js'

const formId = 'password-form'
const { home, welcome } = document.body.dataset
// Whether there is anything to end is for those to say who had a password.
let isReset = false
// Where a person goes on.
let onward = welcome

async function start() {
  // Before anything is typed: the link would be used up here, and nobody signed in.
  if (!keepsCookies) return complain(text('linkInsecure', { command: tunnel() }))
  if (linkToken === null) return showOver('incomplete')
  const types = ['welcome', 'password-reset', 'email-verify']
  const reference = await checkLink(linkToken, { formId, types })
  isReset = reference?.type === 'password-reset'
  if (isReset) onward = home
  element('everything-line').hidden = !isReset
}

/** What brings a server on another machine to this one. */
function tunnel() {
  const port = location.port || '80'
  return `ssh -L ${port}:127.0.0.1:${port} ${location.hostname}`
}

onSubmit(formId, async () => {
  const password = element('password').value
  if (password !== element('repeated').value) throw new Error(text('passwordsDiffer'))
  say(text('working'))
  dropToken()
  const everything = isReset ? { signOutEverything: element('everything').checked } : {}
  await call('POST', '/api/auth/set-password', { body: { token: linkToken, password, ...everything } })
  // The token is used up: it need not stay in the history.
  history.replaceState(null, '', location.pathname)
  say(text('passwordSet'))
  const login = await call('POST', '/api/auth/login', { body: { idTag, password } })
  if (!(await keepSignedIn(login))) return location.replace('/login')
  if (login.email?.address !== null || login.email.pending) return location.replace(onward)
  // An account without an address, such as that of a new server: it is asked for while the sign-in is recent.
  element(formId).hidden = true
  element('email-form').hidden = false
  element('email').focus()
})

onSubmit('email-form', async () => {
  await askForEmail()
  location.replace(onward)
})

onClick('new-link', async () => {
  const body = { idTag, lang: document.documentElement.lang }
  await call('POST', '/api/auth/forgot-password', { body })
  say(text('mailSent'))
})

begin(start)
