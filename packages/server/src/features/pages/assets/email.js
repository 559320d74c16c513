// The e-mail address of the account: what counts, what waits, and a form that asks for another.

import { call } from './api.js'
import { element, onSubmit, say, showTime, text } from './browser.js'

/** Shows what the login answer or the request for another address says. */
export function showEmail({ address, verified, pending }) {
  element('email-missing').hidden = address !== null
  element('email-address').textContent =
    address === null ? '' : verified ? address : text('emailUnproven', { address })
  element('email-pending').textContent = pending
    ? text('emailPending', { address: pending.address, time: showTime(pending.expiresAt * 1000) })
    : ''
}

/** Asks for a link to the address in the form; the answer says what waits then. */
export async function askForEmail() {
  const password = element('email-password')?.value ?? ''
  const body = {
    email: element('email').value.trim(),
    lang: document.documentElement.lang,
    ...(password === '' ? {} : { password }),
  }
  say(text('working'))
  return await call('PUT', '/api/auth/email', { body })
}

/** Lets the form of the page ask. */
export function listenToEmailForm() {
  onSubmit('email-form', async () => {
    const email = await askForEmail()
    element('email-form').reset()
    showEmail(email)
    say(email.pending ? text('emailAsked', email.pending) : text('emailTakenBack'))
  })
}
