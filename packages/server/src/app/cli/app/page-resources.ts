import { posix } from 'node:path'
import type { ZipEntry } from './write-zip.ts'

/** Where in the folder of an app a page finds what it names. A path from the root (`/src/main.ts`) is one from the root of the
 * folder. Undefined for an address of another place (`https://…`, `data:…`), or above the folder. */
export function pathFrom(page: string, reference: string): string | undefined {
  const [named = ''] = reference.split(/[?#]/)
  if (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(named)) return undefined
  const path = named.startsWith('/')
    ? posix.normalize(named).slice(1)
    : posix.join(posix.dirname(page), named)
  return path.startsWith('..') ? undefined : path
}

const element = /<(script|link|img)\b([^<>]*)>([^<]*)/gi
const attribute = /([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/gi
const handler = /<\w[^<>]*\s(on[a-z]+)\s*=/i
const runTypes = new Set(['', 'module', 'text/javascript', 'application/javascript'])

/** What the sandbox of an app will not load or run of the pages of a package, in sentences. It reads HTML as authors write it, not as
 * a browser does: it warns, and refuses nothing. */
export function warningsOf(entries: readonly ZipEntry[]): string[] {
  const paths = new Set(entries.map(({ path }) => path))
  const pages = entries.filter(({ path }) => path.endsWith('.html'))
  return pages.flatMap(({ path, content }) => pageWarnings(path, Buffer.from(content).toString(), paths))
}

function pageWarnings(page: string, html: string, paths: ReadonlySet<string>): string[] {
  const text = withoutComments(html)
  const warnings = [...text.matchAll(element)].flatMap(([, name = '', attributes = '', content = '']) => {
    const values = attributesOf(attributes)
    const reference = referenceOf(name.toLowerCase(), values)
    if (reference !== undefined) return warningOf(page, reference, paths) ?? []
    const isInline = name.toLowerCase() === 'script' && content.trim() !== ''
    if (!isInline || !runTypes.has(values.get('type') ?? '')) return []
    return `${page} has a script within it, which does not run: move it to a file.`
  })
  const [, event] = handler.exec(text) ?? []
  if (event) warnings.push(`${page} has ${event}="…", which does not run: use addEventListener in a script.`)
  return warnings
}

function withoutComments(html: string): string {
  const [first = '', ...others] = html.split('<!--')
  // What follows the end of each comment; nothing where it has none.
  return first + others.map((part) => part.split('-->').slice(1).join('-->')).join('')
}

function attributesOf(text: string): Map<string, string> {
  const found = [...text.matchAll(attribute)]
  return new Map(
    found.map(([, name = '', double, single, bare]) => [name.toLowerCase(), double ?? single ?? bare ?? '']),
  )
}

/** What an element loads; undefined where it loads nothing. */
function referenceOf(name: string, values: ReadonlyMap<string, string>): string | undefined {
  if (name !== 'link') return values.get('src')
  return values.get('rel') === 'stylesheet' ? values.get('href') : undefined
}

function warningOf(page: string, reference: string, paths: ReadonlySet<string>): string | undefined {
  if (reference.startsWith('data:')) return undefined
  const path = pathFrom(page, reference)
  if (path === undefined)
    return `${page} names ${reference}, which apps cannot load: put a copy of it into the folder.`
  if (reference.startsWith('/'))
    return `${page} names ${reference}, which begins with a slash: name it from the page (./${path}).`
  return paths.has(path) ? undefined : `${page} names ${reference}, which is not there.`
}
