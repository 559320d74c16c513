import { isIP } from 'node:net'
import { type IdTag, parseIdTag } from '@kith/protocol'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { type Asker, type Identities, serverItself } from '#features/federation/index.ts'
import { registrableDomain } from '#infra/dns/index.ts'
import { type Egress, type EgressAnswer, EgressError, type EgressRequest } from '#infra/egress/index.ts'
import { Failure } from '#lib/failure.ts'

/** An identity provider on another server. */
interface RemoteProvider {
  readonly idTag: IdTag
  readonly serverUrl: string
}

interface RemoteProvidersDeps {
  readonly egress: Pick<Egress, 'request'>
  readonly identities: Pick<Identities, 'resolve'>
  /** Proves this server's base tenant, which is the registrar, to a provider. */
  proxyToken(target: IdTag): Promise<string>
  /** Where this server is: an IP address or a host name. */
  ownAddress(): string
}

export interface NameRequest {
  readonly idTag: IdTag
  readonly email: string
  readonly lang: string | undefined
}

/** The identity providers of other servers, asked over their `/api/idp`. Each question fails with `E-UNAVAILABLE` when
 * the provider cannot be reached now. */
export interface RemoteProviders {
  /** The provider of names such as this one; looked up in the asker's name. */
  find(idTag: IdTag, asker: Asker): Promise<RemoteProvider | undefined>
  check(provider: RemoteProvider, idTag: IdTag): Promise<'free' | 'taken' | 'refused'>
  /** Registers a name, which is pending there until its owner activates it. */
  register(provider: RemoteProvider, wanted: NameRequest): Promise<'registered' | 'taken' | 'refused'>
  /** Gives a name back that is pending; does nothing once it is activated. */
  release(providerTag: IdTag, idTag: IdTag): Promise<void>
}

const infoForm = Compile(Type.Object({ data: Type.Object({ domain: Type.String() }) }))
const availabilityForm = Compile(Type.Object({ data: Type.Object({ available: Type.Boolean() }) }))

const questionTimeoutMs = 5_000
const maxAnswerBytes = 65_536
// They are asked one after the other, while a client waits.
const maxParents = 3

export function openRemoteProviders(deps: RemoteProvidersDeps): RemoteProviders {
  return {
    async find(idTag, asker) {
      for (const parent of await parentsOf(idTag)) {
        const provider = await asProvider(deps, parent, asker)
        if (provider) return provider
      }
      return undefined
    },
    check: (provider, idTag) => check(deps, provider, idTag),
    register: (provider, wanted) => register(deps, provider, wanted),
    release: (providerTag, idTag) => release(deps, providerTag, idTag),
  }
}

/** The names above one, the nearest first, up to the registrable domain. */
async function parentsOf(idTag: IdTag): Promise<IdTag[]> {
  const labels = idTag.split('.')
  const least = (await registrableDomain(idTag)).split('.').length
  const depths = labels.map((_, from) => from).slice(1, labels.length - least + 1)
  return depths.slice(0, maxParents).map((from) => labels.slice(from).join('.') as IdTag)
}

async function asProvider(
  deps: RemoteProvidersDeps,
  idTag: IdTag,
  asker: Asker,
): Promise<RemoteProvider | undefined> {
  const resolved = await deps.identities.resolve(idTag, { asker })
  if (resolved.kind === 'unreachable') throw unavailable()
  if (resolved.kind === 'unknown') return undefined
  const { serverUrl } = resolved.identity
  const answer = await ask(deps, {
    method: 'GET',
    url: `${serverUrl}/api/idp/info`,
    timeoutMs: questionTimeoutMs,
  })
  return answer?.status === 200 && read(infoForm, answer)?.data.domain === idTag
    ? { idTag, serverUrl }
    : undefined
}

/** Asked by the base tenant: it may have again what it had pending. */
async function check(
  deps: RemoteProvidersDeps,
  { idTag: providerTag, serverUrl }: RemoteProvider,
  idTag: IdTag,
): Promise<'free' | 'taken' | 'refused'> {
  const url = `${serverUrl}/api/idp/check-availability?idTag=${idTag}`
  const headers = await credential(deps, providerTag)
  const answer = await ask(deps, { method: 'GET', url, headers, timeoutMs: questionTimeoutMs })
  const said = answer?.status === 200 ? read(availabilityForm, answer) : undefined
  if (!said) return 'refused'
  return said.data.available ? 'free' : 'taken'
}

async function register(
  deps: RemoteProvidersDeps,
  { idTag: providerTag, serverUrl }: RemoteProvider,
  { idTag, email, lang }: NameRequest,
): Promise<'registered' | 'taken' | 'refused'> {
  const address = deps.ownAddress()
  const isAddress = isIP(address) > 0 || parseIdTag(address) !== undefined
  const answer = await ask(deps, {
    method: 'POST',
    url: `${serverUrl}/api/idp/identities`,
    headers: { ...(await credential(deps, providerTag)), 'content-type': 'application/json' },
    body: JSON.stringify({ idTag, email, lang, ...(isAddress ? { address } : {}) }),
  })
  if (answer?.status === 201) return 'registered'
  return answer?.status === 409 ? 'taken' : 'refused'
}

async function release(deps: RemoteProvidersDeps, providerTag: IdTag, idTag: IdTag): Promise<void> {
  const provider = await asProvider(deps, providerTag, serverItself)
  if (!provider) return
  const url = `${provider.serverUrl}/api/idp/identities/${idTag}`
  await ask(deps, { method: 'DELETE', url, headers: await credential(deps, providerTag) })
}

async function credential({ proxyToken }: RemoteProvidersDeps, target: IdTag) {
  return { authorization: `Bearer ${await proxyToken(target)}` }
}

/** Undefined when nothing that could answer is there, by our own rules or for good. */
async function ask(
  { egress }: RemoteProvidersDeps,
  request: EgressRequest,
): Promise<EgressAnswer | undefined> {
  const { headers, ...rest } = request
  try {
    const all = { accept: 'application/json', ...headers }
    const answer = await egress.request({ ...rest, headers: all, maxBytes: maxAnswerBytes })
    if (answer.status === 429 || answer.status >= 500) throw unavailable()
    return answer
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    if (lasting.has(error.reason)) return undefined
    throw unavailable(error)
  }
}

const lasting: ReadonlySet<EgressError['reason']> = new Set([
  'refused',
  'unknown-host',
  'too-large',
  'redirect',
])

function unavailable(cause?: unknown): Failure {
  const message = 'The provider of this name does not answer. Try again later.'
  return new Failure('E-UNAVAILABLE', { message, cause })
}

/** The document of an answer; undefined when it has not this form. */
function read<Document>(
  form: { Check(value: unknown): value is Document },
  { headers, body }: EgressAnswer,
): Document | undefined {
  if (!headers['content-type']?.startsWith('application/json')) return undefined
  try {
    const document: unknown = JSON.parse(Buffer.from(body).toString('utf8'))
    return form.Check(document) ? document : undefined
  } catch {
    return undefined
  }
}
