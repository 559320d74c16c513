// The files that an app opens: those of the visitor, those that others offer, and new ones.

import { call } from './api.js'
import { isOfFileTypes } from './app-file-types.js'
import { descriptionOf, titleOf } from './app-titles.js'
import { complain, element, onSubmit, run, say, text } from './browser.js'

const pageSize = 50
const typeOf = { crdt: 'CRDT', rtdb: 'RTDB' }
const capabilityFor = { CRDT: 'crdt', RTDB: 'rtdb', BLOB: 'files:read' }

/** What its own files are; an app that opens no documents has none. */
function kindOf({ capabilities }) {
  return capabilities.find((capability) => capability in typeOf)
}

/** Whether an app opens files of this content type: its own, and those that its manifest names. */
function opensType({ fileType, fileTypes = [] }, contentType = '') {
  return contentType === fileType || isOfFileTypes(fileTypes, contentType)
}

export function mayOpen(app, { fileTp, contentType }) {
  return app.capabilities.includes(capabilityFor[fileTp]) && opensType(app, contentType)
}

export function linkTo(fileId) {
  return `?file=${encodeURIComponent(fileId)}`
}

/** Shows the page on which a file is chosen. */
export async function showFiles(app) {
  const { installed } = app
  const { version, publisherTag } = installed
  const name = titleOf(installed)
  element('app-name').textContent = name
  const about = { description: descriptionOf(installed), version, publisher: publisherTag }
  element('app-about').textContent = text('appAbout', about).trim()
  element('uses').hidden = installed.capabilities.length === 0
  element('new-form').hidden = kindOf(installed) === undefined
  element('chooser').hidden = false
  document.title = name
  onSubmit('new-form', () => makeFile(app))
  await Promise.all([listFiles(app), listOffers(app)])
}

async function listFiles({ installed, idTag }) {
  const { fileType, fileTypes = [] } = installed
  const listOf = (type) =>
    call('GET', `/api/files?contentType=${encodeURIComponent(type)}&sort=recent&limit=${pageSize}`)
  const lists = await Promise.all([fileType, ...fileTypes].map(listOf))
  // A file may be of several of these types.
  const files = new Map(lists.flatMap(({ items }) => items.map((file) => [file.fileId, file])))
  const lines = [...files.values()]
    .filter((file) => mayOpen(installed, file))
    .map((file) => fileLine(file, idTag))
  element('files').replaceChildren(...(lines.length > 0 ? lines : [text('noFiles')]))
}

function fileLine({ fileId, fileName, owner, x }, idTag) {
  const line = document.createElement('li')
  const link = document.createElement('a')
  link.href = linkTo(fileId)
  const ownerTag = x?.home ?? owner.idTag
  link.textContent = ownerTag === idTag ? fileName : text('fileOf', { name: fileName, owner: ownerTag })
  line.append(link)
  return line
}

async function listOffers({ installed }) {
  const { items } = await call('GET', `/api/actions?type=FSHR&status=C&limit=${pageSize}`)
  const offers = items.filter(({ content }) => opensType(installed, content?.contentType))
  element('offers').replaceChildren(...offers.map(offerLine))
  element('offered').hidden = offers.length === 0
}

function offerLine({ actionId, subject, issuer, content }) {
  const line = document.createElement('li')
  const label = document.createElement('span')
  const name = content.fileName ?? text('unnamedFile')
  label.textContent = text('offerLine', { name, owner: issuer.idTag })
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = text('accept')
  button.ariaLabel = text('acceptNamed', { name })
  const accept = async () => {
    say(text('working'))
    await call('POST', `/api/actions/${encodeURIComponent(actionId)}/accept`)
    await untilThere(subject)
    location.assign(linkTo(subject))
  }
  button.addEventListener('click', () => void run(accept))
  line.append(label, button)
  return line
}

/** The copy of what was accepted is made by a job of the server. A file of bytes is listed before its size is known. */
async function untilThere(fileId) {
  let isListed = false
  for (let delayMs = 100; delayMs < 5_000; delayMs *= 2) {
    try {
      const { status, size } = await call('GET', `/api/files/${encodeURIComponent(fileId)}/metadata`)
      if (status !== 'P' || size > 0) return
      isListed = true
    } catch (error) {
      if (error.code !== 'E-FILE-NOTFOUND') throw error
    }
    await new Promise((resolve) => setTimeout(resolve, delayMs))
  }
  if (!isListed) complain(text('E-NOTFOUND'))
}

async function makeFile({ installed }) {
  say(text('working'))
  const body = {
    fileTp: typeOf[kindOf(installed)],
    fileName: element('new-name').value.trim() || text('unnamedFile'),
    contentType: installed.fileType,
  }
  const { fileId } = await call('POST', '/api/files', { body })
  location.assign(linkTo(fileId))
}
