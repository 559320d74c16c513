import type { Action } from '@kith/protocol'
import { type Outgoing, RawJson } from '#infra/http/index.ts'
import { inOneLine, shortened } from './preview-text.ts'

// The members of contents that say what an action is about, the first that is there.
const previewed = ['text', 'title', 'message', 'fileName'] as const

interface PushPlace {
  /** Of a message. */
  readonly conversationId: string | undefined
  /** Whether its text may be shown. */
  readonly showsText: boolean
}

/** The notification of an action as browsers receive it (docs/protocol/push.md): UTF-8 JSON of at most 1.5 kB. */
export function pushMessage(action: Outgoing<Action>, { conversationId, showsText }: PushPlace): Buffer {
  const { actionId, type, issuer, content } = action
  const postId = postOf[type]?.(action)
  const message = {
    type: 'action',
    actionType: type,
    issuer: issuer.idTag,
    preview: showsText ? previewOf(content instanceof RawJson ? JSON.parse(content.text) : content) : '',
    actionId,
    ...(conversationId === undefined ? {} : { conversationId }),
    ...(postId === undefined ? {} : { postId }),
  }
  return Buffer.from(JSON.stringify(message))
}

type Named = Pick<Outgoing<Action>, 'actionId' | 'rootId' | 'parentId' | 'subject'>

// The post that an action is, or is about, by its type.
const postOf: Readonly<Record<string, (action: Named) => string | undefined>> = {
  POST: ({ actionId }) => actionId,
  CMNT: ({ rootId, parentId }) => rootId ?? parentId,
  REACT: ({ subject }) => subject,
  REPOST: ({ subject }) => subject,
}

function previewOf(content: Readonly<Record<string, unknown>> | undefined): string {
  const texts = previewed.map((name) => content?.[name])
  const text = texts.find((value) => typeof value === 'string' && value !== '') as string | undefined
  return shortened(inOneLine(text ?? ''))
}
