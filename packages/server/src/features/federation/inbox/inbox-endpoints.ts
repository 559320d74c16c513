import { receiveActionSync, receiveAction as receiveContract } from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import type { ReceiveDeps } from './receive-deps.ts'
import { receiveToken, receiveTokenNow } from './receive-token.ts'

export function inboxEndpoints(deps: ReceiveDeps): Endpoint[] {
  return [
    bind(receiveContract, async ({ body, ip }) => {
      const { actionId, verified } = await receiveToken(deps, { ...body, ip })
      return { actionId, verified, status: 'received' as const }
    }),
    bind(receiveActionSync, async ({ body, ip }) => {
      const { actionId, verified, isProcessed } = await receiveTokenNow(deps, { ...body, ip })
      return { actionId, verified, status: isProcessed ? ('processed' as const) : ('received' as const) }
    }),
  ]
}
