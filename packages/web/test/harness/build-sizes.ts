import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const dist = join(import.meta.dirname, '../../dist')
const pages = join(import.meta.dirname, '../../../server/src/features/pages/assets')

interface Chunk {
  readonly file: string
  readonly imports?: readonly string[]
  readonly css?: readonly string[]
}
type Manifest = Readonly<Record<string, Chunk>>

/** What the built app takes over the network, in kB of 1000 bytes, compressed by gzip. */
export function buildSizes() {
  const manifest = JSON.parse(readFileSync(join(dist, 'manifest.json'), 'utf8')) as Manifest
  // What the document asks for, with what the feed needs beside that.
  const home = new Set([...filesNamedIn('app.html'), ...filesOf(manifest, 'src/features/feed/screens.ts')])
  // What other screens import as well goes by the name of its file.
  const screens = Object.keys(manifest).filter((name) => /(?:\/screens\.ts|^_screens-[\w-]+\.js)$/.test(name))
  return {
    /** A feed that can be used. */
    home: { scripts: sizeOf(home, '.js'), styles: sizeOf(home, '.css') },
    /** What each other screen adds to it, by the name of its module. */
    screens: new Map(
      screens.map((name) => {
        const added = [...filesOf(manifest, name)].filter((file) => !home.has(file))
        return [name, sizeOf(added, '.js')]
      }),
    ),
    largestChunk: Math.max(...Object.values(manifest).map(({ file }) => sizeOf([file], '.js'))),
  }
}

/** The scripts of a page that works before the app is there, such as `login`. */
export function pageSize(name: string): number {
  const seen = new Set<string>()
  const visit = (file: string) => {
    if (seen.has(file)) return
    seen.add(file)
    const text = readFileSync(pathOf(file), 'utf8')
    for (const [, imported = ''] of text.matchAll(/^import[^'"]*'\.\/([^']+)'/gm)) visit(imported)
  }
  visit(`${name}.js`)
  return [...seen].reduce((sum, file) => sum + gzipped(pathOf(file)), 0)
}

// The one script of a page that is a package.
function pathOf(file: string): string {
  return file === 'qr.js' ? fileURLToPath(import.meta.resolve('qr')) : join(pages, file)
}

/** The files that a document has the browser load. Its scripts import no others: it names them all. */
function filesNamedIn(document: string): readonly string[] {
  const html = readFileSync(join(dist, document), 'utf8')
  return Array.from(html.matchAll(/"\/assets\/web\/([^"]+)"/g), ([, name = '']) => name)
}

/** What a chunk and those it imports load, by name. */
function filesOf(manifest: Manifest, name: string): ReadonlySet<string> {
  const chunk = manifest[name]
  if (!chunk) return new Set()
  const imported = (chunk.imports ?? []).flatMap((other) => [...filesOf(manifest, other)])
  return new Set([chunk.file, ...(chunk.css ?? []), ...imported])
}

function sizeOf(files: Iterable<string>, ending: string): number {
  const paths = [...files].filter((file) => file.endsWith(ending)).map((file) => join(dist, 'assets', file))
  return paths.reduce((sum, path) => sum + gzipped(path), 0)
}

function gzipped(path: string): number {
  return gzipSync(readFileSync(path), { level: 9 }).length / 1000
}
