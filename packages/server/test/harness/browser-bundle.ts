import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Plugin, rolldown } from 'rolldown'

interface BundleOptions {
  readonly minify?: boolean
  readonly external?: readonly string[]
  readonly plugins?: readonly Plugin[]
}

/** Bundles a module and what it imports for browsers, as an application would. The first file is the entry; lazily imported
 * modules follow. */
export async function bundleForBrowser(
  entry: string,
  options: BundleOptions = {},
): Promise<readonly { readonly fileName: string; readonly code: string }[]> {
  const { minify = false, external = [], plugins = [] } = options
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    external: (id) => external.some((name) => id === name || id.startsWith(`${name}/`)),
    logLevel: 'silent',
    plugins: [...plugins],
  })
  try {
    const { output } = await bundle.generate({ format: 'esm', minify, entryFileNames: 'app.js' })
    return output.flatMap((file) =>
      file.type === 'chunk' ? [{ fileName: file.fileName, code: file.code }] : [],
    )
  } finally {
    await bundle.close()
  }
}

/** The same for a module of which there is no file. */
export async function bundleTextForBrowser(text: string, options: BundleOptions = {}): Promise<string> {
  const entry = {
    name: 'entry',
    resolveId: (id: string) => (id === 'entry' ? '\0entry.ts' : undefined),
    load: (id: string) => (id === '\0entry.ts' ? text : undefined),
  }
  const files = await bundleForBrowser('entry', { ...options, plugins: [entry, ...(options.plugins ?? [])] })
  return files.map(({ code }) => code).join('')
}

/** Serves an empty page that runs a bundled application, from an origin of its own; and at `/framed` one that has the first page in
 * a sandboxed frame, where scripts have an opaque origin and no storage. */
export async function serveApplication(entry: string): Promise<{ url: string } & AsyncDisposable> {
  const files = await bundleForBrowser(entry)
  const pages = new Map(
    files.map(({ fileName, code }) => [`/${fileName}`, { type: 'text/javascript', body: code }]),
  )
  const html = '<!doctype html><title>app</title><script type="module" src="/app.js"></script>'
  pages.set('/', { type: 'text/html', body: html })
  const framed = '<!doctype html><title>framed</title><iframe sandbox="allow-scripts" src="/"></iframe>'
  pages.set('/framed', { type: 'text/html', body: framed })
  const server = createServer((request, response) => {
    const page = pages.get(request.url ?? '')
    // Modules in a sandboxed frame are requests of another origin.
    const headers = { 'content-type': page?.type ?? 'text/plain', 'access-control-allow-origin': '*' }
    response.writeHead(page ? 200 : 404, headers).end(page?.body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://app.localhost:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
