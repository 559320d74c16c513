import type { IdTag } from '@kith/protocol'
import type { Tenants } from '#features/tenants/index.ts'
import type { Identities } from '../identities/open-identities.ts'
import type { DomainBlocks } from './open-domain-blocks.ts'

interface WithoutBlockedDeps {
  readonly identities: Identities
  readonly domainBlocks: Pick<DomainBlocks, 'isBlocked'>
  readonly tenants: Pick<Tenants, 'find'>
}

/** Identities without those in blocked domains, wherever they are hosted; tenants of this server stay. */
export function withoutBlocked({ identities, domainBlocks, tenants }: WithoutBlockedDeps): Identities {
  const gone = { kind: 'unknown', isGone: true } as const
  const isBlocked = async (idTag: IdTag) =>
    (await domainBlocks.isBlocked(idTag)) && !(await tenants.find(idTag))
  return {
    async resolve(idTag, options) {
      return (await isBlocked(idTag)) ? gone : await identities.resolve(idTag, options)
    },
    async renew(idTag, options) {
      return (await isBlocked(idTag)) ? gone : await identities.renew(idTag, options)
    },
    sweep: () => identities.sweep(),
  }
}
