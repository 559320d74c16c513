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

type Members = Readonly<Record<string, unknown>>

interface Order {
  readonly name: string
  readonly replaces: string | undefined
  /** The address of the account. */
  readonly account: string
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
  /** How often an account was asked for. */
  accounts = 0
  lifeSecs = 90 * daySecs
  /** In the certificates, instead of the one that was ordered. */
  certifiedName: string | undefined
  /** When the certificate of the last order is to be renewed, Unix milliseconds; it does not say where absent. */
  window: ((orders: number) => readonly [number, number]) | undefined
  /** Takes the place of the answer to a path, or of what is sent instead of a certificate. */
  answer: (path: string, payload: unknown) => EgressAnswer | undefined = () => undefined
  tamper: (chain: string, order: Order) => string | Promise<string> = (chain) => chain
  /** The keys of accounts; their addresses are numbered in this order. */
  readonly #accountKeys: string[] = []
  readonly #deactivated = new Set<string>()
  readonly #clock: TestClock
  readonly #keys = webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])

  constructor(clock: TestClock) {
    this.#clock = clock
  }

  readonly request = async ({ method, url, body }: EgressRequest): Promise<EgressAnswer> => {
    const path = url.slice(origin.length)
    this.asked.push(`${method} ${path}`)
    const { payload, account = '' } = typeof body === 'string' ? this.#signed(body) : {}
    const answer = this.answer(path, payload)
    if (answer) return answer
    if (this.#deactivated.has(account)) return problem('unauthorized', 'the account is deactivated')
    return await this.#answer(path, payload, account)
  }

  /** Takes none of the accounts that it knows any more. */
  deactivateAccounts(): void {
    for (const at of this.#accountKeys.keys()) this.#deactivated.add(accountUrl(at))
  }

  /** What a signed request says, and whose it is. An account that is new gets the next address. */
  #signed(body: string): { payload: Members | undefined; account: string } {
    const { payload, protected: header } = JSON.parse(body) as { payload: string; protected: string }
    const { kid, jwk } = parsed(header) as { kid?: string; jwk?: object }
    const key = JSON.stringify(jwk)
    if (jwk !== undefined && !this.#accountKeys.includes(key)) this.#accountKeys.push(key)
    const account = kid ?? accountUrl(this.#accountKeys.indexOf(key))
    return { payload: payload === '' ? undefined : parsed(payload), account }
  }

  async #answer(path: string, payload: Members | undefined, account: string): Promise<EgressAnswer> {
    const [, place = '', number = ''] = path.split('/')
    const order = this.orders[Number(number)]
    if (place === 'dir') return json(200, this.#directory())
    if (place === 'nonce') return json(200, {})
    if (place === 'account') {
      this.accounts += 1
      return json(201, { status: 'valid' }, { location: account })
    }
    if (place === 'new-order') return this.#newOrder(payload ?? {}, account)
    if (place === 'renewal') return this.#renewal()
    if (!order) return problem('malformed', 'there is no such thing')
    if (order.account !== account) return problem('unauthorized', 'the order is of another account')
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

  #newOrder(payload: Members, account: string): EgressAnswer {
    const [{ value = '' } = {}] = payload.identifiers as { value?: string }[]
    const replaces = typeof payload.replaces === 'string' ? payload.replaces : undefined
    const number = this.orders.push({ name: value, replaces, account, status: 'pending' }) - 1
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

const problemStatus: Readonly<Record<string, number>> = { rateLimited: 429, unauthorized: 401 }

export function problem(type: string, detail: string, headers: Record<string, string> = {}): EgressAnswer {
  const body = { type: `urn:ietf:params:acme:error:${type}`, detail }
  return json(problemStatus[type] ?? 400, body, headers)
}

function json(status: number, body: object, headers: Record<string, string> = {}): EgressAnswer {
  const all = { 'content-type': 'application/json', 'replay-nonce': 'nonce', ...headers }
  return { status, headers: all, body: Buffer.from(JSON.stringify(body)) }
}

function text(chain: string): EgressAnswer {
  const headers = { 'content-type': 'application/pem-certificate-chain', 'replay-nonce': 'nonce' }
  return { status: 200, headers, body: Buffer.from(chain) }
}

function parsed(base64url: string): Members {
  return JSON.parse(Buffer.from(base64url, 'base64url').toString())
}

const accountUrl = (at: number) => `${origin}/account/${at + 1}`
