import { type IdTag, parseIdTag } from '@kith/protocol'
import type { ActionChange } from '#features/actions/index.ts'
import type { Notice } from './notice.ts'

/** What the clients of a tenant are told when something happened to an action there. */
export function actionNotice({ kind, tenant, action }: ActionChange): Notice {
  const { actionId, status } = action
  switch (kind) {
    case 'action.created':
    case 'action.received':
      return { kind: 'ACTION', actionId }
    case 'action.changed':
      // The tenant has accepted or dismissed it: its own devices show that.
      return { kind: 'ACTION_STATUS', actionId, status: status === 'T' ? 'D' : status, to: [tenant.idTag] }
    case 'action.deleted':
      // Whoever holds it shows it: a follower is nowhere named in it.
      return { kind: 'ACTION_STATUS', actionId, status: 'D', to: [...holders(action), tenant.idTag] }
  }
}

// A draft has left for nobody.
function holders(action: ActionChange['action']): IdTag[] {
  return action.token === undefined ? [] : involved(action)
}

function involved({ issuerTag, authorTag, audienceTag, audience, subject }: ActionChange['action']): IdTag[] {
  const target = subject === undefined ? undefined : parseIdTag(subject)
  const named = [issuerTag, authorTag, audienceTag, ...audience, target]
  return [...new Set(named.filter((idTag) => idTag !== undefined))]
}
