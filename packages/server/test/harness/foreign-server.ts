import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '#lib/clock.ts'
import { type OriginServer, startOrigin } from './origin-server.ts'
import { labBytes } from './test-seed.ts'

interface ForeignKey {
  readonly kid: string
  readonly publicKey: string
  readonly privateKey: KeyObject
  expiresAt?: number
  revokedAt?: number
}

type Payload = Record<string, unknown>

interface SignOptions {
  /** Whose key signs, when that is not the issuer. */
  readonly by?: string
  readonly kid?: string
}

/** Another make of server, which says and signs what a test wants. */
export class ForeignServer implements AsyncDisposable {
  readonly #keys = new Map<string, ForeignKey[]>()
  readonly #clock: Pick<Clock, 'now'>
  #origin: OriginServer | undefined
  /** How it answers a delivery; with a receipt, if the test says nothing else. */
  onDelivery: (token: Payload, answer: ServerResponse) => void = receipt
  /** How it answers what is neither an identity nor a delivery; 404, if the test says nothing else. */
  onRequest: RequestListener = (_, answer) => answer.writeHead(404).end()
  /** What its documents say of the inboxes of identities; those of others too, which it so vouches for. */
  readonly inboxUrls = new Map<string, string>()
  /** When true, a web page where an identity should be described. */
  showsPage = false
  /** When set, this instead of every answer. */
  fault: number | undefined

  private constructor(idTags: readonly string[], clock: Pick<Clock, 'now'>) {
    this.#clock = clock
    for (const idTag of idTags) this.#keys.set(idTag, [newKey()])
  }

  static async start(idTags: readonly string[], clock: Pick<Clock, 'now'>): Promise<ForeignServer> {
    const server = new ForeignServer(idTags, clock)
    server.#origin = await startOrigin((request, answer) => server.#answer(request, answer))
    return server
  }

  get url(): string {
    return this.#server.url
  }

  /** The payloads of all tokens that were posted to its inbox, in order. */
  get deliveries(): Payload[] {
    return this.#server.requests
      .filter(({ url, method }) => method === 'POST' && url === '/api/inbox')
      .map(({ body }) => payloadOf(body))
  }

  /** How often its documents about identities were asked for. */
  get questions(): number {
    return this.#server.requests.filter(({ url }) => url.startsWith('/.well-known/')).length
  }

  get requests(): OriginServer['requests'] {
    return this.#server.requests
  }

  /** A token as the issuer would sign it, with these members. */
  sign(issuerTag: string, members: Payload = {}, { by = issuerTag, kid }: SignOptions = {}): string {
    const keys = this.#keysOf(by)
    const key = keys.find((candidate) => candidate.kid === kid) ?? keys[0]
    const now = Math.floor(this.#clock.now() / 1000)
    const nonce = labBytes(16).toString('base64url')
    const actionId = `a1~${createHash('sha256').update(`${issuerTag}\n${nonce}`).digest('base64url')}`
    const times = { createdAt: now, iat: now, exp: now + 86_400 }
    const payload = { actionId, issuerTag, type: 'POST', nonce, ...times, ...members }
    const header = { alg: 'ES384', typ: 'JWT', kid: kid ?? key?.kid }
    const input = `${encode(header)}.${encode(payload)}`
    if (!key) throw new Error(`${by} has no key`)
    const signature = sign('sha384', Buffer.from(input), {
      key: key.privateKey,
      dsaEncoding: 'ieee-p1363',
    })
    return `${input}.${signature.toString('base64url')}`
  }

  /** Retires the identity's key and makes another. */
  rotate(idTag: string): void {
    const keys = this.#keysOf(idTag)
    const [current] = keys
    if (current) current.expiresAt = Math.floor(this.#clock.now() / 1000)
    keys.unshift(newKey())
  }

  /** Distrusts the identity's key since then, and makes another. Answers the old key's name. */
  revoke(idTag: string, since: number): string {
    const [stolen] = this.#keysOf(idTag)
    if (!stolen) throw new Error(`${idTag} has no key`)
    this.rotate(idTag)
    stolen.revokedAt = since
    return stolen.kid
  }

  /** From now on it takes upgrades, in this way. */
  onUpgrade(take: (request: IncomingMessage, connection: Duplex, head: Buffer) => void): void {
    this.#server.onUpgrade(take)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#origin?.close()
  }

  get #server(): OriginServer {
    if (!this.#origin) throw new Error('it is not started')
    return this.#origin
  }

  #keysOf(idTag: string): ForeignKey[] {
    const keys = this.#keys.get(idTag)
    if (!keys) throw new Error(`${idTag} does not live here`)
    return keys
  }

  #answer(...[request, answer]: Parameters<RequestListener>): void {
    const url = new URL(request.url ?? '/', this.url)
    if (this.fault !== undefined) answer.writeHead(this.fault).end()
    else if (this.showsPage && url.pathname.startsWith('/.well-known/'))
      answer.writeHead(200, { 'content-type': 'text/html' }).end('<html>Back soon</html>')
    else if (url.pathname.startsWith('/.well-known/')) this.#describe(url.searchParams.get('idTag'), answer)
    else if (request.method === 'POST' && url.pathname === '/api/inbox')
      this.onDelivery(payloadOf(this.requests.at(-1)?.body ?? ''), answer)
    else this.onRequest(request, answer)
  }

  #describe(idTag: string | null, answer: ServerResponse): void {
    const keys = this.#keys.get(idTag ?? '')
    const inboxUrl = this.inboxUrls.get(idTag ?? '')
    const data = {
      idTag,
      serverUrl: this.url,
      ...(inboxUrl === undefined ? {} : { inboxUrl }),
      publicKey: keys?.[0]?.publicKey,
      keys: keys?.map(({ privateKey: _, ...published }) => published),
    }
    answer.writeHead(keys ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
  }
}

/** What a server answers that has taken a token. */
export function receipt({ actionId }: Payload, answer: ServerResponse): void {
  const data = { actionId, status: 'received', verified: true }
  answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
}

function newKey(): ForeignKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp384r1' })
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  return { kid: `20260101${labBytes(3).toString('base64url')}`, publicKey: pem, privateKey }
}

function payloadOf(token: string): Payload {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Payload
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
