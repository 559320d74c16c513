import type { Action, Conversation, IdTag } from '@kith/protocol'
import type { NewMessage } from './sending.ts'
import type { Attachment } from './use-attachments.ts'

// A message has a text of one character at least.
const textOfPictures = '📷'
const textOfFiles = '📎'

interface Written {
  readonly text: string
  readonly attachments: readonly Attachment[]
  readonly answered: Action | undefined
}

/** A message of this conversation as the server takes it. Among three or more all answer the first one, which names them. */
export function newMessage(
  { participants, rootId }: Conversation,
  { text, attachments, answered }: Written,
): NewMessage['message'] {
  const fileIds = attachments.flatMap(({ fileId }) => fileId ?? [])
  const alt = Object.fromEntries(
    attachments.flatMap(({ fileId, alt }) => (fileId === undefined || alt === '' ? [] : [[fileId, alt]])),
  )
  const parentId = answered?.actionId ?? rootId
  const [other] = participants
  return {
    content: {
      text: text.trim() || (attachments.every(({ url }) => url !== undefined) ? textOfPictures : textOfFiles),
      ...(Object.keys(alt).length > 0 ? { alt } : {}),
    },
    ...(parentId === undefined ? {} : { parentId }),
    ...(participants.length === 1 && other ? { audienceTag: other.idTag as IdTag } : {}),
    ...(participants.length > 1 && parentId === undefined
      ? { audience: participants.map(({ idTag }) => idTag) }
      : {}),
    ...(fileIds.length > 0 ? { attachments: fileIds } : {}),
  }
}
