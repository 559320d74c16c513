// What the pages have in common: finding elements, saying things, running what a button starts.

import { dropToken, hasToken, Problem } from './api.js'

const texts = JSON.parse(document.body.dataset.texts)

export const idTag = document.body.dataset.idTag

// By then the script of the page has run, which listens to its forms and buttons.
document.addEventListener('DOMContentLoaded', () => {
  element('page').inert = false
})

export function element(id) {
  return document.getElementById(id)
}

/** A sentence in the language of the page. */
export function text(name, values = {}) {
  return (texts[name] ?? name).replaceAll(/\{(\w+)\}/g, (_, member) => values[member] ?? '')
}

/** Says something in the live regions, which screen readers read out. */
export function say(message) {
  element('problem').textContent = ''
  element('status').textContent = message
}

export function complain(message) {
  element('status').textContent = ''
  element('problem').textContent = message
}

/** The sentence about a failure. The server's own words are English and know more. */
function explain(error) {
  if (error instanceof Problem && error.code === 'E-RATELIMIT' && error.waitSecs !== undefined)
    return text('tooManyUntil', { wait: waitIn(error.waitSecs) })
  const isEnglish = document.documentElement.lang === 'en'
  if (error instanceof Problem) return (isEnglish && error.message) || text(error.code)
  return error instanceof Error ? error.message : String(error)
}

/** A span of time in the language of the page, never shorter than it is. */
function waitIn(secs) {
  const [unit, count] = secs < 90 ? ['second', secs] : ['minute', Math.ceil(secs / 60)]
  const format = { style: 'unit', unit, unitDisplay: 'long' }
  return new Intl.NumberFormat(document.documentElement.lang, format).format(count)
}

let beginning

/** Runs what the page does first, by itself. */
export function begin(work) {
  beginning = runNow(work)
}

/** Runs what a form or button starts, one thing at a time, and says what went wrong. What is started while the page still begins
 * comes after that. */
export async function run(work) {
  await beginning
  await runNow(work)
}

async function runNow(work) {
  if (document.body.ariaBusy === 'true') return
  document.body.ariaBusy = 'true'
  try {
    await work()
  } catch (error) {
    if (error instanceof Problem && error.code === 'E-AUTH-UNAUTH') dropToken()
    complain(explain(error))
  } finally {
    document.body.ariaBusy = 'false'
  }
}

export function onClick(id, work) {
  element(id).addEventListener('click', () => void run(work))
}

export function onSubmit(id, work) {
  element(id).addEventListener('submit', (event) => {
    event.preventDefault()
    void run(work)
  })
}

/** Signs in first, and comes back. */
export function toSignIn() {
  dropToken()
  const back = new URLSearchParams(location.hash.slice(1))
  back.set('to', location.pathname + location.search)
  location.replace(`/login#${back}`)
}

const tabs = new BroadcastChannel('kith')

/** Signs out in every tab of this browser, which keeps nothing of who was signed in. */
export async function leave() {
  tabs.postMessage('signed-out')
  dropToken()
  await wipeDevice()
  location.replace('/login')
}

// Where a browser cannot list its databases.
const ownDatabases = ['kith-kept', 'kith-key', 'kith-pictures', 'kith-uploads']

/** Removes what the web app keeps on this device: its databases, pictures, drafts and shown notifications. */
export async function wipeDevice() {
  for (const storage of [localStorage, sessionStorage]) storage.clear()
  const databases = (await indexedDB.databases?.())?.map(({ name }) => name) ?? ownDatabases
  const names = (await globalThis.caches?.keys()) ?? []
  const registration = await navigator.serviceWorker?.getRegistration()
  for (const shown of (await registration?.getNotifications()) ?? []) shown.close()
  await Promise.allSettled([
    ...databases.map(dropDatabase),
    ...names.filter((name) => !name.startsWith('kith-build-')).map((name) => caches.delete(name)),
  ])
}

function dropDatabase(name) {
  return new Promise((resolve) => {
    const removal = indexedDB.deleteDatabase(name)
    // It goes when the last tab has closed it.
    removal.onblocked = removal.onsuccess = removal.onerror = resolve
  })
}

tabs.addEventListener('message', ({ data }) => {
  if (data === 'signed-out' && hasToken()) toSignIn()
})

/** The code of a QR sign-in in two halves, as people read and compare digits. */
export function spaced(code) {
  return `${code.slice(0, 3)} ${code.slice(3)}`
}

/** The language of the page, as it is spoken where the visitor lives. */
export function visitorLocale() {
  const { lang } = document.documentElement
  return navigator.language.startsWith(lang) ? navigator.language : lang
}

/** A time as it is written where the visitor lives, in the language of the page. */
export function showTime(iso) {
  return new Date(iso).toLocaleString(visitorLocale())
}

/** The day of a time, written out. */
export function showDay(iso) {
  return new Date(iso).toLocaleDateString(visitorLocale(), { dateStyle: 'long' })
}
