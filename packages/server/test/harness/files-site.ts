import { type ClientRequest, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type Caller, guest, type Tenant } from '#infra/caller/index.ts'
import { createMemoryRateLimits, type Endpoint } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import { alice, aliceTag, bob, club, identity } from './files-people.ts'
import { startHttpSite } from './http-site.ts'
import type { TestClock } from './test-clock.ts'
import { labBytes } from './test-seed.ts'

export interface Sent {
  readonly at?: Tenant
  readonly as?: Caller
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string | Readable
  readonly json?: unknown
}

export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The parsed body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect to be there
  readonly json: any
}

/** Status and code of a refusal. */
export function failureOf({ status, json }: Pick<Received, 'status' | 'json'>): string {
  return `${status} ${json?.error?.code}`
}

/** The endpoints of files behind a real HTTP server; a test says who asks. */
export async function openFilesSite(endpoints: readonly Endpoint[], clock: TestClock) {
  // By bearer; as many as a test has callers.
  const known = new Map<string, Caller>()
  const tenants = new Map([alice, bob, club].map((tenant) => [tenant.idTag as string, tenant]))
  const errors: unknown[] = []
  const warnings: unknown[] = []
  const http = await startHttpSite(endpoints, {
    clock,
    rateLimits: createMemoryRateLimits(clock, everything),
    logger: {
      debug: () => undefined,
      warn: (fields) => warnings.push(fields),
      error: (fields) => errors.push(fields),
    },
    hooks: {
      findTenant: (host) => tenants.get(host),
      authenticate({ tenant, bearer }) {
        const caller = known.get(`${tenant.idTag} ${bearer}`)
        if (!caller) throw new Failure('E-AUTH-UNAUTH')
        return { caller }
      },
    },
  })
  const bearerOf = (caller: Caller, at: Tenant) => {
    const bearer = labBytes(9).toString('base64url')
    known.set(`${at.idTag} ${bearer}`, caller)
    return bearer
  }

  /** A request that the test sends and ends by itself. */
  function begin(method: string, path: string, sent: Omit<Sent, 'body' | 'json'> = {}): ClientRequest {
    const { at = alice, as = guest, headers } = sent
    const authorization = as.kind === 'guest' ? {} : { authorization: `Bearer ${bearerOf(as, at)}` }
    return httpRequest({
      host: '127.0.0.1',
      port: http.port,
      path,
      method,
      agent: false,
      headers: { host: at.idTag, ...authorization, ...headers },
    })
  }

  async function send(method: string, path: string, sent: Sent = {}): Promise<Received> {
    const { json } = sent
    const headers = { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...sent.headers }
    const request = begin(method, path, { ...sent, headers })
    const { promise, resolve, reject } = Promise.withResolvers<Received>()
    request.once('error', reject)
    request.once('response', (response) => {
      buffer(response).then((body) => {
        const isJson = response.headers['content-type']?.startsWith('application/json') && body.length > 0
        const parsed: unknown = isJson ? JSON.parse(body.toString()) : undefined
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, json: parsed })
      }, reject)
    })
    const body = json === undefined ? sent.body : JSON.stringify(json)
    if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) request.end(body)
    else body.pipe(request)
    return promise
  }

  return {
    begin,
    send,
    bearerOf,
    /** What the server logged as bugs. */
    errors,
    warnings,
    stop: () => http.close(),
    async upload(
      name: string,
      body: Uint8Array | string,
      sent: Sent & { query?: string; preset?: string } = {},
    ) {
      const { query = '', preset = 'default', as = identity(aliceTag, alice), ...rest } = sent
      const path = `/api/files/${preset}/${encodeURIComponent(name)}${query}`
      return send('POST', path, { as, body, ...rest })
    },
  }
}

const everything = new Proxy({} as Parameters<typeof createMemoryRateLimits>[1], { get: () => 1e9 })
