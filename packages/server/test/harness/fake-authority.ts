import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'
import type { EgressAnswer, EgressRequest } from '#infra/egress/index.ts'
import { createCertificate } from './certificates.ts'
import type { TestClock } from './test-clock.ts'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const origin = 'https://authority.example'
const daySecs = 86_400

interface Order {
  readonly name: string
  readonly replaces: string | undefined
  status: 'pending' | 'ready' | 'valid' | 'invalid'
  chain?: string
}

/** An authority behind the port of the HTTP client, as small as a conversation needs: it believes every challenge. Tests put
 * faults in. */
export class FakeAuthority {
  readonly directoryUrl = `${origin}/dir`
  readonly orders: Order[] = []
  /** What was asked for, as `METHOD /path`. */
  readonly asked: string[] = []
  accounts = 0
  lifeSecs = 90 * daySecs
  /** In the certificates, instead of the one that was ordered. */
  certifiedName: string | undefined
  /** When the certificate of the last order is to be renewed, Unix milliseconds; it does not say where absent. */
  window: ((orders: number) => readonly [number, number]) | undefined
  /** Takes the place of the answer to a path, or of what is sent instead of a certificate. */
  answer: (path: string, payload: unknown) => EgressAnswer | undefined = () => undefined
  tamper: (chain: string, order: Order) => string | Promise<string> = (chain) => chain
  readonly #clock: TestClock
  readonly #keys = webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])

  constructor(clock: TestClock) {
    this.#clock = clock
  }

  readonly request = async ({ method, url, body }: EgressRequest): Promise<EgressAnswer> => {
    const path = url.slice(origin.length)
    this.asked.push(`${method} ${path}`)
    const payload = typeof body === 'string' ? payloadOf(body) : undefined
    return this.answer(path, payload) ?? (await this.#answer(path, payload))
  }

  async #answer(path: string, payload: Readonly<Record<string, unknown>> | undefined): Promise<EgressAnswer> {
    const [, place = '', number = ''] = path.split('/')
    const order = this.orders[Number(number)]
    if (place === 'dir') return json(200, this.#directory())
    if (place === 'nonce') return json(200, {})
    if (place === 'account') {
      this.accounts += 1
      return json(201, { status: 'valid' }, { location: `${origin}/account/1` })
    }
    if (place === 'new-order') return this.#newOrder(payload ?? {})
    if (place === 'renewal') return this.#renewal()
    if (!order) return problem('malformed', 'there is no such thing')
    if (place === 'authorization') return json(200, this.#authorization(order, number))
    if (place === 'challenge') {
      if (order.status === 'pending') order.status = 'ready'
      return json(200, { status: 'processing' })
    }
    if (place === 'finalize') await this.#issue(order, String(payload?.csr))
    if (place === 'certificate') return text(await this.tamper(order.chain ?? '', order))
    return json(200, this.#shown(order, number))
  }

  #directory() {
    const renewal = this.window ? { renewalInfo: `${origin}/renewal` } : {}
    const places = { newNonce: 'nonce', newAccount: 'account', newOrder: 'new-order' }
    return {
      ...Object.fromEntries(Object.entries(places).map(([name, place]) => [name, `${origin}/${place}`])),
      ...renewal,
    }
  }

  #newOrder(payload: Readonly<Record<string, unknown>>): EgressAnswer {
    const [{ value = '' } = {}] = payload.identifiers as { value?: string }[]
    const replaces = typeof payload.replaces === 'string' ? payload.replaces : undefined
    const number = this.orders.push({ name: value, replaces, status: 'pending' }) - 1
    return json(201, this.#shown(this.orders[number] as Order, String(number)), {
      location: `${origin}/order/${number}`,
    })
  }

  #renewal(): EgressAnswer {
    const [start = 0, end = 0] = this.window?.(this.orders.length) ?? []
    const suggestedWindow = { start: new Date(start).toISOString(), end: new Date(end).toISOString() }
    return json(200, { suggestedWindow }, { 'retry-after': '21600' })
  }

  #shown({ status }: Order, number: string) {
    return {
      status,
      authorizations: [`${origin}/authorization/${number}`],
      finalize: `${origin}/finalize/${number}`,
      ...(status === 'valid' ? { certificate: `${origin}/certificate/${number}` } : {}),
    }
  }

  #authorization({ status }: Order, number: string) {
    const isOpen = status === 'pending'
    const token = `token-of-order-number-${number}`
    const challenges = ['http-01', 'tls-alpn-01'].map((type) => ({
      type,
      token,
      url: `${origin}/challenge/${number}`,
      status: isOpen ? 'pending' : 'valid',
    }))
    return { status: isOpen ? 'pending' : 'valid', challenges }
  }

  async #issue(order: Order, csr: string): Promise<void> {
    const request = new Pkcs10CertificateRequest(Buffer.from(csr, 'base64url'))
    const keys = await this.#keys
    const nowMs = this.#clock.now()
    const certificate = await X509CertificateGenerator.create(
      {
        subject: '',
        issuer: 'CN=Fake authority',
        serialNumber: '00ab',
        publicKey: await request.publicKey.export(algorithm, ['verify'], webcrypto),
        signingKey: keys.privateKey,
        signingAlgorithm: algorithm,
        notBefore: new Date(nowMs),
        notAfter: new Date(nowMs + this.lifeSecs * 1000),
        extensions: [
          new SubjectAlternativeNameExtension([{ type: 'dns', value: this.certifiedName ?? order.name }]),
          await AuthorityKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
        ],
      },
      webcrypto,
    )
    order.chain = certificate.toString('pem')
    order.status = 'valid'
  }
}

/** A certificate of somebody else's. */
export async function foreignChain(name: string): Promise<string> {
  return (await createCertificate([name])).cert
}

export function problem(type: string, detail: string, headers: Record<string, string> = {}): EgressAnswer {
  const body = { type: `urn:ietf:params:acme:error:${type}`, detail }
  return json(type === 'rateLimited' ? 429 : 400, body, headers)
}

function json(status: number, body: object, headers: Record<string, string> = {}): EgressAnswer {
  const all = { 'content-type': 'application/json', 'replay-nonce': 'nonce', ...headers }
  return { status, headers: all, body: Buffer.from(JSON.stringify(body)) }
}

function text(chain: string): EgressAnswer {
  const headers = { 'content-type': 'application/pem-certificate-chain', 'replay-nonce': 'nonce' }
  return { status: 200, headers, body: Buffer.from(chain) }
}

function payloadOf(body: string): Readonly<Record<string, unknown>> | undefined {
  const { payload } = JSON.parse(body) as { payload: string }
  return payload === '' ? undefined : JSON.parse(Buffer.from(payload, 'base64url').toString())
}
