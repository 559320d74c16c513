// Hosts the app that is being made, and loads it again when it has changed.

import { fileSockets, mountApp } from './host/host/index.ts'

const config = JSON.parse(document.body.dataset.config)
const { serverUrl, token, user, file, name, entry, capabilities } = config
const element = (id) => document.getElementById(id)
let mounted

function context() {
  return {
    theme: { scheme: element('scheme').value, contrast: element('contrast').value },
    language: element('language').value,
    user,
    file: { ...(file ?? { fileId: '', name: '', kind: 'rtdb' }), access: element('access').value },
  }
}

// To the SDK this is a file on another server: the development server's origin is not this page's.
function socketUrl(request) {
  const address = { ...context().file, home: user.idTag }
  return fileSockets(async () => ({ token, serverUrl }), address)(request)
}

function show() {
  mounted?.stop()
  element('problem').textContent = ''
  mounted = mountApp({
    container: element('frame'),
    src: `app/${entry}`,
    title: name,
    capabilities,
    context: context(),
    socketUrl,
    onTitle: (title) => {
      element('title').textContent = title
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
element('scheme').value = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
for (const id of ['scheme', 'contrast', 'language']) element(id).onchange = () => mounted.update(context())
for (const id of ['access', 'reload'])
  element(id).addEventListener(id === 'reload' ? 'click' : 'change', show)

const events = new EventSource('events')
events.addEventListener('reload', show)
events.addEventListener('problem', ({ data }) => {
  element('problem').textContent = JSON.parse(data)
})
show()
