import { receiveActionSync, receiveAction as receiveContract } from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { type ReceiveDeps, receiveToken, receiveTokenNow } from './receive-token.ts'

export function inboxEndpoints(deps: ReceiveDeps): Endpoint[] {
  return [
    bind(receiveContract, async ({ body }) => ({
      ...(await receiveToken(deps, body)),
      status: 'received' as const,
    })),
    bind(receiveActionSync, async ({ body }) => ({
      ...(await receiveTokenNow(deps, body)),
      status: 'processed' as const,
    })),
  ]
}
