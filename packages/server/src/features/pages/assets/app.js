// One app in the whole window, with one file.

import { call, keepToken, resume } from './api.js'
import { fileSockets, mountApp } from './app/host/index.ts'
import { showFiles } from './app-files.js'
import { offerSharing } from './app-sharing.js'
import { begin, complain, element, idTag, onClick, say, text, toSignIn } from './browser.js'

const [, , publisher = '', name = ''] = location.pathname.split('/').map(decodeURIComponent)
const fileId = new URLSearchParams(location.search).get('file')
const kindOf = { CRDT: 'crdt', RTDB: 'rtdb' }
const silentMs = 15_000
const renewMs = 4 * 60 * 60_000

const dark = matchMedia('(prefers-color-scheme: dark)')
const contrast = matchMedia('(prefers-contrast: more)')

let mounted
let silence
/** The app has changes that the server has not stored. */
let isUnsaved = false

async function start() {
  const login = await resume()
  if (!login) return toSignIn()
  // Where that fails the token is good for some more hours, and the next time may succeed.
  setInterval(() => void renewToken().catch(() => undefined), renewMs)
  const installed = await findApp()
  if (!installed) return complain(text('appAbsent'))
  if (fileId === null) return showFiles({ installed, idTag })
  await open({ installed, user: { idTag, name: login.name } })
}

/** The page may stay open for longer than a token lives, and connects again when it has to. */
async function renewToken() {
  const login = await call('GET', '/api/auth/login-token')
  keepToken(login.token)
  return login
}

async function findApp() {
  const publisherTag = publisher.replace(/^@/, '')
  const apps = await call('GET', '/api/apps/installed')
  return apps.find((app) => app.publisherTag === publisherTag && app.name === name)
}

const pathIn = ({ fileId: packageId }, path) =>
  `/api/files/${packageId}/content/${path.split('/').map(encodeURIComponent).join('/')}`

async function open({ installed, user }) {
  const file = await call('GET', `/api/files/${encodeURIComponent(fileId)}/metadata`)
  const kind = kindOf[file.fileTp]
  const isCapable = kind !== undefined && installed.capabilities.includes(kind)
  // A link may name any file: one of another app, or of none, is not given to this one.
  if (!isCapable || file.contentType !== installed.fileType) return complain(text('wrongKind'))
  const home = file.x?.home
  const server = home === undefined ? location.origin : await serverOf(home)
  if (server === undefined) return
  const access = home === undefined ? await ownAccess() : await sharedAccess()
  showBar({ installed, user, owner: home, server, file })
  const address = { fileId, kind, access, home }
  const show = () => mount({ installed, address, context: () => contextOf({ user, file, kind, access }) })
  onClick('again', async () => show())
  show()
  if (home === undefined && file.owner.idTag === idTag) offerSharing(fileId)
}

/** The origin of the server of another's file. The policy of the page names it: where it does not, the page is loaded again. */
async function serverOf(home) {
  const path = `/api/auth/proxy-token?target=${encodeURIComponent(home)}`
  const { origin } = new URL((await call('GET', path)).serverUrl)
  if (origin === location.origin || origin === document.body.dataset.fileHome) return origin
  const query = new URLSearchParams({ file: fileId, at: origin })
  location.replace(`${location.pathname}?${query}`)
  return undefined
}

async function ownAccess() {
  const scope = encodeURIComponent(`file:${fileId}:write`)
  try {
    await call('GET', `/api/auth/access-token?scope=${scope}`)
    return 'write'
  } catch (error) {
    if (error.code !== 'E-AUTH-FORBIDDEN') throw error
    return 'read'
  }
}

/** What the owner's newest share gives. */
async function sharedAccess() {
  const path = `/api/actions?type=FSHR&subject=${encodeURIComponent(fileId)}&excludeOwn=true&limit=1`
  const [share] = (await call('GET', path)).items
  return share?.content?.permission === 'WRITE' ? 'write' : 'read'
}

function contextOf({ user, file, kind, access }) {
  return {
    theme: {
      scheme: dark.matches ? 'dark' : 'light',
      contrast: contrast.matches ? 'more' : 'normal',
    },
    language: document.documentElement.lang,
    user,
    file: { fileId, name: file.fileName, kind, access },
  }
}

function showBar({ installed, user, owner, server, file }) {
  document.body.classList.add('hosting')
  element('hosting').hidden = false
  element('hosted-name').textContent = installed.name
  document.title = `${file.fileName} – ${installed.name}`
  element('hosted-title').textContent = file.fileName
  const about = { idTag: user.idTag, owner, host: new URL(server).host }
  element('who').textContent = text(owner === undefined ? 'hostedBy' : 'hostedElsewhere', about)
}

function mount({ installed, address, context }) {
  mounted?.stop()
  element('ended').hidden = true
  element('frame').hidden = false
  say('')
  mounted = mountApp({
    container: element('frame'),
    src: pathIn(installed, installed.entry),
    title: installed.name,
    capabilities: installed.capabilities,
    context: context(),
    socketUrl: fileSockets((path) => call('GET', path), address),
    onReady,
    onTitle: showTitle,
    onState: showState,
    onEnd: showEnd,
  })
  clearTimeout(silence)
  silence = setTimeout(() => complain(text('appSilent')), silentMs)
  for (const query of [dark, contrast]) query.onchange = () => mounted.update(context())
}

function onReady() {
  clearTimeout(silence)
  say('')
}

function showState(state) {
  isUnsaved = state === 'saving' || state === 'waiting'
  element('save-state').textContent = text(`save ${state}`)
}

// An app keeps nothing on the device.
window.addEventListener('beforeunload', (event) => {
  if (isUnsaved) event.preventDefault()
})

function showTitle(title) {
  element('hosted-title').textContent = title
  document.title = `${title} – ${element('hosted-name').textContent}`
}

function showEnd(reason) {
  clearTimeout(silence)
  isUnsaved = false
  element('frame').hidden = true
  element('save-state').textContent = ''
  element('why').textContent = text(`end ${reason}`)
  element('ended').hidden = false
  element('again').focus()
}

begin(start)
