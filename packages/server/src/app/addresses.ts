import type { IdTag } from '@kith/protocol'
import { type Config, publicUrlOf, servedAddressOf } from '#infra/config/index.ts'
import { Failure } from '#lib/failure.ts'

/** Where tenants are reached. The port is known when the server listens; before that only the template is. */
export interface Addresses {
  /** Origin of a tenant's API, without a slash at the end. */
  serverUrl(idTag: IdTag): string
  /** The same; undefined where the server does not serve the tenant. */
  findServerUrl(idTag: IdTag): string | undefined
  inboxUrl(idTag: IdTag): string
  /** Where a name that only this machine knows is reached. */
  localhostUrl(idTag: IdTag): string
  /** Where the server itself is reached: the address that others reach, or the host of its base tenant. */
  ownAddress(): string
  setPort(port: number, besides?: readonly number[]): void
  readonly port: number
  /** Every port on which this process listens. */
  listeningPorts(): readonly number[]
}

/** The addresses of a configuration; `port` is what it says until `setPort` tells the true one. */
export function openAddresses(config: Config): Addresses {
  let { port } = servedAddressOf(config)
  let others: readonly number[] = []
  const findServerUrl = (idTag: IdTag) => {
    const isServed = config.publicUrl.servesEveryTenant || idTag === config.baseIdTag
    return isServed ? publicUrlOf(config.publicUrl, idTag, port) : undefined
  }
  const serverUrl = (idTag: IdTag) => {
    const url = findServerUrl(idTag)
    if (url === undefined) throw new Failure('E-PROFILE-NOTFOUND')
    return url
  }
  return {
    serverUrl,
    findServerUrl,
    // One inbox for the whole server: a sender with several recipients here delivers once.
    inboxUrl: () => `${serverUrl(config.baseIdTag)}/api/inbox`,
    localhostUrl: (idTag) => `${config.tls.kind === 'off' ? 'http' : 'https'}://${idTag}:${port}`,
    ownAddress() {
      const [address] = config.federation.localAddresses
      return address ?? new URL(serverUrl(config.baseIdTag)).hostname.replace(/^\[|\]$/g, '')
    },
    setPort(actual, besides = []) {
      port = actual
      others = besides
    },
    get port() {
      return port
    },
    listeningPorts: () => [port, ...others, ...(config.metricsListen ? [config.metricsListen.port] : [])],
  }
}
