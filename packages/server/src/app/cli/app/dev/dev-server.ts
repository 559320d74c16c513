import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { assetHeaders, assetType, sandboxPolicy } from '#features/apps/index.ts'
import { readHostModule } from '#features/pages/index.ts'
import type { ZipEntry } from '../write-zip.ts'
import type { DevData } from './dev-data.ts'

const mostTabs = 20
// A tab that reads nothing is closed.
const mostUnreadBytes = 1024 * 1024
// An app that fails at each frame of an animation says the same things over and over.
const mostFailures = 10
const mostFailureLength = 4_000

interface Answer {
  readonly body: string | Uint8Array
  readonly type: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The page that hosts the app while it is made, on this machine alone. */
export class DevServer {
  readonly #server: Server
  readonly #config: object
  readonly #serverUrl: string
  // Unknown to other users of the machine, who can connect to its ports: the page has a token.
  readonly #base = `/${randomBytes(16).toString('base64url')}/`
  // At most `mostTabs`.
  readonly #tabs = new Set<ServerResponse>()
  #files: ReadonlyMap<string, ZipEntry> = new Map()
  /** Why the app could not be built, or what will not work of it; empty where all is well. */
  #problem = ''
  /** What went wrong in its page since it was built; at most `mostFailures`. */
  readonly #failures = new Set<string>()
  readonly #onFailure: (text: string) => void

  /** `onFailure` is called with what goes wrong in the page of the app, with each thing once. */
  constructor(
    data: DevData,
    about: { readonly name: string; readonly entry: string; readonly capabilities: readonly string[] },
    onFailure: (text: string) => void = () => undefined,
  ) {
    this.#onFailure = onFailure
    const { serverUrl, token, user, file } = data
    this.#serverUrl = serverUrl
    this.#config = { serverUrl, token, user, file, ...about }
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  async listen(port: number): Promise<string> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
    return this.#origin() + this.#base
  }

  /** Shows these files from now on, and what will not work of them; the tabs load the app again. */
  show(files: readonly ZipEntry[], problem = ''): void {
    this.#files = new Map(files.map((file) => [file.path, file]))
    this.#problem = problem
    this.#failures.clear()
    this.#tell('reload')
  }

  /** Shows in the tabs why the app could not be built. */
  complain(problem: string): void {
    this.#problem = problem
    this.#failures.clear()
    this.#tell('problem')
  }

  async close(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  #origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  #tell(event: 'reload' | 'problem'): void {
    for (const tab of this.#tabs)
      if (tab.writableLength > mostUnreadBytes) tab.destroy()
      else tab.write(this.#event(event))
  }

  #event(event: 'reload' | 'problem'): string {
    const problems = [this.#problem, ...this.#failures].filter((text) => text !== '')
    return `event: ${event}\ndata: ${JSON.stringify(problems.join('\n'))}\n\n`
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A page of another name that leads here would get the token.
    if (!/^127\.0\.0\.1:\d+$/.test(request.headers.host ?? '')) {
      response.writeHead(403).end()
      return
    }
    const path = this.#pathOf(request)
    if (path === 'events') {
      this.#addTab(response)
      return
    }
    if (path === 'app/.kith/problem' && request.method === 'POST') {
      await this.#noteFailure(request).catch(() => undefined)
      response.writeHead(204).end()
      return
    }
    const answer = path === undefined ? undefined : await this.#find(path).catch(() => undefined)
    const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', ...answer?.headers }
    response.writeHead(answer ? 200 : 404, { 'content-type': answer?.type ?? 'text/plain', ...headers })
    response.end(answer?.body)
  }

  #addTab(response: ServerResponse): void {
    if (this.#tabs.size >= mostTabs) {
      response.writeHead(503).end()
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    // A tab that is opened later is told as well.
    response.write(this.#event('problem'))
    this.#tabs.add(response)
    response.on('close', () => this.#tabs.delete(response))
  }

  async #noteFailure(request: IncomingMessage): Promise<void> {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) if (text.length < mostFailureLength) text += chunk
    const failure = text.slice(0, mostFailureLength).toWellFormed()
    if (!this.#failures.has(failure)) {
      if (failure === '' || this.#failures.size >= mostFailures) return
      this.#failures.add(failure)
      this.#onFailure(failure)
    }
    // Also when it is known: a tab may have loaded the app again since.
    this.#tell('problem')
  }

  async #find(path: string): Promise<Answer | undefined> {
    if (path === '') return this.#page()
    if (path === 'app/.kith/report.js') return await pageFile('report.js')
    if (path.startsWith('app/')) return this.#appFile(path.slice('app/'.length))
    if (path.startsWith('host/')) {
      const body = await readHostModule(path.slice('host/'.length))
      return body === undefined ? undefined : { body, type: assetType('index.js') }
    }
    if (path !== 'dev.js' && path !== 'dev.css') return undefined
    return await pageFile(path)
  }

  async #page(): Promise<Answer> {
    const html = await readFile(new URL('page/index.html', import.meta.url), 'utf8')
    const config = JSON.stringify(this.#config).replaceAll('&', '&amp;').replaceAll('"', '&quot;')
    const sockets = this.#serverUrl.replace(/^http/, 'ws')
    const policy = `default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' ${this.#serverUrl} ${sockets}; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'`
    return {
      body: html.replace('{config}', () => config),
      type: assetType('index.html'),
      headers: { 'content-security-policy': policy },
    }
  }

  /** A file of the app, with the policy that a server sends. */
  #appFile(path: string): Answer | undefined {
    const file = this.#files.get(path)
    if (!file) return undefined
    const headers = {
      ...assetHeaders,
      'cache-control': 'no-store',
      'content-security-policy': sandboxPolicy(`${this.#origin()}${this.#base}app/`),
      'access-control-allow-origin': '*',
    }
    const report = `<script src="${this.#base}app/.kith/report.js"></script>`
    const body = path.endsWith('.html') ? withScript(file.content, report) : file.content
    return { body, type: assetType(path), headers }
  }

  /** The decoded path of a request below the key; undefined for any other, and where the URL is malformed (`/%`). */
  #pathOf({ url = '/' }: IncomingMessage): string | undefined {
    try {
      const path = decodeURIComponent(new URL(url, 'http://localhost').pathname)
      return path.startsWith(this.#base) ? path.slice(this.#base.length) : undefined
    } catch {
      return undefined
    }
  }
}

async function pageFile(name: string): Promise<Answer> {
  return { body: await readFile(new URL(`page/${name}`, import.meta.url)), type: assetType(name) }
}

/** The page with a script that runs before its own. */
function withScript(content: Uint8Array, script: string): string {
  const html = Buffer.from(content).toString()
  const [start = ''] = /^\s*(?:<!doctype[^>]*>)?\s*(?:<html[^>]*>)?\s*(?:<head[^>]*>)?/i.exec(html) ?? []
  return `${start}${script}${html.slice(start.length)}`
}
