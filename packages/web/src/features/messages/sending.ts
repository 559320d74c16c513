import { type Action, createAction, type NewAction } from '@kith/protocol'
import { navigate } from 'wouter-preact/use-browser-location'
import { stillWaiting } from '#lib/still-waiting.ts'
import { textsIn } from '#lib/texts.ts'
import { client } from '#platform/client.ts'
import { language } from '#platform/language.ts'
import { notify } from '#platform/notices.ts'
import { noteArrival, type Sender, sendLater, type Waiting } from '#platform/outbox.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { queries } from '#platform/query.ts'
import { explainNow } from '#ui/explain.ts'
import { textOf } from './message-text.ts'
import { messagesTexts } from './messages-texts.ts'
import { threadOf } from './thread-query.ts'

/** A message that was written here. */
export interface NewMessage {
  readonly conversationId: string
  readonly message: Pick<NewAction, 'content' | 'audienceTag' | 'audience' | 'parentId' | 'attachments'>
  /** One's own messages that said the same there before. */
  readonly known?: readonly string[]
}

/** One that its server does not have yet. */
export type Outgoing = Waiting<NewMessage>

const kind = 'message'

/** The conversations that are on the screen. */
export const shownThreads = new Set<string>()

/** Shows a message at once, and sends it after those that were written before. */
export function send({ conversationId, message }: NewMessage): void {
  const shown = queries.getQueryData(threadOf(conversationId).queryKey)?.messages ?? []
  const known = shown.filter((one) => saysSame(message, one)).map(({ actionId }) => actionId)
  const payload: NewMessage = { conversationId, message, known }
  void sendLater({ kind, payload, group: `${kind} ${conversationId}` })
}

/** Of what waits, the messages of a conversation. */
export function outgoingOf(waiting: readonly Waiting[], conversationId: string): readonly Outgoing[] {
  return waiting.filter(
    (one): one is Outgoing =>
      one.kind === kind && (one.payload as NewMessage).conversationId === conversationId,
  )
}

/** Of what waits, the messages that do not stand in their conversation yet. */
export function notShown(
  waiting: readonly Outgoing[],
  messages: readonly Action[],
  ids: ReadonlyMap<string, string>,
): readonly Outgoing[] {
  return stillWaiting(waiting, messages, {
    ids,
    isSame: ({ payload: { message, known } }, one) =>
      saysSame(message, one) && !known?.includes(one.actionId),
  })
}

function saysSame(message: NewMessage['message'], one: Action): boolean {
  const parts = ({ parentId, attachments }: NewMessage['message'] | Action) =>
    [parentId, attachments?.length ?? 0].join()
  return (
    one.issuerTag === ownIdTag() && message.content?.text === textOf(one) && parts(message) === parts(one)
  )
}

export const messageSender: Sender<NewMessage> = {
  async send({ message }, { key }) {
    const body = { type: 'MSG', ...message, idempotencyKey: key } as const
    const { data } = await client.call(createAction, { body })
    noteArrival(key, data.actionId)
    await queries.invalidateQueries({ queryKey: ['messages'] })
  },
  refused({ conversationId }, error) {
    // There it says so itself.
    if (shownThreads.has(conversationId)) return true
    const t = textsIn(messagesTexts, language.get())
    const run = () => navigate(`/messages/${encodeURIComponent(conversationId)}`)
    notify(t.refused(explainNow(error)), { kind: 'failed', action: { label: t.open, run } })
    return true
  },
}
