import { type IdTag, parseIdTag } from '@kith/protocol'
import type { ActionEvent } from '#features/actions/index.ts'
import type { Notice } from './notice.ts'

/** What the clients of a tenant are told when something happened to an action there. */
export function actionNotice({ kind, tenant, action }: ActionEvent): Notice {
  const { actionId, status } = action
  switch (kind) {
    case 'created':
    case 'received':
      return { kind: 'ACTION', actionId }
    case 'changed':
      // The tenant has accepted it, or has seen enough of it: its own devices show that.
      return { kind: 'ACTION_STATUS', actionId, status: status === 'T' ? 'D' : status, to: [tenant.idTag] }
    case 'deleted':
      return { kind: 'ACTION_STATUS', actionId, status: 'D', to: involved(action) }
  }
}

function involved({ issuerTag, authorTag, audienceTag, audience, subject }: ActionEvent['action']): IdTag[] {
  const target = subject === undefined ? undefined : parseIdTag(subject)
  const named = [issuerTag, authorTag, audienceTag, ...audience, target]
  return [...new Set(named.filter((idTag) => idTag !== undefined))]
}
