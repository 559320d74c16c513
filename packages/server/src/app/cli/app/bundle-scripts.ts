import { existsSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import type { AppCapability } from '@kith/protocol'
import type { Plugin, RolldownOutput } from 'rolldown'
import { Failure } from '#lib/failure.ts'
import { pathFrom } from './page-resources.ts'
import { type AppProject, isSource } from './read-project.ts'
import type { ZipEntry } from './write-zip.ts'

const scriptElement = /(<script\b[^<>]*\bsrc=)(?:"([^"]+)"|'([^']+)')/gi

/** The files of the package: those of the project, with the sources that its pages name bundled to JavaScript. */
export async function bundleScripts(
  project: AppProject,
  options: { readonly minify: boolean },
): Promise<ZipEntry[]> {
  const { files } = project
  const pages = files.filter(({ path }) => path.endsWith('.html'))
  const entries = pages.flatMap((page) => sourcesOf(project, page))
  if (entries.length === 0) return [...files]
  const bundled = await bundle(project, [...new Set(entries)], options.minify)
  const rewritten = files.map((file) => (pages.includes(file) ? withBundles(file) : file))
  return [...rewritten, ...bundled]
}

/** The sources that a page names, by their paths in the folder. */
function sourcesOf({ folder }: AppProject, { path, content }: ZipEntry): string[] {
  return [...Buffer.from(content).toString().matchAll(scriptElement)].flatMap(([, , double, single]) => {
    const src = double ?? single ?? ''
    const source = pathFrom(path, src)
    if (source === undefined || !isSource(source)) return []
    if (!existsSync(join(folder, source)))
      throw new Failure('E-VALIDATION', { message: `${path} names ${src}, which is not there.` })
    return source
  })
}

function withBundles({ path, content }: ZipEntry): ZipEntry {
  const html = Buffer.from(content).toString()
  const named = html.replaceAll(scriptElement, (whole, before: string, double?: string, single?: string) => {
    const source = pathFrom(path, double ?? single ?? '')
    // From the folder of the page to the root, where the bundles are.
    const root = posix.relative(posix.dirname(path), '.') || '.'
    return source !== undefined && isSource(source) ? `${before}"${root}/${bundleName(source)}"` : whole
  })
  return { path, content: Buffer.from(named) }
}

/** `scripts/src-main.js` of `src/main.ts`. */
function bundleName(script: string): string {
  return `scripts/${entryName(script)}.js`
}

function entryName(script: string): string {
  return script.replace(/\.\w+$/, '').replaceAll('/', '-')
}

async function bundle(project: AppProject, scripts: readonly string[], minify: boolean): Promise<ZipEntry[]> {
  const { rolldown } = await loadRolldown()
  const input = Object.fromEntries(scripts.map((script) => [entryName(script), join(project.folder, script)]))
  // What the bundler says of an import, by the name that it has not found.
  const notFound = new Map<string, string>()
  const build = await rolldown({
    input,
    platform: 'browser',
    onLog(_level, { code, exporter, message }) {
      if (code === 'UNRESOLVED_IMPORT' && exporter !== undefined) notFound.set(exporter, message)
    },
    plugins: [ownPackages(project.manifest.capabilities ?? [])],
  })
  try {
    const { output } = await build.generate({
      format: 'esm',
      minify,
      // While the app is made, the browser's console names its sources.
      sourcemap: minify ? false : 'inline',
      entryFileNames: 'scripts/[name].js',
      chunkFileNames: 'scripts/[name]-[hash].js',
    })
    assertAllBundled(output, notFound)
    return output.map((file) => ({
      path: file.fileName,
      content: Buffer.from(file.type === 'chunk' ? file.code : file.source),
    }))
  } catch (error) {
    // A mistake in the app, told with its place and coloured for terminals.
    const message = error instanceof Error ? error.message : String(error)
    const lines = stripVTControlCharacters(message).split('\n')
    throw new Failure('E-VALIDATION', { message: 'The app cannot be bundled.', details: { bundler: lines } })
  } finally {
    await build.close()
  }
}

/** Throws where the bundles import what a browser will not find. What a package tries to `require` is not among that, and may be missing. */
function assertAllBundled(output: RolldownOutput['output'], notFound: ReadonlyMap<string, string>): void {
  const names = new Set(output.map(({ fileName }) => fileName))
  const imported = output.flatMap((file) =>
    file.type === 'chunk' ? [...file.imports, ...file.dynamicImports] : [],
  )
  const missing = [...new Set(imported)].filter((name) => !names.has(name))
  if (missing.length > 0)
    throw new Error(missing.map((name) => notFound.get(name) ?? `No app can load ${name}.`).join('\n'))
}

/** Twenty megabytes that a server never loads. */
async function loadRolldown() {
  return await import('rolldown').catch((cause: unknown) => {
    throw new Failure('E-UNAVAILABLE', { message: 'The bundler is not installed: run npm ci.', cause })
  })
}

const ownPackage = /^(?:@kith\/|yjs$|y-protocols\/|lib0\/)/
const notAsked = '\0not-asked-'
const clients: Readonly<Record<string, AppCapability>> = {
  '@kith/client/crdt': 'crdt',
  '@kith/client/rtdb': 'rtdb',
}

/** Finds the SDK, and with it the one copy of Yjs, where this program has them. What the manifest does not ask for throws when it is loaded. */
function ownPackages(capabilities: readonly AppCapability[]): Plugin {
  const sdk = dirname(fileURLToPath(import.meta.resolve('@kith/app')))
  const client = dirname(fileURLToPath(import.meta.resolve('@kith/client')))
  return {
    name: 'kith-packages',
    resolveId(source) {
      const capability = clients[source]
      if (capability && !capabilities.includes(capability)) return notAsked + capability
      if (!ownPackage.test(source)) return undefined
      const importer = join(source.startsWith('@kith/') ? sdk : client, 'index.ts')
      return this.resolve(source, importer, { skipSelf: true })
    },
    load(id) {
      if (!id.startsWith(notAsked)) return undefined
      const message = `The capabilities of app.json lack ${JSON.stringify(id.slice(notAsked.length))}.`
      return `throw new Error(${JSON.stringify(message)})`
    },
  }
}
