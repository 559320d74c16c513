import { hash } from 'node:crypto'
import type { ActionId, SettingName } from '@kith/protocol'
import { doesMention, type StoredAction } from '#features/actions/index.ts'
import type { Tenant } from '#infra/caller/index.ts'

/** What a push is about: the part of its setting's name after `notify.push.`. */
export type PushTopic =
  | 'message'
  | 'mention'
  | 'reaction'
  | 'connection'
  | 'follow'
  | 'file_share'
  | 'comment'

/** The topic under which a tenant is notified of an action that it has received; undefined where it is not. Whose action a
 * reaction is about is not known here. */
export function topicOf(tenant: Pick<Tenant, 'idTag'>, action: StoredAction): PushTopic | undefined {
  const { type, subType, status, issuerTag, isMarked, isMismatched, content } = action
  if (issuerTag === tenant.idTag || subType === 'DEL' || (status !== 'A' && status !== 'C')) return undefined
  if (type === 'MSG') return 'message'
  if (isMismatched) return undefined
  switch (type) {
    case 'CONN':
    case 'INVT':
      return status === 'C' ? 'connection' : undefined
    case 'FLLW':
      return 'follow'
    case 'FSHR':
      return 'file_share'
    case 'REACT':
      return 'reaction'
    case 'REPOST':
      return isMarked ? 'reaction' : undefined
    case 'POST':
      return isMarked ? 'mention' : undefined
    case 'CMNT':
      if (!isMarked) return undefined
      return doesMention(content, tenant.idTag) ? 'mention' : 'comment'
    default:
      return undefined
  }
}

export function settingOf(topic: PushTopic) {
  return `notify.push.${topic}` as const satisfies SettingName
}

/** `Topic`, by which a push service replaces a message that has not been read yet (RFC 8030 section 5.4). */
export function topicHeader(actionId: ActionId): string {
  return hash('sha256', actionId, 'base64url').slice(0, 32)
}
