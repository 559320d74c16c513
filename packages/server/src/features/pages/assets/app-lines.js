// An app as an entry of a list: one that is installed, and one that may be.

import { descriptionOf, titleOf } from './app-titles.js'
import { run, showDay, text } from './browser.js'

/** `newer`: the offer of a newer version, where there is one. */
export function installedLine(app, { newer, update, chooseUpdates, uninstall }) {
  const title = titleOf(app)
  const href = `/apps/${encodeURIComponent(app.publisherTag)}/${encodeURIComponent(app.name)}`
  const about = aboutApp(
    app,
    make('a', { href, textContent: title }),
    capabilitiesLine('mayUse', app.capabilities),
  )
  if (app.withdrawnAt) about.append(hint(text('withdrawn', { date: showDay(app.withdrawnAt) })))
  about.append(updatesChoice(app, chooseUpdates))
  if (newer) about.append(...newerVersion(app, newer, update))
  const label = text('uninstallNamed', { title })
  const end = button({ textContent: text('uninstall'), ariaLabel: label, className: 'quiet' }, uninstall)
  return make('li', { className: 'app' }, ...iconOf(app), about, end)
}

/** `install` is called when the visitor wants it. */
export function offerLine(offer, install) {
  const title = titleOf(offer)
  const about = aboutApp(offer, title, capabilitiesLine('asksFor', offer.capabilities))
  const start = button({ textContent: text('install'), ariaLabel: text('installNamed', { title }) }, install)
  return make('li', { className: 'app' }, about, start)
}

export function emptyLine(content) {
  return make('li', { textContent: content })
}

function aboutApp(app, heading, capabilities) {
  const { version, publisherTag: publisher } = app
  const description = descriptionOf(app)
  return make(
    'div',
    {},
    make('h3', { dir: 'auto' }, heading),
    ...(description === '' ? [] : [make('p', { className: 'hint', dir: 'auto', textContent: description })]),
    hint(text('versionBy', { version, publisher })),
    capabilities,
    ...typesLine('opensTypes', app.fileTypes),
  )
}

function typesLine(name, types = []) {
  return types.length === 0 ? [] : [hint(text(name, { list: types.join(', ') }))]
}

function capabilitiesLine(name, capabilities) {
  return hint(
    capabilities.length === 0 ? text(`${name}Nothing`) : text(name, { list: inWords(capabilities) }),
  )
}

function inWords(capabilities) {
  return capabilities.map((capability) => text(`capability ${capability}`)).join(', ')
}

function newerVersion({ capabilities: agreed, fileTypes = [] }, newer, update) {
  const { version } = newer
  const label = text('updateNamed', { version, title: titleOf(newer) })
  const start = button({ textContent: text('update', { version }), ariaLabel: label }, update)
  const more = newer.capabilities.filter((capability) => !agreed.includes(capability))
  const types = newer.fileTypes?.filter((type) => !fileTypes.includes(type))
  const asks = more.length === 0 ? [] : [hint(text('asksForMore', { list: inWords(more) }))]
  return [...asks, ...typesLine('opensMoreTypes', types), start]
}

function updatesChoice(app, chooseUpdates) {
  const label = text('autoUpdateNamed', { title: titleOf(app) })
  const box = make('input', { type: 'checkbox', checked: app.autoUpdate, ariaLabel: label })
  box.addEventListener('change', async () => {
    await run(() => chooseUpdates(box.checked))
    // As it was, where that has failed.
    box.checked = app.autoUpdate
  })
  return make('label', { className: 'choice' }, box, ` ${text('autoUpdate')}`)
}

/** Offers have none: their packages are not here yet. */
function iconOf({ fileId, icon }) {
  if (icon === undefined) return []
  const picture = make('img', { alt: '', width: 32, height: 32, loading: 'lazy' })
  picture.addEventListener('error', () => picture.remove())
  picture.src = `/api/files/${fileId}/content/${icon.split('/').map(encodeURIComponent).join('/')}`
  return [picture]
}

function button(properties, work) {
  const made = make('button', { type: 'button', ...properties })
  made.addEventListener('click', work)
  return made
}

function hint(content) {
  return make('p', { className: 'hint', textContent: content })
}

function make(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}
