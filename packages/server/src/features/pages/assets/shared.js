// What a link shares: a file, or a folder that can be looked through and, with a link that lets write, added to.

import { call, Problem } from './api.js'
import { begin, element, onClick, say, text } from './browser.js'
import { checkLink, linkToken } from './links.js'
import { bytesOf, describe, downloadLink, isPicture, lineOf } from './shared-files.js'
import { offerUploads } from './shared-upload.js'
import { openViewer } from './shared-viewer.js'

const pageSize = 50

// With this entry of the history alone, which no other page reads: a reload does not use the link once more.
let { grant } = history.state ?? {}
let token = null
/** The folders that were opened, from the one that was shared to the one that is shown. */
let folders = []
/** What is listed of the folder that is shown. */
let files = []
let nextCursor = null
/** `grid` or `list`, once somebody has chosen one. */
let chosenLook

const ask = (path) => call('GET', path, { token }).catch(whenOver)

// Only a person's click uses the link: programs that look at the links in messages follow them as well.
onClick('open', async () => {
  say(text('working'))
  grant = await call('POST', '/api/auth/access-token', { token: null, body: { ref: linkToken } })
  token = grant.token
  history.replaceState({ grant }, '')
  await show(grant.resourceId)
})

onClick('more', async () => {
  const count = element('files').childElementCount
  await listMore()
  element('files').children[count]?.querySelector('a, button')?.focus()
})

onClick('up', async () => {
  folders.pop()
  await showFolder()
})

onClick('look', async () => {
  chosenLook = element('files').className === 'grid' ? 'list' : 'grid'
  showLook(chosenLook)
})

/** Says that the link is over, not that whoever is signed in is no longer. */
function whenOver(error) {
  throw error.code === 'E-AUTH-UNAUTH' ? new Problem('E-GONE', '') : error
}

async function show(fileId) {
  const file = await ask(`/api/files/${fileId}/metadata`)
  element('opening').hidden = true
  element('content').hidden = false
  say('')
  if (file.fileTp === 'FLDR') {
    folders = [file]
    if (grant.accessLevel === 'write')
      offerUploads({ token, placeOf: () => place(), onArrived: () => listFolder() })
    return await showFolder()
  }
  nameContent(file.fileName)
  element('about').textContent = describe(file)
  if (file.fileTp !== 'BLOB') return
  element('content').append(downloadLink(file, token))
  if (isPicture(file)) showPicture(file)
}

const place = () => ({
  folderId: folders.at(-1).fileId,
  names: new Set(files.map(({ fileName }) => fileName)),
})

function showPicture(file) {
  const picture = document.createElement('img')
  picture.className = 'preview'
  picture.alt = file.fileName
  // What is no picture a browser can show needs no broken one.
  picture.addEventListener('error', () => picture.remove())
  picture.src = bytesOf(file.fileId, token, 'variant=sd')
  element('about').after(picture)
}

async function showFolder() {
  nameContent(folders.at(-1).fileName)
  await listFolder()
}

/** Lists the folder anew; the focus stays where it is. */
async function listFolder() {
  const folder = folders.at(-1)
  element('tools').hidden = false
  element('up').hidden = folders.length === 1
  element('files').replaceChildren()
  element('zip').href = `/api/files/${folder.fileId}/zip?token=${encodeURIComponent(token)}`
  files = []
  nextCursor = null
  await listMore()
  element('about').textContent = files.length === 0 ? text('emptyFolder') : ''
  element('zip').hidden = files.length === 0
  element('look').hidden = files.length === 0
  showLook(chosenLook ?? (files.filter(isPicture).length * 2 > files.length ? 'grid' : 'list'))
}

function showLook(look) {
  element('files').className = look
  element('look').textContent = text(look === 'grid' ? 'asList' : 'asGrid')
}

async function listMore() {
  const from = nextCursor === null ? '' : `&cursor=${encodeURIComponent(nextCursor)}`
  const { fileId } = folders.at(-1)
  const page = await ask(`/api/files?parentId=${fileId}&sort=name&limit=${pageSize}${from}`)
  files.push(...page.items)
  element('files').append(...page.items.map((file) => lineOf(file, token, open)))
  nextCursor = page.nextCursor
  element('more').hidden = nextCursor === null
}

async function open(file) {
  if (file.fileTp === 'FLDR') {
    folders.push(file)
    return await showFolder()
  }
  openViewer({ files: files.filter(({ fileTp }) => fileTp === 'BLOB'), file, token })
}

function nameContent(name) {
  const title = element('content-title')
  title.textContent = name
  title.focus()
}

async function resume() {
  token = grant.token
  try {
    await show(grant.resourceId)
  } catch (error) {
    // The token is over; the link may be good for another.
    if (!(error instanceof Problem) || error.code === 'offline') throw error
    history.replaceState(null, '')
    token = null
    await start()
  }
}

async function start() {
  await checkLink(linkToken, { formId: 'opening', types: ['share.file'] })
}

begin(grant === undefined ? start : resume)
