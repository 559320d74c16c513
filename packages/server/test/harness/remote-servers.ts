import { generateKeyPairSync } from 'node:crypto'
import type { DnsAnswer, DnsResolver } from '#infra/dns/index.ts'
import { type Egress, EgressError, type EgressRequest } from '#infra/egress/index.ts'

interface RemoteAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}
type Behaviour = RemoteAnswer | EgressError['reason'] | (() => Promise<RemoteAnswer>)

/** A P-384 public key as PEM, new each time. */
export function newPublicKey(): string {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'secp384r1' })
  return publicKey.export({ type: 'spki', format: 'pem' }).toString()
}

/** The DNS and the servers of a small world, behind the ports through which ours reaches them. What is asked is kept. */
export class RemoteServers {
  readonly dnsQuestions: string[] = []
  readonly requests: EgressRequest[] = []
  readonly #records = new Map<string, DnsAnswer>()
  readonly #behaviours = new Map<string, Behaviour>()

  readonly dns: Pick<DnsResolver, 'resolveTxt'> = {
    resolveTxt: async (name) => {
      this.dnsQuestions.push(name)
      return this.#records.get(name) ?? { kind: 'not-found' }
    },
  }

  readonly egress: Pick<Egress, 'request'> = {
    request: async (request) => {
      this.requests.push(request)
      const { origin, searchParams } = new URL(request.url)
      const behaviour = this.#behaviours.get(`${origin} ${searchParams.get('idTag')}`) ??
        this.#behaviours.get(origin) ?? { status: 404 }
      if (typeof behaviour === 'string') throw new EgressError(behaviour, `the test says ${behaviour}`)
      const {
        status,
        headers = {},
        body = '',
      } = typeof behaviour === 'function' ? await behaviour() : behaviour
      const { etag } = headers
      if (etag !== undefined && request.headers?.['if-none-match'] === etag) {
        return { status: 304, headers: { etag }, body: new Uint8Array() }
      }
      return { status, headers, body: Buffer.from(body) }
    },
  }

  setTxt(name: string, ...records: string[]): void {
    this.#records.set(name, { kind: 'found', records })
  }

  breakDns(name: string): void {
    this.#records.set(name, { kind: 'unreachable', cause: new Error('SERVFAIL') })
  }

  /** How a server answers from now on, to every request or only to those about one identity. */
  set(origin: string, behaviour: Behaviour, idTag?: string): void {
    this.#behaviours.set(idTag === undefined ? origin : `${origin} ${idTag}`, behaviour)
  }

  /** Makes a server describe an identity. */
  publish(origin: string, document: Readonly<Record<string, unknown>>, etag?: string): void {
    const headers = { 'content-type': 'application/json', ...(etag === undefined ? {} : { etag }) }
    this.set(
      origin,
      { status: 200, headers, body: JSON.stringify({ data: document }) },
      String(document.idTag),
    )
  }
}
