import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type IdTag, parseIdTag, parseScope } from '@kith/protocol'
import { afterEach } from 'vitest'
import { type Caller, guest, ownerOf, type Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import {
  createHttpServer,
  createMemoryRateLimits,
  defaultRateLimits,
  type Endpoint,
  type HttpServerOptions,
} from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import { TestClock } from './test-clock.ts'

export function idTag(name: string): IdTag {
  const parsed = parseIdTag(name)
  if (!parsed) throw new Error(`${name} is no identity`)
  return parsed
}

export const alice: Tenant = { tenantId: 1 as TenantId, idTag: idTag('alice.example'), type: 'person' }

const owner = ownerOf(alice)

/** The callers that bearers of the same name make; any other bearer is bad. */
export const callers: Readonly<Record<string, Caller>> = {
  nobody: guest,
  owner,
  admin: { ...owner, isAdmin: true },
  visitor: { ...owner, idTag: idTag('bob.example'), role: 'public', isOwner: false },
  reader: { ...owner, scope: parseScope('read') },
  reference: {
    kind: 'reference',
    refId: '0123456789ABCDEFabcdefgh' as never,
    scope: parseScope(`file:b1~${'A'.repeat(43)}:read`) ?? [],
  },
}

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string | Uint8Array
}

export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The parsed body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect to be there
  readonly json: any
}

export type HttpSiteOptions = Partial<Omit<HttpServerOptions, 'endpoints'>>

/** A real HTTP server on a free port with one tenant, `alice.example`, whose clock stands still. */
export async function startHttpSite(endpoints: readonly Endpoint[], options: HttpSiteOptions = {}) {
  const clock = new TestClock()
  const logged: { level: 'warn' | 'error'; fields: object; message: string }[] = []
  const debugged: object[] = []
  const server = createHttpServer({
    endpoints,
    rawRoutes: [],
    hooks: {
      findTenant: (host) => (host === alice.idTag ? alice : undefined),
      authenticate({ bearer }) {
        const caller = callers[bearer]
        if (!caller) throw new Failure('E-AUTH-UNAUTH')
        return { caller }
      },
    },
    rateLimits: createMemoryRateLimits(clock, defaultRateLimits),
    clock,
    logger: {
      debug: (fields) => debugged.push(fields),
      warn: (fields, message) => logged.push({ level: 'warn', fields, message }),
      error: (fields, message) => logged.push({ level: 'error', fields, message }),
    },
    cors: [],
    trustedProxies: [],
    ...options,
  })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    clock,
    logged,
    debugged,
    port,
    server,
    /** One request on a connection of its own. */
    async send(path: string, sent: Sent = {}): Promise<Received> {
      const headers = { host: alice.idTag, ...sent.headers }
      const { promise, resolve, reject } = Promise.withResolvers<Received>()
      const request = httpRequest({
        host: '127.0.0.1',
        port,
        path,
        method: sent.method ?? 'GET',
        headers,
        agent: false,
      })
      request.once('error', reject)
      request.once('response', async (response) => {
        const body = await text(response).catch(reject)
        if (body === undefined) return
        const isJson = response.headers['content-type']?.startsWith('application/json') && body !== ''
        const json = isJson ? JSON.parse(body) : undefined
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: body, json })
      })
      request.end(sent.body)
      return promise
    },
    /** Everything that the server answers to raw text, until it closes the connection. */
    async sendRaw(raw: string): Promise<string> {
      const socket = connect(port, '127.0.0.1')
      socket.write(raw)
      return text(socket)
    },
    async close(): Promise<void> {
      server.server.closeAllConnections()
      await server.stop()
    },
  }
}

export type HttpSite = Awaited<ReturnType<typeof startHttpSite>>

/** Starts sites that are closed after each test. Call it at the top of a test file. */
export function httpSites() {
  const sites: HttpSite[] = []
  afterEach(async () => {
    for (const site of sites.splice(0)) await site.close()
  })
  return async (
    endpoints: Endpoint | readonly Endpoint[],
    options: HttpSiteOptions = {},
  ): Promise<HttpSite> => {
    const site = await startHttpSite([endpoints].flat(), options)
    sites.push(site)
    return site
  }
}

/** Headers and body of a JSON request. */
export function jsonBody(value: unknown): Pick<Sent, 'headers' | 'body'> {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}

export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` }
}
