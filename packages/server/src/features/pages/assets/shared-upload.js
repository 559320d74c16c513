// Files of a visitor without an account, for a folder whose link lets write.

import { Problem } from './api.js'
import { element, say, text } from './browser.js'

// As the SDK has it: from this size on a file is sent in pieces.
const piecesFrom = 16 * 2 ** 20
const pieceBytes = 8 * 2 ** 20
const atOnce = 2
const againAfterMs = 5_000
const tus = { 'tus-resumable': '1.0.0' }

// Bound: what was chosen and dropped until it has arrived or is taken off.
const jobs = new Set()
let context
let arrived = 0

/** Lets files be chosen, taken with a camera, or dropped. `placeOf`: the folder that is shown, and the names in it. */
export function offerUploads(given) {
  context = given
  const input = element('add-input')
  element('add').hidden = false
  element('add').addEventListener('click', () => input.click())
  input.addEventListener('change', () => {
    take([...input.files])
    input.value = ''
  })
  window.addEventListener('dragover', (event) => event.preventDefault())
  window.addEventListener('drop', (event) => {
    event.preventDefault()
    take([...event.dataTransfer.files])
  })
  window.addEventListener('online', wake)
  window.addEventListener('beforeunload', (event) => {
    if ([...jobs].some(({ state }) => state !== 'failed')) event.preventDefault()
  })
}

const rank = ({ type }) => (type.startsWith('image/') ? 0 : type.startsWith('video/') ? 2 : 1)

function take(files) {
  const { folderId, names } = context.placeOf()
  const sorted = files.toSorted((a, b) => rank(a) - rank(b) || a.size - b.size)
  for (const file of sorted) {
    const name = freeName(keptName(file.name), names)
    names.add(name)
    const job = { file, name, folderId, state: 'waiting', uploadId: undefined, line: undefined }
    jobs.add(job)
    element('uploads').append(lineFor(job))
  }
  pump()
}

/** As the server keeps it: some systems write accents apart, and no name turns its direction. */
function keptName(name) {
  return (
    name
      .normalize('NFC')
      .replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '')
      .trim() || 'file'
  )
}

function freeName(name, taken) {
  const dot = name.lastIndexOf('.')
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  let free = name
  for (let count = 2; taken.has(free); count += 1) free = `${stem} (${count})${ending}`
  return free
}

function lineFor(job) {
  const line = document.createElement('li')
  const name = document.createElement('span')
  const progress = document.createElement('progress')
  progress.max = Math.max(1, job.file.size)
  progress.value = 0
  progress.ariaLabel = job.name
  name.textContent = job.name
  const cancel = button('cancelNamed', 'cancel', job, () => end(job))
  line.append(name, progress, cancel)
  job.line = line
  job.onProgress = (sentBytes) => {
    progress.value = sentBytes
  }
  return line
}

function button(label, words, job, act) {
  const made = document.createElement('button')
  made.type = 'button'
  made.className = 'quiet'
  made.textContent = text(words)
  made.ariaLabel = text(label, { name: job.name })
  made.addEventListener('click', act)
  return made
}

function end(job) {
  jobs.delete(job)
  job.abort?.()
  job.line.remove()
  if (job.uploadId)
    void request('DELETE', `/api/uploads/${job.uploadId}`, { headers: tus }).catch(() => undefined)
  pump()
}

function pump() {
  const running = [...jobs].filter(({ state }) => state === 'sending').length
  const next = [...jobs].filter(({ state }) => state === 'waiting')
  for (const job of next.slice(0, Math.max(0, atOnce - running))) void send(job)
}

function wake() {
  for (const job of jobs) if (job.state === 'resting') job.state = 'waiting'
  pump()
}

async function send(job) {
  job.state = 'sending'
  try {
    await (job.file.size < piecesFrom ? sendWhole(job) : sendPieces(job))
    arrived += 1
    jobs.delete(job)
    job.line.remove()
    if (jobs.size === 0) await tellArrived()
  } catch (error) {
    if (!jobs.has(job)) return
    takeFailure(job, error)
  }
  pump()
}

async function tellArrived() {
  await context.onArrived()
  say(text(arrived === 1 ? 'oneArrived' : 'manyArrived', { count: arrived }))
  arrived = 0
}

const passing = ['offline', 'E-RATELIMIT', 'E-UNAVAILABLE', 'E-STATE']

function takeFailure(job, { code = 'offline' }) {
  if (passing.includes(code)) {
    // Until the connection is back, or some time has passed.
    job.state = 'resting'
    say(text('uploadInterrupted'))
    setTimeout(wake, againAfterMs)
    return
  }
  job.state = 'failed'
  const why = document.createElement('span')
  why.role = 'alert'
  why.textContent = text(code === 'E-AUTH-UNAUTH' ? 'E-GONE' : code)
  job.line.querySelector('progress')?.replaceWith(why)
}

/** A small file goes in one request. */
async function sendWhole(job) {
  const { file, name, folderId } = job
  const query = new URLSearchParams({
    parentId: folderId,
    createdAt: new Date(file.lastModified).toISOString(),
  })
  const isJson = /^application\/(?:[\w.-]+\+)?json/.test(file.type)
  await request('POST', `/api/files/default/${encodeURIComponent(name)}?${query}`, {
    headers: { 'content-type': isJson || file.type === '' ? 'application/octet-stream' : file.type },
    body: file,
    job,
    from: 0,
  })
}

/** A large file goes in pieces, and on where it was after the connection was lost. */
async function sendPieces(job) {
  const { file } = job
  job.uploadId ??= await begin(job)
  while (true) {
    const { offset, fileId } = await request('GET', `/api/uploads/${job.uploadId}`, { headers: tus })
    if (fileId) return
    await request('PATCH', `/api/uploads/${job.uploadId}`, {
      headers: { ...tus, 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' },
      body: file.slice(offset, offset + pieceBytes),
      job,
      from: offset,
    })
  }
}

async function begin({ file, name, folderId }) {
  const values = {
    filename: name,
    filetype: file.type,
    parentId: folderId,
    createdAt: new Date(file.lastModified).toISOString(),
  }
  const metadata = Object.entries(values)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${key} ${base64(value)}`)
    .join(',')
  const headers = { ...tus, 'upload-length': String(file.size), 'upload-metadata': metadata }
  return (await request('POST', '/api/uploads', { headers })).uploadId
}

function base64(words) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(words)))
}

/** With progress, which `fetch` does not tell of. */
function request(method, path, { headers, body, job, from }) {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest()
    xhr.open(method, path)
    xhr.setRequestHeader('authorization', `Bearer ${context.token}`)
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value)
    xhr.upload.onprogress = ({ loaded }) => job?.onProgress(from + loaded)
    xhr.onerror = () => reject(new Problem('offline', ''))
    xhr.onabort = () => reject(new Problem('offline', ''))
    xhr.onload = () => settle(xhr, resolve, reject)
    if (job) job.abort = () => xhr.abort()
    xhr.send(body)
  })
}

function settle({ status, responseText }, resolve, reject) {
  let answer = {}
  try {
    answer = JSON.parse(responseText)
  } catch {
    // A PATCH is answered without a body, and a proxy in words of its own.
  }
  if (status >= 200 && status < 300) resolve(answer.data)
  else reject(new Problem(answer.error?.code ?? 'offline', answer.error?.message ?? ''))
}
