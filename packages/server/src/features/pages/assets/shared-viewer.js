// Files on the whole window: swipes, arrow keys and buttons step through them.

import { element, text } from './browser.js'
import { bytesOf, describe, isPicture } from './shared-files.js'

let shown = { files: [], token: '', index: 0, before: undefined }

const viewer = element('viewer')
const strip = element('viewer-strip')

element('viewer-close').addEventListener('click', () => viewer.close())
element('viewer-previous').addEventListener('click', () => go(shown.index - 1))
element('viewer-next').addEventListener('click', () => go(shown.index + 1))
viewer.addEventListener('close', () => {
  strip.replaceChildren()
  shown.before?.focus()
})
viewer.addEventListener('keydown', (event) => {
  // A film's own keys move in the film.
  if (event.target instanceof HTMLMediaElement) return
  const to = { ArrowLeft: shown.index - 1, ArrowRight: shown.index + 1, Home: 0, End: shown.files.length - 1 }
  if (to[event.key] === undefined) return
  event.preventDefault()
  go(to[event.key])
})

let settling
strip.addEventListener('scroll', () => {
  clearTimeout(settling)
  settling = setTimeout(() => {
    const index = Math.round(strip.scrollLeft / strip.clientWidth)
    if (index !== shown.index && shown.files[index]) tell(index)
  }, 80)
})

/** Shows a file among those beside it. */
export function openViewer({ files, file, token }) {
  shown = { files, token, index: -1, before: document.activeElement }
  strip.replaceChildren(...files.map(() => slide()))
  viewer.showModal()
  go(files.indexOf(file))
}

function slide() {
  const place = document.createElement('div')
  place.className = 'slide'
  return place
}

function go(index) {
  if (!shown.files[index]) return
  strip.scrollTo({ left: index * strip.clientWidth, behavior: 'instant' })
  tell(index)
}

function tell(index) {
  const file = shown.files[index]
  shown.index = index
  element('viewer-name').textContent = file.fileName
  element('viewer-at').textContent = text('position', { at: index + 1, of: shown.files.length })
  const link = element('viewer-download')
  link.href = bytesOf(file.fileId, shown.token, 'download=1')
  link.ariaLabel = text('downloadNamed', { name: file.fileName })
  element('viewer-previous').hidden = index === 0
  element('viewer-next').hidden = index === shown.files.length - 1
  // Only those beside the present one are filled.
  for (const [at, place] of [...strip.children].entries()) {
    place.inert = at !== index
    if (Math.abs(at - index) > 1) place.replaceChildren()
    else if (place.childElementCount === 0) place.append(contentOf(shown.files[at]))
    if (at !== index) place.querySelector('video, audio')?.pause()
  }
}

function contentOf(file) {
  const content = mediaOf(file)
  if (!content) return plain(file)
  content.addEventListener('error', () => content.replaceWith(plain(file)))
  return content
}

function mediaOf({ fileId, fileName, contentType, ...file }) {
  const [kind] = contentType.split('/')
  if (isPicture({ ...file, contentType })) {
    const picture = document.createElement('img')
    picture.alt = fileName
    picture.src = bytesOf(fileId, shown.token, 'variant=hd')
    return picture
  }
  if (kind !== 'video' && kind !== 'audio') return undefined
  const media = document.createElement(kind)
  media.controls = true
  media.preload = 'metadata'
  media.ariaLabel = fileName
  media.src = bytesOf(fileId, shown.token, '')
  return media
}

function plain(file) {
  const words = document.createElement('p')
  words.textContent = `${text('noPreview')} ${describe(file)}`
  return words
}
