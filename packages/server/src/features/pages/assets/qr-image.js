import { encodeQR } from './qr.js'

const svgNamespace = 'http://www.w3.org/2000/svg'

/** An SVG image of a text as QR code, with the quiet margin that readers need. */
export function qrImage(content, label) {
  const rows = encodeQR(content, 'raw', { ecc: 'medium', border: 4 })
  const image = svg('svg', { viewBox: `0 0 ${rows.length} ${rows.length}`, class: 'code', role: 'img' })
  const title = svg('title', {})
  title.textContent = label
  const path = rows
    .flatMap((row, y) => Array.from(row, (isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('')
  image.append(title, svg('path', { d: path, fill: '#000', 'shape-rendering': 'crispEdges' }))
  return image
}

function svg(name, attributes) {
  const made = document.createElementNS(svgNamespace, name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  return made
}
