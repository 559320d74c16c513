import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '#lib/system-error.ts'
import { type Coded, readCoded } from './encodings.ts'

/** What `packages/web/dist` has, but for the bytes of its assets. */
export interface WebBuild {
  /** The hash of the document, which names every other file by its hash. */
  readonly id: string
  readonly document: Coded
  readonly serviceWorker: Coded | undefined
  /** Where the assets lie, flat. */
  readonly folder: string
  /** With those that end in `.br` and `.gz`. */
  readonly names: ReadonlySet<string>
}

/** Assets are public files with a plain name; nothing else of a folder is served. */
const nameForm = /^[\w-][\w.-]*$/

/** The build in this folder; undefined where there is none, or one that is being written. */
export async function findWebBuild(dist: string): Promise<WebBuild | undefined> {
  const document = await readCoded(join(dist, 'app.html'))
  if (!document) return undefined
  const folder = join(dist, 'assets')
  const names = await listAssets(folder)
  const isWhole = assetsNamedIn(document.identity.toString()).every((name) => names.has(name))
  if (!isWhole) return undefined
  const serviceWorker = await readCoded(join(dist, 'service-worker.js'))
  return { id: document.tag, document, serviceWorker, folder, names }
}

/** The names of the assets in a folder. */
export async function listAssets(folder: string): Promise<ReadonlySet<string>> {
  const entries = (await unlessMissing(readdir(folder, { withFileTypes: true }))) ?? []
  return new Set(
    entries.filter((entry) => entry.isFile() && nameForm.test(entry.name)).map(({ name }) => name),
  )
}

function assetsNamedIn(html: string): string[] {
  return Array.from(html.matchAll(/"\/assets\/web\/([^"?#]+)"/g), ([, name = '']) => name)
}
