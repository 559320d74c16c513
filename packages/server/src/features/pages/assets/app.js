// One app in the whole window, with one file.

import { call, keepToken, resume } from './api.js'
import { fileAccess, mountApp } from './app/host/index.ts'
import { mayOpen, showFiles } from './app-files.js'
import { offerSharing } from './app-sharing.js'
import { titleOf } from './app-titles.js'
import { begin, complain, element, idTag, onClick, say, text, toSignIn } from './browser.js'

const [, , publisher = '', name = ''] = location.pathname.split('/').map(decodeURIComponent)
const fileId = new URLSearchParams(location.search).get('file')
const kindOf = { CRDT: 'crdt', RTDB: 'rtdb', BLOB: 'blob' }
const silentMs = 15_000
const renewMs = 4 * 60 * 60_000
// Clicks that were meant for the app open nothing: there is to be a pause of this length before one does.
const pauseMs = 1_000
// Longer than what a click allows lasts: who has answered is not asked again at once.
const quietMs = 6_000
const mostDeclined = 3

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
  // A link may name any file: one that the app does not open is not given to it.
  if (!mayOpen(installed, file)) return complain(text('wrongKind'))
  const kind = kindOf[file.fileTp]
  const owner = file.x?.home
  const access = await accessTo(kind, owner)
  showBar({ installed, user, owner, file })
  const get = (path) => call('GET', path)
  const { publisherTag, name } = installed
  const opened = { fileId, access, home: owner, app: { publisherTag, name } }
  const context = () => contextOf({ user, file, kind, access })
  // It may have another version by then.
  onClick('again', async () => location.reload())
  mount({ installed, access: fileAccess(get, opened), context })
  if (owner === undefined && file.owner.idTag === idTag) offerSharing(fileId)
}

async function accessTo(kind, owner) {
  if (kind === 'blob') return 'read'
  if (owner !== undefined) return sharedAccess()
  const scope = `file:${fileId}:write`
  const granted = await call('GET', `/api/auth/access-token?scope=${encodeURIComponent(scope)}`)
  return granted.scope === scope ? 'write' : 'read'
}

/** What the owner's newest share gives. */
async function sharedAccess() {
  const path = `/api/actions?type=FSHR&subject=${encodeURIComponent(fileId)}&excludeOwn=true&limit=1`
  const [share] = (await call('GET', path)).items
  return share?.content?.permission === 'WRITE' ? 'write' : 'read'
}

function contextOf({ user, file, kind, access }) {
  const { fileName: name, contentType } = file
  const size = kind === 'blob' ? file.size : 0
  return {
    theme: {
      scheme: dark.matches ? 'dark' : 'light',
      contrast: contrast.matches ? 'more' : 'normal',
    },
    language: document.documentElement.lang,
    user,
    opened: { fileId, name, contentType, kind, access, size },
  }
}

function showBar({ installed, user, owner, file }) {
  const title = titleOf(installed)
  document.body.classList.add('hosting')
  element('hosting').hidden = false
  element('hosted-name').textContent = title
  const { publisherTag: publisher } = installed
  element('hosted-by').textContent = publisher === idTag ? '' : text('publishedBy', { publisher })
  document.title = `${file.fileName} – ${title}`
  element('hosted-title').textContent = file.fileName
  const about = { idTag: user.idTag, owner, host: location.host }
  element('who').textContent = text(owner === undefined ? 'hostedBy' : 'hostedElsewhere', about)
}

function mount({ installed, access, context }) {
  say('')
  mounted = mountApp({
    container: element('frame'),
    src: pathIn(installed, installed.entry),
    title: titleOf(installed),
    capabilities: installed.capabilities,
    context: context(),
    access,
    onReady,
    onTitle: showTitle,
    onNavigate: askToOpen,
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

/** The address for which the person is asked. */
let asked
let pause
let declined = 0
let quietUntilMs = 0

function askToOpen({ href, host }) {
  if (asked !== undefined || declined === mostDeclined || performance.now() < quietUntilMs) return
  asked = href
  element('asked-text').textContent = text('askedAddress', { host, address: href })
  beginPause()
  element('asked').showModal()
}

function beginPause() {
  element('asked-open').ariaDisabled = 'true'
  clearTimeout(pause)
  pause = setTimeout(() => {
    element('asked-open').ariaDisabled = 'false'
  }, pauseMs)
}

for (const type of ['pointerdown', 'keydown'])
  window.addEventListener(type, () => element('asked-open').ariaDisabled === 'true' && beginPause(), true)

element('asked-open').addEventListener('click', () => {
  if (element('asked-open').ariaDisabled === 'true') return
  window.open(asked, '_blank', 'noopener,noreferrer')
  declined = 0
  forgetAsked()
})
element('asked-dismiss').addEventListener('click', () => element('asked').close())
element('asked').addEventListener('close', () => {
  if (asked === undefined) return
  declined += 1
  forgetAsked()
})

function forgetAsked() {
  asked = undefined
  clearTimeout(pause)
  quietUntilMs = performance.now() + quietMs
  element('asked').close()
}

function showEnd(reason) {
  clearTimeout(silence)
  forgetAsked()
  isUnsaved = false
  element('frame').hidden = true
  element('save-state').textContent = ''
  element('why').textContent = text(`end ${reason}`)
  element('ended').hidden = false
  element('again').hidden = reason === 'uninstalled'
  if (reason !== 'uninstalled') element('again').focus()
}

begin(start)
