import {
  type ClientHttp2Session,
  connect as connectHttp2,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { connect as connectTls, createSecureContext, type TLSSocket } from 'node:tls'
import { type Endpoint, secureListening } from '#infra/http/index.ts'
import type { Certificates, KeyPair } from '#infra/tls/index.ts'
import { createCertificate } from './certificates.ts'
import { alice, type HttpSiteOptions, type Received, startHttpSite } from './http-site.ts'

let pair: Promise<KeyPair> | undefined

/** The same certificate for every handshake that names a host, or for none. */
function certificatesOf(given: KeyPair): Certificates {
  return { find: async () => createSecureContext(given), onDefault: () => undefined }
}

/** A site like `startHttpSite` that speaks HTTP/2 and HTTP/1.1 over TLS. */
export async function startSecureSite(
  endpoints: readonly Endpoint[],
  { certificates, ...options }: HttpSiteOptions & { readonly certificates?: Certificates } = {},
) {
  pair ??= createCertificate([alice.idTag])
  const given = await pair
  const site = await startHttpSite(endpoints, {
    secure: await secureListening(certificates ?? certificatesOf(given)),
    ...options,
  })
  const secure = { host: '127.0.0.1', port: site.port, servername: alice.idTag, ca: given.cert }
  const opened = new Set<ClientHttp2Session | TLSSocket>()
  return {
    ...site,
    cert: given.cert,
    /** A connection that speaks the one protocol. */
    connectTls: (protocol: 'h2' | 'http/1.1' = 'http/1.1'): Promise<TLSSocket> =>
      new Promise((resolve, reject) => {
        const socket = connectTls({ ...secure, ALPNProtocols: [protocol] }, () => resolve(socket))
        opened.add(socket.once('error', reject))
      }),
    openHttp2(): ClientHttp2Session {
      const session = connectHttp2(`https://${alice.idTag}`, {
        createConnection: () => connectTls({ ...secure, ALPNProtocols: ['h2'] }),
      })
      opened.add(session.on('error', () => undefined))
      return session
    },
    async close() {
      for (const one of opened) one.destroy()
      await site.close()
    },
  }
}

export type SecureSite = Awaited<ReturnType<typeof startSecureSite>>

/** One request on a connection of HTTP/2. */
export function sendHttp2(
  session: ClientHttp2Session,
  path: string,
  sent: { method?: string; headers?: OutgoingHttpHeaders; body?: string | Uint8Array } = {},
): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>()
  const { method = 'GET', headers = {}, body } = sent
  const stream = session.request(
    { ':path': path, ':method': method, ...headers },
    { endStream: body === undefined },
  )
  stream.setEncoding('utf8')
  let text = ''
  let head: IncomingHttpHeaders & IncomingHttpStatusHeader = {}
  stream.once('response', (answer) => {
    head = answer
  })
  stream.on('data', (chunk: string) => {
    text += chunk
  })
  stream.once('error', reject)
  stream.once('end', () => {
    const isJson = head['content-type']?.startsWith('application/json') && text !== ''
    const json = isJson ? JSON.parse(text) : undefined
    resolve({ status: head[':status'] ?? 0, headers: head, text, json })
  })
  if (body !== undefined) stream.end(body)
  return promise
}
