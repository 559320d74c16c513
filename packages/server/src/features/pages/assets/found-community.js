import { call, hasToken } from './api.js'
import { element, onSubmit, say, text } from './browser.js'

const token = new URLSearchParams(location.hash.slice(1)).get('token')

// Whoever comes by an invitation and is not signed in comes back with it.
if (!hasToken()) location.replace(token === null ? '/login' : `/login#invitation=${token}`)

onSubmit('found-form', async () => {
  const wanted = element('wanted').value.trim().replace(/\.$/, '').toLowerCase()
  const body = {
    type: 'community',
    name: element('called').value.trim(),
    ...(token === null ? {} : { token }),
  }
  say(text('working'))
  const { idTag } = await call('PUT', `/api/profiles/${encodeURIComponent(wanted)}`, { body })
  // The invitation is used: it need not stay in the history.
  history.replaceState(null, '', location.pathname)
  element('found-form').hidden = true
  say(text('founded', { idTag }))
})
