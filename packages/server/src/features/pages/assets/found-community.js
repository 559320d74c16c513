import { call, resume } from './api.js'
import { begin, complain, element, onSubmit, say, text } from './browser.js'
import { checkLink, linkToken } from './links.js'

// At least two labels; names of other scripts are written as they are.
const wholeName = /^[\p{L}\p{M}\p{N}-]+(\.[\p{L}\p{M}\p{N}-]+)+$/u

async function start() {
  if (linkToken !== null && !(await checkLink(linkToken, { types: ['invite'] }))) return
  const login = await resume()
  if (login) {
    const mayFound =
      linkToken !== null || document.body.dataset.creation === 'open' || login.roles.includes('SADM')
    element('found-form').hidden = !mayFound
    element('found-back').hidden = mayFound
    if (!mayFound) say(text('foundByInvitation'))
    return
  }
  // Comes back with the invitation after the sign-in.
  location.replace(linkToken === null ? '/login' : `/login#invitation=${linkToken}`)
}

onSubmit('found-form', async () => {
  const wanted = element('wanted').value.trim().replace(/\.$/, '').toLowerCase()
  if (!wholeName.test(wanted)) {
    complain(text('communityTagWrong'))
    element('wanted').focus()
    return
  }
  const body = {
    type: 'community',
    name: element('called').value.trim(),
    ...(linkToken === null ? {} : { token: linkToken }),
  }
  say(text('working'))
  const { idTag } = await call('PUT', `/api/profiles/${encodeURIComponent(wanted)}`, { body })
  // The invitation is used: it need not stay in the history.
  history.replaceState(null, '', location.pathname)
  element('found-form').hidden = true
  say(text('founded', { idTag }))
  const link = element('found-link')
  // Without the app it leads to the page of the account.
  if (link.pathname === '/communities') link.pathname += `/${encodeURIComponent(idTag)}`
  element('found-next').hidden = false
  link.focus()
})

begin(start)
