// The apps that are installed, and the catalogue of those that may be.

import { call, resume } from './api.js'
import { emptyLine, installedLine, offerLine } from './app-lines.js'
import { titleOf } from './app-titles.js'
import { compareAppVersions } from './app-version.js'
import { begin, element, onClick, onSubmit, run, say, text, toSignIn } from './browser.js'

const pageSize = 20
// How far newer versions are looked for: somebody whom the visitor follows may offer any number of apps.
const lookedThrough = { pages: 5, limit: 200 }

let installed = []
/** What is listed of the catalogue, with apps that are installed. */
let listed
/** The newest offers, by app. */
const newest = new Map()

/** An app has its name from its publisher. */
const keyOf = ({ publisherTag, name }) => `${publisherTag}/${name}`

const pathOf = ({ publisherTag, name }) =>
  `/api/apps/@${encodeURIComponent(publisherTag)}/${encodeURIComponent(name)}`

async function start() {
  if (!(await resume())) return toSignIn()
  await search('')
  if (installed.length > 0) await lookForUpdates()
  show()
}

async function readInstalled() {
  installed = await call('GET', '/api/apps/installed')
}

/** Reads both lists anew. */
async function search(words) {
  await readInstalled()
  const found = { words, offers: [], nextCursor: null }
  await listMore(found)
  listed = found
}

/** Goes on until there is something to install. */
async function listMore(list) {
  const present = new Set(installed.map(keyOf))
  let page
  do {
    page = await readCatalogue({ words: list.words, cursor: list.nextCursor, limit: pageSize })
    list.offers.push(...page.items)
    list.nextCursor = page.nextCursor
  } while (page.nextCursor !== null && page.items.every((offer) => present.has(keyOf(offer))))
}

async function lookForUpdates() {
  const { pages, limit } = lookedThrough
  let cursor = null
  for (let count = 0; count < pages; count += 1) {
    cursor = (await readCatalogue({ cursor, limit })).nextCursor
    if (cursor === null) return
  }
}

async function readCatalogue({ words = '', cursor, limit }) {
  const query = new URLSearchParams({ limit })
  if (words !== '') query.set('search', words)
  if (cursor !== null) query.set('cursor', cursor)
  const page = await call('GET', `/api/apps?${query}`)
  for (const offer of page.items) newest.set(keyOf(offer), offer)
  return page
}

/** The catalogue has older versions alone where the newest one was taken back. */
function newerOf(app) {
  const offer = newest.get(keyOf(app))
  return offer && compareAppVersions(offer.version, app.version) > 0 ? offer : undefined
}

function show() {
  const lines = installed.map((app) => {
    const newer = newerOf(app)
    return installedLine(app, {
      newer,
      update: () => void run(() => install(newer, 'updatedNow')),
      chooseUpdates: (autoUpdate) => chooseUpdates(app, autoUpdate),
      uninstall: () => void offerUninstall(app),
    })
  })
  fill('installed', lines, 'noApps')
  const present = new Set(installed.map(keyOf))
  const offers = listed.offers.filter((offer) => !present.has(keyOf(offer)))
  const offerLines = offers.map((offer) =>
    offerLine(offer, () => void run(() => install(offer, 'installedNow'))),
  )
  fill(
    'catalogue',
    offerLines,
    listed.words !== '' && listed.offers.length === 0 ? 'nothingFound' : 'noOffers',
  )
  element('more').hidden = listed.nextCursor === null
}

function fill(id, lines, empty) {
  element(id).replaceChildren(...(lines.length > 0 ? lines : [emptyLine(text(empty))]))
}

/** Installs what an offer has, and leads to it. */
async function install(offer, done) {
  say(text('working'))
  await call('POST', '/api/apps/install', { body: { actionId: offer.actionId } })
  await readInstalled()
  show()
  const at = installed.findIndex((app) => keyOf(app) === keyOf(offer))
  element('installed').children[at]?.querySelector('a')?.focus()
  say(text(done, { title: titleOf(offer), version: offer.version }))
}

async function chooseUpdates(app, autoUpdate) {
  say(text('working'))
  Object.assign(app, await call('PATCH', pathOf(app), { body: { autoUpdate } }))
  say(text(autoUpdate ? 'autoUpdateOn' : 'autoUpdateOff', { title: titleOf(app) }))
}

/** The dialog gives the focus back to the button that has opened it. */
async function offerUninstall(app) {
  const dialog = element('uninstalling')
  element('uninstalling-title').textContent = text('uninstallAsk', { title: titleOf(app) })
  // Not every browser forgets the last answer when a key closes the dialog.
  dialog.returnValue = ''
  dialog.showModal()
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }))
  if (dialog.returnValue === 'uninstall') await run(() => uninstall(app))
}

async function uninstall(app) {
  say(text('working'))
  await call('DELETE', pathOf(app))
  // Some apps are offered to those alone who have them.
  await search(listed.words)
  show()
  element('installed-title').focus()
  say(text('uninstalledNow', { title: titleOf(app) }))
}

onSubmit('search-form', async () => {
  say(text('working'))
  await search(element('search').value.trim())
  show()
  sayHowMany()
})

onClick('more', async () => {
  const count = element('catalogue').childElementCount
  await listMore(listed)
  show()
  const next = element('catalogue').children[count]?.querySelector('button')
  ;(next ?? element('catalogue-title')).focus()
  sayHowMany()
})

function sayHowMany() {
  const count = element('catalogue').querySelectorAll('button').length
  say(count === 0 ? element('catalogue').textContent : text('shownApps', { count }))
}

begin(start)
