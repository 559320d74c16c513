// The files of a folder that a link shares, as lines or tiles.

import { run, text } from './browser.js'

export const bytesOf = (fileId, token, query) =>
  `/api/files/${fileId}?${query}${query === '' ? '' : '&'}token=${encodeURIComponent(token)}`

/** Whether there are variants of it to show. */
export function isPicture({ fileTp, contentType, x }) {
  return fileTp === 'BLOB' && /^image\/(?!svg)/.test(contentType) && !x?.processingError
}

/** A file with what can be done with it: folders are opened, files looked at and saved. */
export function lineOf(file, token, open) {
  const line = document.createElement('li')
  const isFolder = file.fileTp === 'FLDR'
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'file'
  button.disabled = !isFolder && file.fileTp !== 'BLOB'
  const label = isFolder ? 'openNamedFolder' : 'openNamedFile'
  if (!button.disabled) button.ariaLabel = text(label, { name: file.fileName })
  const name = document.createElement('bdi')
  name.textContent = file.fileName
  button.append(likenessOf(file, token), name)
  button.addEventListener('click', () => void run(async () => open(file)))
  line.append(button)
  if (isFolder) return line
  const about = document.createElement('small')
  about.textContent = describe(file)
  line.append(about)
  if (file.fileTp === 'BLOB') line.append(downloadLink(file, token))
  return line
}

function likenessOf(file, token) {
  const likeness = document.createElement('span')
  likeness.className = 'likeness'
  likeness.dataset.kind = file.fileTp === 'FLDR' ? 'folder' : 'file'
  if (!isPicture(file)) return likeness
  const picture = document.createElement('img')
  picture.alt = ''
  picture.loading = 'lazy'
  picture.addEventListener('error', () => picture.remove())
  picture.src = bytesOf(file.fileId, token, 'variant=sd')
  likeness.append(picture)
  return likeness
}

export function downloadLink({ fileId, fileName }, token) {
  const link = document.createElement('a')
  link.href = bytesOf(fileId, token, 'download=1')
  link.textContent = text('download')
  link.ariaLabel = text('downloadNamed', { name: fileName })
  return link
}

export function describe({ fileTp, size }) {
  if (fileTp !== 'BLOB') return text('liveDocument')
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, size)) / 3))
  const { lang } = document.documentElement
  const format = { style: 'unit', unit: units[power], unitDisplay: 'long', maximumFractionDigits: 1 }
  return new Intl.NumberFormat(lang, format).format(size / 1000 ** power)
}
