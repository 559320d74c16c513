import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { RawVisit, WholeAnswer } from '#infra/http/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { hasCurrent } from '#lib/preconditions.ts'
import { type Coded, chooseEncoding, endings } from './encodings.ts'
import { type KeptBuild, keepBuild } from './keep-builds.ts'
import { findWebBuild, type WebBuild } from './web-build.ts'

type Request = RawVisit['request']

interface OpenOptions {
  /** Where the build lies. */
  readonly dist: string
  /** Where the assets of this build and of former ones are kept. */
  readonly home: string
  readonly clock: Clock
  readonly logger: Logger
}

/** The web app of a build; undefined where there is none. */
export async function openWebApp({ dist, home, clock, logger }: OpenOptions): Promise<WebApp | undefined> {
  const build = await findWebBuild(dist)
  if (!build) return undefined
  const kept = await keepBuild(build, { home, clock }).catch((error: unknown) => {
    logger.warn({ err: error, home }, 'the files of the web app could not be kept for pages that are open')
    return []
  })
  return new WebApp(build, kept)
}

// Of the files that were asked for last, in all encodings: about one build.
const maxCachedBytes = 16 * 1024 ** 2

/** Its files, as they are answered. */
export class WebApp {
  readonly #build: WebBuild
  /** The newest first. The build itself comes last: it may be written anew while the server runs. */
  readonly #places: readonly KeptBuild[]
  readonly #read = new LRUCache<string, Buffer>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ length }) => length + 512,
  })

  constructor(build: WebBuild, kept: readonly KeptBuild[]) {
    this.#build = build
    this.#places = [...kept, build]
  }

  /** The one document of all of the app's paths. */
  answerDocument(request: Request, headers: Readonly<Record<string, string>>): WholeAnswer {
    return this.#answerCoded(request, this.#build.document, {
      'content-type': 'text/html; charset=utf-8',
      ...headers,
    })
  }

  /** Undefined where the build has none. */
  answerServiceWorker(request: Request): WholeAnswer | undefined {
    const { serviceWorker } = this.#build
    return (
      serviceWorker &&
      this.#answerCoded(request, serviceWorker, {
        'content-type': 'text/javascript; charset=utf-8',
        'service-worker-allowed': '/',
        vary: 'Accept-Encoding',
      })
    )
  }

  /** An asset of this build or of a former one, by its name; undefined where none of them has it. */
  async findAsset(request: Request, name: string): Promise<WholeAnswer | undefined> {
    const type = types[extname(name)]
    const place = this.#places.find(({ names }) => names.has(name))
    if (!place || type === undefined) return undefined
    const encoding = chooseEncoding(request.headers['accept-encoding'], (each) =>
      place.names.has(name + endings[each]),
    )
    const headers = {
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    }
    return { status: 200, headers, body: await this.#readFile(join(place.folder, name + endings[encoding])) }
  }

  async #readFile(path: string): Promise<Buffer> {
    const known = this.#read.get(path)
    if (known) return known
    const bytes = await readFile(path)
    this.#read.set(path, bytes)
    return bytes
  }

  #answerCoded(request: Request, coded: Coded, given: Readonly<Record<string, string>>): WholeAnswer {
    const encoding = chooseEncoding(request.headers['accept-encoding'], (each) => coded[each] !== undefined)
    const isCoded = encoding !== 'identity'
    const headers = {
      ...given,
      'cache-control': 'no-cache',
      etag: `"${coded.tag}${isCoded ? `-${encoding}` : ''}"`,
      ...(isCoded ? { 'content-encoding': encoding } : {}),
    }
    if (hasCurrent(request.headers, headers)) return { status: 304, headers }
    return { status: 200, headers, body: coded[encoding] ?? coded.identity }
  }
}

/** Nothing else is answered, neither the compressed files by their own names. */
const types: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
}
