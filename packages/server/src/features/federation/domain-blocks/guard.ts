import { type Egress, EgressError, type EgressRequest, type UrlCheck } from '#infra/egress/index.ts'
import type { DomainBlocks } from './open-domain-blocks.ts'

/** The egress client for all requests of federation: it refuses hosts in blocked domains. */
export function guardEgress(egress: Egress & UrlCheck, blocks: DomainBlocks): Egress & UrlCheck {
  const assertAllowed = async (url: string) => {
    const host = URL.parse(url)?.hostname
    if (host !== undefined && (await blocks.isBlocked(host)))
      throw new EgressError('refused', 'the domain is blocked')
  }
  return {
    async request(request: EgressRequest) {
      await assertAllowed(request.url)
      return await egress.request(request)
    },
    async stream(request: EgressRequest) {
      await assertAllowed(request.url)
      return await egress.stream(request)
    },
    async assertReachable(url: string) {
      await assertAllowed(url)
      await egress.assertReachable(url)
    },
    close: () => egress.close(),
  }
}
