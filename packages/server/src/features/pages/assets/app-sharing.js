// The dialog in which the owner of a file shares it.

import { call, Problem } from './api.js'
import { element, text } from './browser.js'

let path = ''

/** Offers the dialog for a file of the visitor. */
export function offerSharing(fileId) {
  path = `/api/files/${encodeURIComponent(fileId)}/shares`
  element('share').hidden = false
  element('share').addEventListener('click', () => {
    element('sharing').showModal()
    void attempt(listShares)
  })
  element('sharing-done').addEventListener('click', () => element('sharing').close())
  element('share-form').addEventListener('submit', (event) => {
    event.preventDefault()
    void attempt(share)
  })
}

/** Says in the dialog what went wrong: the page behind it is inert. */
async function attempt(work) {
  element('share-problem').textContent = ''
  try {
    await work()
  } catch (error) {
    element('share-status').textContent = ''
    element('share-problem').textContent = error instanceof Problem ? text(error.code) : String(error)
  }
}

async function share() {
  element('share-status').textContent = text('working')
  const subjectId = element('share-with').value.trim()
  const permission = element('share-write').checked ? 'W' : 'R'
  await call('POST', path, { body: { subjectType: 'U', subjectId, permission } })
  element('share-with').value = ''
  element('share-status').textContent = text('shareMade', { idTag: subjectId })
  await listShares()
}

async function listShares() {
  const shares = await call('GET', path)
  const lines = shares.filter(({ subjectType }) => subjectType === 'U').map(shareLine)
  element('shares').replaceChildren(...(lines.length > 0 ? lines : [text('none')]))
}

function shareLine({ id, subjectId: idTag, permission }) {
  const line = document.createElement('li')
  const label = document.createElement('span')
  label.textContent = text(permission === 'R' ? 'mayRead' : 'mayWrite', { idTag })
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'quiet'
  button.textContent = text('endShare')
  button.ariaLabel = text('endShareNamed', { idTag })
  const end = async () => {
    await call('DELETE', `${path}/${encodeURIComponent(id)}`)
    element('share-status').textContent = text('shareEnded', { idTag })
    await listShares()
  }
  button.addEventListener('click', () => void attempt(end))
  line.append(label, button)
  return line
}
