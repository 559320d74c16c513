import {
  type Egress,
  EgressError,
  type EgressRequest,
  type HeadRequest,
  type OpenWebSocket,
  type UrlCheck,
} from '#infra/egress/index.ts'
import type { DomainBlocks } from './open-domain-blocks.ts'

/** The egress client for all requests of federation: it refuses hosts in blocked domains. */
export function guardEgress(egress: Egress & UrlCheck, blocks: DomainBlocks): Egress & UrlCheck {
  const assertAllowed = (url: string) => assertNotBlocked(blocks, url)
  return {
    async request(request: EgressRequest) {
      await assertAllowed(request.url)
      return await egress.request(request)
    },
    async stream(request: EgressRequest) {
      await assertAllowed(request.url)
      return await egress.stream(request)
    },
    async requestHead(request: HeadRequest) {
      await assertAllowed(request.url)
      return await egress.requestHead(request)
    },
    async assertReachable(url: string) {
      await assertAllowed(url)
      await egress.assertReachable(url)
    },
    close: () => egress.close(),
  }
}

/** The same for WebSockets. */
export function guardWebSockets(open: OpenWebSocket, blocks: DomainBlocks): OpenWebSocket {
  return async (request) => {
    await assertNotBlocked(blocks, request.url)
    return await open(request)
  }
}

async function assertNotBlocked(blocks: DomainBlocks, url: string): Promise<void> {
  const host = URL.parse(url)?.hostname
  if (host !== undefined && (await blocks.isBlocked(host)))
    throw new EgressError('refused', 'the domain is blocked')
}
