import { call } from './api.js'
import { begin, element, onSubmit, say, text } from './browser.js'
import { checkLink, linkToken, showOver } from './links.js'

const formId = 'activate-form'

async function start() {
  if (linkToken === null) showOver('incomplete')
  else await checkLink(linkToken, { formId, types: ['idp-activate'] })
}

onSubmit(formId, async () => {
  say(text('working'))
  const { idTag } = await call('POST', '/api/idp/activate', {
    body: { refId: linkToken, keepKeys: element('keep-keys').checked },
  })
  // The token is used up: it need not stay in the history.
  history.replaceState(null, '', location.pathname)
  element(formId).hidden = true
  const link = element('onward')
  link.href = `//${idTag}/`
  link.textContent = text('toIdentity', { idTag })
  link.hidden = false
  say(text('activated', { idTag }))
})

begin(start)
