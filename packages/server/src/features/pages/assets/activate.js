import { call } from './api.js'
import { complain, element, onSubmit, say, text } from './browser.js'

const refId = new URLSearchParams(location.hash.slice(1)).get('token')
if (refId === null) {
  element('activate-form').hidden = true
  complain(text('noToken'))
}

onSubmit('activate-form', async () => {
  say(text('working'))
  const { idTag } = await call('POST', '/api/idp/activate', {
    body: { refId, keepKeys: element('keep-keys').checked },
  })
  // The token is used up: it need not stay in the history.
  history.replaceState(null, '', location.pathname)
  element('activate-form').hidden = true
  say(text('activated', { idTag }))
})
