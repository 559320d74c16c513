// What the pages have in common: finding elements, saying things, running what a button starts.

import { dropToken, Problem } from './api.js'

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
  const isEnglish = document.documentElement.lang === 'en'
  if (error instanceof Problem) return (isEnglish && error.message) || text(error.code)
  return error instanceof Error ? error.message : String(error)
}

/** Runs what a form or button starts, one thing at a time, and says what went wrong. */
export async function run(work) {
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

/** A time as it is written where the visitor lives, in the language of the page. */
export function showTime(iso) {
  const { lang } = document.documentElement
  const locale = navigator.language.startsWith(lang) ? navigator.language : lang
  return new Date(iso).toLocaleString(locale)
}
