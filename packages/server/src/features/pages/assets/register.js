import { call } from './api.js'
import { begin, complain, idTag as domain, element, onSubmit, say, text } from './browser.js'
import { askAgain, isMailAddress, readIdentity } from './fields.js'
import { checkLink, linkToken } from './links.js'

const isOpen = document.body.dataset.registration === 'open'
// Nobody gets the mails of this server: whoever runs it reads them.
const mailsAreKept = document.body.dataset.mails === 'kept'
let token = linkToken

function kind() {
  return document.querySelector('input[name="kind"]:checked').value
}

function wanted() {
  const type = kind() === 'domain' ? 'domain' : 'idp'
  const name = element('wanted').value.trim().replace(/\.$/, '').toLowerCase()
  const isWhole = kind() !== 'idp' || name.endsWith(`.${domain}`)
  return { type, idTag: isWhole || name === '' ? name : `${name}.${domain}` }
}

/** What is wrong with the form of the name, with a right one; undefined where the server can be asked about it. */
function nameFault({ idTag }) {
  if (readIdentity(idTag) !== undefined) return undefined
  return text('nameWrong', { example: kind() === 'idp' ? 'anna' : 'anna.example.com' })
}

function withToken(body) {
  return token === null ? body : { ...body, token }
}

/** The sentence about the first thing that stands against a name; undefined when it can be had. */
async function findObjection(body) {
  const { errors, serverAddresses } = await call('POST', '/api/profiles/verify', { body: withToken(body) })
  const [code] = errors
  if (code === undefined) return undefined
  const addresses = serverAddresses.join(', ')
  const hint = addresses === '' ? '' : text('dnsHint', { addresses })
  return text(`name ${code}`, { idTag: body.idTag, hint })
}

// Counts what was asked last: an answer that comes later than that is not told.
let asked = 0

/** Looks a name up in passing: it holds nothing up, and a failure shows when the form is sent. */
async function lookUp() {
  const body = wanted()
  asked += 1
  const turn = asked
  if (body.idTag === '') return
  const fault = nameFault(body)
  if (fault !== undefined) return complain(fault)
  const objection = await findObjection(body)
  if (turn !== asked) return
  if (objection === undefined) say(text('nameFree', body))
  else complain(objection)
}

function showIdentity() {
  element('own-hint').hidden = kind() !== 'domain'
  element('identity').textContent = readIdentity(wanted().idTag) ? wanted().idTag : '…'
}

onSubmit('register-form', async () => {
  const body = wanted()
  const email = element('email').value.trim()
  asked += 1
  const fault = nameFault(body)
  if (fault !== undefined) askAgain('wanted', fault)
  if (!isMailAddress(email)) askAgain('email', text('emailWrong'))
  say(text('working'))
  const objection = await findObjection(body)
  if (objection !== undefined) throw new Error(objection)
  const { lang } = document.documentElement
  const { idTag } = await call('POST', '/api/profiles/register', {
    body: withToken({ ...body, email, lang }),
  })
  // The invitation is used: it need not stay in the history.
  history.replaceState(null, '', location.pathname)
  element('register-form').hidden = true
  element('registered').hidden = false
  const further = kind() === 'elsewhere' ? [text('registeredElsewhere')] : []
  if (mailsAreKept) element('registered-title').textContent = text('accountMade')
  element('registered-text').textContent = [
    text(mailsAreKept ? 'registeredUnmailed' : 'registered', { idTag, email }),
    ...further,
  ].join(' ')
  say('')
  element('registered-title').focus()
})

element('register-form').addEventListener('input', showIdentity)
// What was said of the name that stood there before.
element('wanted').addEventListener('input', () => say(''))
for (const input of [element('wanted'), ...document.querySelectorAll('input[name="kind"]')])
  input.addEventListener('change', () => lookUp().catch(() => undefined))

async function start() {
  if (token === null && !isOpen) return complain(text('needsInvitation'))
  if (token !== null && (await checkLink(token, { formId: 'register-form', types: ['invite'] }))) return
  // Where everybody may register, an invitation that is over is not needed.
  token = null
  element('register-form').hidden = !isOpen
}

showIdentity()
begin(start)
