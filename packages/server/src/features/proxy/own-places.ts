import { networkInterfaces } from 'node:os'
import type { Tenants } from '#features/tenants/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { isProxied } from './proxy-site-store.ts'

/** Where this server itself is reached. */
export interface OwnPlaces {
  listeningPorts(): readonly number[]
  /** Its addresses besides those of loopback. */
  listAddresses(): readonly string[]
  /** The one host of a server that is reached at one alone. */
  readonly soleHost: string | undefined
  /** Does it answer for this name? */
  isOwnName(name: string): Promise<boolean>
}

interface OwnPlacesDeps extends Pick<OwnPlaces, 'listeningPorts' | 'soleHost'> {
  readonly db: Database
  readonly tenants: Pick<Tenants, 'findByHost'>
  /** Addresses and names that the configuration tells. */
  readonly localAddresses: readonly string[]
}

export function openOwnPlaces({ db, tenants, localAddresses, ...own }: OwnPlacesDeps): OwnPlaces {
  return {
    ...own,
    listAddresses() {
      const interfaces = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
      return [...interfaces.map(({ address }) => address), ...localAddresses]
    },
    isOwnName: async (name) =>
      name === own.soleHost ||
      localAddresses.includes(name) ||
      (await tenants.findByHost(name)) !== undefined ||
      (await isProxied(db.reader(serverTenant), name)),
  }
}
