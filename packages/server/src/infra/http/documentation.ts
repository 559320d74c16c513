import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import { type Contract, openApiDocument } from '@kith/protocol'
import { hasCurrent } from '#lib/preconditions.ts'
import type { WholeAnswer } from './answer.ts'
import type { RawRoute, RawVisit } from './raw-route.ts'

interface DocumentationOptions {
  readonly contracts: readonly Contract[]
  readonly title: string
  readonly version: string
}

/** `GET /api/openapi.json`, and a page at `/api/docs` that shows it. Everything is made or read when it is asked for. */
export function documentationRoutes(options: DocumentationOptions): RawRoute[] {
  let forms: DocumentForms | undefined
  return [
    {
      method: 'GET',
      path: '/api/openapi.json',
      isCounted: true,
      handle({ request }) {
        forms ??= documentForms(options)
        const document = forms[takesGzip(request) ? 'gzip' : 'identity']
        const { etag = '' } = document.headers ?? {}
        return hasCurrent(request.headers, { etag }) ? unchanged(document) : document
      },
    },
    {
      method: 'GET',
      path: '/api/docs',
      isCounted: true,
      handle: () => ({ status: 200, headers: pageHeaders, body: page(options.title) }),
    },
    { method: 'GET', path: '/api/docs/{asset}', handle: assetAnswer },
  ]
}

/** The document as it is, some 900 kB, and a tenth of it compressed. */
type DocumentForms = Readonly<Record<'identity' | 'gzip', WholeAnswer>>

function documentForms({ contracts, title, version }: DocumentationOptions): DocumentForms {
  const body = Buffer.from(JSON.stringify(openApiDocument(contracts, { title, version, serverUrl: '/' })))
  return { identity: documentAnswer(body), gzip: documentAnswer(gzipSync(body), 'gzip') }
}

function documentAnswer(body: Buffer, encoding?: 'gzip'): WholeAnswer {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const headers = { ...documentHeaders, etag, ...(encoding ? { 'content-encoding': encoding } : {}) }
  return { status: 200, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body }
}

const documentHeaders = { 'cache-control': 'no-cache', vary: 'accept-encoding' }

function takesGzip({ headers }: IncomingMessage): boolean {
  return /(?:^|[,\s])gzip(?![^,]*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(String(headers['accept-encoding'] ?? ''))
}

function unchanged({ headers }: WholeAnswer): WholeAnswer {
  return { status: 304, headers: { ...documentHeaders, etag: headers?.etag ?? '' } }
}

// The page may load from and talk to this origin alone; nothing inline runs.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy,
  'cache-control': 'no-cache',
}

function page(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title.replaceAll(/[<&]/g, '')}</title>
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
<link rel="icon" href="/api/docs/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/start.js"></script>
</body>
</html>
`
}

const startScript = `SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
})
`

const assetTypes: ReadonlyMap<string, string> = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
])

async function assetAnswer({ params }: RawVisit): Promise<WholeAnswer> {
  const name = String(params.asset)
  if (name === 'start.js') return asset('text/javascript; charset=utf-8', startScript)
  const type = assetTypes.get(name)
  if (type === undefined) return { status: 404, headers: { 'cache-control': 'no-store' } }
  const file = new URL(`static/${name}`, import.meta.resolve('@fastify/swagger-ui/package.json'))
  return asset(type, await readFile(file))
}

function asset(type: string, body: string | Uint8Array): WholeAnswer {
  return { status: 200, headers: { 'content-type': type, 'cache-control': 'public, max-age=86400' }, body }
}
