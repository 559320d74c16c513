import type { Authorization, Client, Order } from 'acme-client'
import { AcmeError, errorOfProblem, membersOf } from './acme-error.ts'
import { type AcmeLibrary, acmeLibrary } from './acme-library.ts'
import { type AcmeAnswer, AcmeTransport, type AcmeTransportOptions } from './acme-transport.ts'

export type ChallengeType = 'http-01' | 'tls-alpn-01'

/** What an authority says of an order. */
export interface AcmeOrder {
  readonly status: string
  readonly authorizations: readonly string[]
  readonly finalize: string
  readonly certificate: string | undefined
  readonly error: AcmeError | undefined
  /** Not to be asked again before, Unix milliseconds. */
  readonly retryAtMs: number | undefined
}

export interface AcmeChallenge {
  readonly url: string
  readonly token: string
  readonly status: string
}

export interface AcmeAuthorization {
  readonly status: string
  /** Undefined where the authority does not offer one of this type. */
  challenge(type: ChallengeType): AcmeChallenge | undefined
  /** Why it failed. */
  readonly error: AcmeError | undefined
  readonly retryAtMs: number | undefined
}

/** When an authority wants a certificate to be renewed (RFC 9773), Unix milliseconds. */
export interface RenewalWindow {
  readonly startMs: number
  readonly endMs: number
  readonly askAgainAtMs: number | undefined
}

type Challenge = Authorization['challenges'][number]

const maxAuthorizations = 10
const maxChallenges = 20
const tokenForm = /^[A-Za-z0-9_-]{16,256}$/

export interface AcmeClientOptions extends AcmeTransportOptions {
  /** PEM. */
  readonly accountKey: string
  readonly accountUrl: string | undefined
}

/** The account of this server with an authority, and what it can ask for (RFC 8555). Nothing is kept here of an order: its
 * address is enough to go on with it. */
export class AcmeClient {
  readonly #transport: AcmeTransport
  readonly #options: AcmeClientOptions
  readonly #library: AcmeLibrary
  #account: Client

  private constructor(options: AcmeClientOptions, library: AcmeLibrary) {
    this.#transport = new AcmeTransport(options)
    this.#options = options
    this.#library = library
    this.#account = this.#accountAt(options.accountUrl)
  }

  static async open(options: AcmeClientOptions): Promise<AcmeClient> {
    return new AcmeClient(options, await acmeLibrary())
  }

  /** Makes the account, or finds the one that has this key; answers its address. */
  async register(email: string | undefined): Promise<string> {
    const account = this.#accountAt(undefined)
    const contact = email === undefined ? {} : { contact: [`mailto:${email}`] }
    const { result: url } = await this.#transport.call(async () => {
      await account.createAccount({ termsOfServiceAgreed: true, ...contact })
      return account.getAccountUrl()
    })
    this.#account = account
    return url
  }

  /** Orders a certificate for one name; `replaces` is the id of the one that it takes the place of. */
  async newOrder(
    name: string,
    replaces?: string,
  ): Promise<{ readonly url: string; readonly order: AcmeOrder }> {
    const { renewalInfo } = await this.#transport.directory()
    const replacing = replaces !== undefined && renewalInfo !== undefined ? { replaces } : {}
    const wanted = { identifiers: [{ type: 'dns', value: name }], ...replacing }
    const answer = await this.#transport.call(() => this.#account.createOrder(wanted))
    return { url: answer.result.url, order: orderOf(answer) }
  }

  async order(url: string): Promise<AcmeOrder> {
    return orderOf(await this.#transport.call(() => this.#account.getOrder({ url } as Order)))
  }

  async authorization(url: string): Promise<AcmeAuthorization> {
    const order = { authorizations: [url] } as Partial<Order> as Order
    return authorizationOf(await this.#transport.call(() => this.#account.getAuthorizations(order)))
  }

  /** Tells the authority that the answer to a challenge can be had. */
  async accept({ url }: AcmeChallenge): Promise<void> {
    await this.#transport.call(() => this.#account.completeChallenge({ url } as Challenge))
  }

  /** `csr` is PEM. */
  async finalize({ finalize }: AcmeOrder, csr: string): Promise<AcmeOrder> {
    return orderOf(await this.#transport.call(() => this.#account.finalizeOrder({ finalize } as Order, csr)))
  }

  /** The certificate and those above it, as the authority has written them. */
  async certificate(url: string): Promise<string> {
    const order = { status: 'valid', certificate: url } as Order
    const { result } = await this.#transport.call(() => this.#account.getCertificate(order))
    if (typeof result !== 'string')
      throw new AcmeError('malformedAnswer', 'the authority sent no certificate')
    return result
  }

  /** What proves that who answers a challenge has the account's key. */
  async keyAuthorization(token: string): Promise<string> {
    return await this.#account.getChallengeKeyAuthorization({ type: 'http-01', token } as Challenge)
  }

  /** Undefined where the authority says nothing of it. The library does not know of it. */
  async renewalWindow(certificateId: string): Promise<RenewalWindow | undefined> {
    const { renewalInfo } = await this.#transport.directory()
    if (renewalInfo === undefined) return undefined
    const { result, retryAtMs } = await this.#transport.get(`${renewalInfo}/${certificateId}`)
    const { start, end } = membersOf(membersOf(result).suggestedWindow)
    const [startMs, endMs] = [Date.parse(String(start)), Date.parse(String(end))]
    if (!(startMs < endMs)) throw new AcmeError('malformedAnswer', 'the authority named no time of renewal')
    return { startMs, endMs, askAgainAtMs: retryAtMs }
  }

  #accountAt(accountUrl: string | undefined): Client {
    const { directoryUrl, accountKey } = this.#options
    return new this.#library.Client({
      directoryUrl,
      accountKey,
      ...(accountUrl === undefined ? {} : { accountUrl }),
    })
  }
}

function orderOf({ result, retryAtMs }: AcmeAnswer<unknown>): AcmeOrder {
  const { status, authorizations, finalize, certificate, error } = membersOf(result)
  if (typeof status !== 'string' || typeof finalize !== 'string' || !Array.isArray(authorizations))
    throw new AcmeError('malformedAnswer', 'the authority answered with something that is no order')
  return {
    status,
    authorizations: authorizations.slice(0, maxAuthorizations).map(String),
    finalize,
    certificate: typeof certificate === 'string' ? certificate : undefined,
    error: error === undefined || error === null ? undefined : errorOfProblem(error, 200),
    retryAtMs,
  }
}

function authorizationOf({ result, retryAtMs }: AcmeAnswer<readonly Authorization[]>): AcmeAuthorization {
  const { status, challenges } = membersOf(result[0])
  if (typeof status !== 'string' || !Array.isArray(challenges))
    throw new AcmeError('malformedAnswer', 'the authority answered with something that is no authorization')
  const all = challenges.slice(0, maxChallenges).map(membersOf)
  const failed = all.find(({ error }) => error !== undefined && error !== null)
  return {
    status,
    challenge(type) {
      const found = all.find((challenge) => challenge.type === type)
      const { url, token, status: state } = found ?? {}
      if (typeof url !== 'string' || typeof token !== 'string' || !tokenForm.test(token)) return undefined
      return { url, token, status: String(state) }
    },
    error: failed && errorOfProblem(failed.error, 200),
    retryAtMs,
  }
}
