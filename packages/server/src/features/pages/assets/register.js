import { call } from './api.js'
import { complain, idTag as domain, element, onSubmit, say, text } from './browser.js'

const token = new URLSearchParams(location.hash.slice(1)).get('token')

function kind() {
  return document.querySelector('input[name="kind"]:checked').value
}

function wanted() {
  const type = kind() === 'domain' ? 'domain' : 'idp'
  const name = element('wanted').value.trim().replace(/\.$/, '').toLowerCase()
  const isWhole = kind() !== 'idp' || name.endsWith(`.${domain}`)
  return { type, idTag: isWhole || name === '' ? name : `${name}.${domain}` }
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
  const objection = await findObjection(body)
  if (turn !== asked) return
  if (objection === undefined) say(text('nameFree', body))
  else complain(objection)
}

function showIdentity() {
  element('identity').textContent = wanted().idTag || '…'
}

onSubmit('register-form', async () => {
  const body = wanted()
  const email = element('email').value.trim()
  asked += 1
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
  element('registered-text').textContent = [text('registered', { idTag, email }), ...further].join(' ')
  say('')
  element('registered-title').focus()
})

element('register-form').addEventListener('input', showIdentity)
for (const input of [element('wanted'), ...document.querySelectorAll('input[name="kind"]')])
  input.addEventListener('change', () => lookUp().catch(() => undefined))

if (token === null && document.body.dataset.registration !== 'open') {
  element('register-form').hidden = true
  complain(text('needsInvitation'))
}
showIdentity()
