// Hands the code of a link into a community on to the visitor's own app. It stands behind `#`, and so in no request but the one
// that asks whether it still invites.

import { call } from './api.js'

const code = /^#([0-9A-Za-z]{24})$/.exec(location.hash)?.[1]
const form = document.querySelector('#joining form')
const onward = document.getElementById('onward')

window.addEventListener('hashchange', () => location.reload())

async function invites() {
  if (code === undefined) return false
  try {
    const found = await call('POST', '/api/refs/find', { token: null, body: { refId: code } })
    return found.type === 'community.join'
  } catch (error) {
    // A server that cannot be asked now may know it later.
    return !['E-NOTFOUND', 'E-VALIDATION'].includes(error.code)
  }
}

if (form && code !== undefined) form.action = `/join#${code}`
if (onward && code !== undefined) onward.hash = `join=${code}`

if (!(await invites())) {
  document.getElementById('joining').hidden = true
  document.getElementById('over').hidden = false
  document.getElementById('over-title').focus()
} else if (onward?.dataset.here !== undefined) {
  // The visitor's app is on this server: no warning that another server follows.
  location.replace(onward.href)
}
