import type { IdTag } from '@kith/protocol'
import { type Config, publicUrlOf } from '#infra/config/index.ts'
import { Failure } from '#lib/failure.ts'

/** Where tenants are reached. The port is known when the server listens; before that only the template is. */
export interface Addresses {
  /** Origin of a tenant's API, without a slash at the end. */
  serverUrl(idTag: IdTag): string
  inboxUrl(idTag: IdTag): string
  /** Where the server itself is reached: the address that others reach, or the host of its base tenant. */
  ownAddress(): string
  setPort(port: number): void
  readonly port: number
}

/** The addresses of a configuration; `port` is what `LISTEN` says until `setPort` tells the true one. */
export function openAddresses(config: Config): Addresses {
  let port = config.listen.port
  const serverUrl = (idTag: IdTag) => {
    if (!config.publicUrl.servesEveryTenant && idTag !== config.baseIdTag)
      throw new Failure('E-PROFILE-NOTFOUND')
    return publicUrlOf(config.publicUrl, idTag, port)
  }
  return {
    serverUrl,
    // One inbox for the whole server: a sender with several recipients here delivers once.
    inboxUrl: () => `${serverUrl(config.baseIdTag)}/api/inbox`,
    ownAddress() {
      const [address] = config.federation.localAddresses
      return address ?? new URL(serverUrl(config.baseIdTag)).hostname.replace(/^\[|\]$/g, '')
    },
    setPort(actual) {
      port = actual
    },
    get port() {
      return port
    },
  }
}
