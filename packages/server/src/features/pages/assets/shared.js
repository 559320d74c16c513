import { call, Problem } from './api.js'
import { element, onClick, run, say, text } from './browser.js'

const refId = location.pathname.split('/').at(-1)
// A reload does not use the link once more.
const tokenName = `kith.shared.${refId}`
const pageSize = 50

let token = sessionStorage.getItem(tokenName)
/** The folders that were opened, from the one that was shared to the one that is shown. */
let folders = []
let nextCursor = null

const ask = (path) => call('GET', path, { token }).catch(whenOver)
const bytesOf = (fileId, query) => `/api/files/${fileId}?${query}&token=${encodeURIComponent(token)}`

// Only a person's click uses the link: programs that look at the links in messages follow them as well.
onClick('open', async () => {
  say(text('working'))
  const grant = await call('GET', `/api/auth/access-token?ref=${encodeURIComponent(refId)}`, { token: null })
  token = grant.token
  sessionStorage.setItem(tokenName, JSON.stringify([grant.resourceId, token]))
  await show(grant.resourceId)
})

onClick('more', async () => {
  const count = element('files').childElementCount
  await showFiles()
  element('files').children[count]?.querySelector('a, button')?.focus()
})

onClick('up', async () => {
  folders.pop()
  await showFolder()
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
    return await showFolder()
  }
  nameContent(file.fileName)
  element('about').textContent = describe(file)
  if (file.fileTp !== 'BLOB') return
  element('content').append(downloadLink(file))
  if (file.contentType.startsWith('image/')) showPicture(file)
}

function showPicture({ fileId, fileName }) {
  const picture = document.createElement('img')
  picture.className = 'preview'
  picture.alt = fileName
  // What is no picture a browser can show needs no broken one.
  picture.addEventListener('error', () => picture.remove())
  picture.src = bytesOf(fileId, 'variant=sd')
  element('about').after(picture)
}

async function showFolder() {
  nameContent(folders.at(-1).fileName)
  element('up').hidden = folders.length === 1
  element('files').replaceChildren()
  nextCursor = null
  await showFiles()
  element('about').textContent = element('files').childElementCount === 0 ? text('emptyFolder') : ''
}

async function showFiles() {
  const from = nextCursor === null ? '' : `&cursor=${encodeURIComponent(nextCursor)}`
  const { fileId } = folders.at(-1)
  const page = await ask(`/api/files?parentId=${fileId}&sort=name&limit=${pageSize}${from}`)
  element('files').append(...page.items.map(lineOf))
  nextCursor = page.nextCursor
  element('more').hidden = nextCursor === null
}

function lineOf(file) {
  const line = document.createElement('li')
  const name = document.createElement('span')
  name.textContent = file.fileTp === 'FLDR' ? file.fileName : `${file.fileName} – ${describe(file)}`
  line.append(name)
  if (file.fileTp === 'FLDR') line.append(folderButton(file))
  if (file.fileTp === 'BLOB') line.append(downloadLink(file))
  return line
}

function folderButton(file) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'quiet'
  button.textContent = text('openFolder')
  button.ariaLabel = text('openNamedFolder', { name: file.fileName })
  const open = async () => {
    folders.push(file)
    await showFolder()
  }
  button.addEventListener('click', () => void run(open))
  return button
}

function downloadLink({ fileId, fileName }) {
  const link = document.createElement('a')
  link.href = bytesOf(fileId, 'download=1')
  link.textContent = text('download')
  link.ariaLabel = text('downloadNamed', { name: fileName })
  return link
}

function nameContent(name) {
  const title = element('content-title')
  title.textContent = name
  title.focus()
}

function describe({ fileTp, size }) {
  if (fileTp !== 'BLOB') return text('liveDocument')
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, size)) / 3))
  const { lang } = document.documentElement
  const format = { style: 'unit', unit: units[power], unitDisplay: 'long', maximumFractionDigits: 1 }
  return new Intl.NumberFormat(lang, format).format(size / 1000 ** power)
}

async function resume() {
  const [fileId, kept] = JSON.parse(token)
  token = kept
  try {
    await show(fileId)
  } catch (error) {
    // The token is over; the link may be good for another.
    if (!(error instanceof Problem) || error.code === 'offline') throw error
    sessionStorage.removeItem(tokenName)
    token = null
  }
}

if (token !== null) void run(resume)
