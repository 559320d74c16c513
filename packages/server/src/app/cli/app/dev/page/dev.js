// Hosts the app that is being made, and loads it again when it has changed.

import { fileAccess, mountApp } from './host/host/index.ts'

const config = JSON.parse(document.body.dataset.config)
const { serverUrl, token, user, file, name, entry, capabilities } = config
const element = (id) => document.getElementById(id)
let mounted

function context() {
  return {
    theme: { scheme: element('scheme').value, contrast: element('contrast').value },
    language: element('language').value,
    user,
    opened: {
      // An app without capabilities opens nothing, and may ask for nothing.
      ...(file ?? { fileId: '', name: '', contentType: '', kind: 'rtdb', size: 0 }),
      access: file?.kind === 'blob' ? 'read' : element('access').value,
    },
  }
}

// An app that is being made is not installed: it has no token of its own.
const getToken = async () => ({ token })
const app = { publisherTag: user.idTag, name }

function show(problem = '') {
  mounted?.stop()
  element('problem').textContent = problem
  mounted = mountApp({
    container: element('frame'),
    src: `app/${entry}`,
    title: name,
    capabilities,
    context: context(),
    access: fileAccess(getToken, { ...context().opened, app, serverUrl }),
    onTitle: (title) => {
      element('title').textContent = title
    },
    onNavigate: (url) => {
      element('problem').textContent = `The app asks to open ${url.href}`
    },
    onState: (state) => {
      element('state').textContent = state
    },
    onEnd: (reason) => {
      element('problem').textContent = `The host has ended the app: ${reason}`
    },
  })
}

element('name').textContent = name
element('access').disabled = file?.kind === 'blob'
element('scheme').value = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
for (const id of ['scheme', 'contrast', 'language']) element(id).onchange = () => mounted.update(context())
for (const id of ['access', 'reload'])
  element(id).addEventListener(id === 'reload' ? 'click' : 'change', () => show())

const events = new EventSource('events')
events.addEventListener('reload', ({ data }) => show(JSON.parse(data)))
events.addEventListener('problem', ({ data }) => {
  element('problem').textContent = JSON.parse(data)
})
show()
