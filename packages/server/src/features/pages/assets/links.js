// Links that work once: whether one still does is told before anything is asked for.

import { call } from './api.js'
import { element, text } from './browser.js'

/** The secret of the link, which stands in the fragment. */
export const linkToken = new URLSearchParams(location.hash.slice(1)).get('token')

// Another link of the same page is another visit.
window.addEventListener('hashchange', () => location.reload())

/** What a link is for, when it is good; shows its form, where it has one. Undefined when it is over, which is said in place of
 * the form. Looking does not use it up. */
export async function checkLink(refId, { formId, types }) {
  const reference = await findReference(refId)
  const isGood = reference.state === 'active' && types.includes(reference.type)
  if (!isGood && reference.state !== undefined) {
    showOver(reference.state)
    return undefined
  }
  if (formId !== undefined) element(formId).hidden = false
  return reference
}

async function findReference(refId) {
  try {
    return await call('POST', '/api/refs/find', { token: null, body: { refId: refId ?? '' } })
  } catch (error) {
    // A server that cannot be asked now may take the form later.
    return ['E-NOTFOUND', 'E-VALIDATION'].includes(error.code) ? { state: 'unknown' } : {}
  }
}

/** Says that the link is not good, or no longer, and what to do. */
export function showOver(state) {
  element('link-over').hidden = false
  element('link-over-why').textContent = text(`link ${state}`)
  element('link-over-title').focus()
}
