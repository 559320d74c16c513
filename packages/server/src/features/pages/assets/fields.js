// What can be told of a field before the server is asked.

import { element, say } from './browser.js'

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const identityForm = new RegExp(`^(?:${label}\\.)+${label}$`)

/** An identity as the server writes it; undefined where the text is none. */
export function readIdentity(text) {
  const address = `https://${text}`
  if (/[\s/\\:?#@%[\]]/.test(text) || !URL.canParse(address)) return undefined
  const name = new URL(address).hostname
  return identityForm.test(name) && !/\.\d+$/.test(name) ? name : undefined
}

/** Is it an address that a mail can go to? */
export function isMailAddress(text) {
  const at = text.lastIndexOf('@')
  const domain = text.slice(at + 1)
  return (
    /^[^\s@"<>]+$/.test(text.slice(0, Math.max(at, 0))) && (domain === 'localhost' || !!readIdentity(domain))
  )
}

/** Leads back to a field, and says why until it is changed. */
export function askAgain(id, message) {
  const field = element(id)
  field.ariaInvalid = 'true'
  const take = () => {
    field.ariaInvalid = null
    say('')
  }
  field.addEventListener('input', take, { once: true })
  field.focus()
  throw new Error(message)
}
