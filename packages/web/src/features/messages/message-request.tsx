import { type Conversation, deleteAction, updateRelationship } from '@kith/protocol'
import { useMutation } from '@tanstack/preact-query'
import { useLocation } from 'wouter-preact'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './message-request.module.css'
import { messagesTexts } from './messages-texts.ts'
import { threadOf } from './thread-query.ts'
import { useNames } from './use-names.ts'

interface MessageRequestProps {
  readonly conversation: Conversation
  readonly onAnswer: () => void
}

/** In the place of the composer while an unknown person waits for a decision. */
export function MessageRequest({ conversation, onAnswer }: MessageRequestProps) {
  const t = useTexts(messagesTexts)
  const [, navigate] = useLocation()
  const name = useNames(conversation.participants)
  const leave = async () => {
    navigate('/messages')
    await queries.invalidateQueries({ queryKey: ['messages', 'conversations'] })
  }
  const onError = () => void notify(t.notDone, { kind: 'failed' })
  const removing = useMutation({ mutationFn: () => removeAll(conversation), onSuccess: leave, onError })
  const blocking = useMutation({
    mutationFn: () => block(conversation),
    onSuccess: () => {
      notify(t.blocked(name))
      return leave()
    },
    onError,
  })
  return (
    <section class={styles.request} aria-label={t.request}>
      <h2>{t.fromStranger(name)}</h2>
      <p class="soft">{t.fromStrangerWhy}</p>
      <div class="row">
        <Button kind="primary" icon="undo-2" onClick={onAnswer}>
          {t.answer}
        </Button>
        <Button icon="trash-2" isBusy={removing.isPending} onClick={() => removing.mutate()}>
          {t.deleteAll}
        </Button>
        <Button kind="danger" icon="user-x" isBusy={blocking.isPending} onClick={() => blocking.mutate()}>
          {t.block}
        </Button>
      </div>
    </section>
  )
}

async function block({ participants }: Conversation): Promise<void> {
  for (const { idTag } of participants)
    await client.call(updateRelationship, { params: { idTag }, body: { relationship: 'block' } })
}

/** A conversation goes with its last message. */
async function removeAll({ conversationId }: Conversation): Promise<void> {
  for (;;) {
    const thread = await queries.fetchQuery({ ...threadOf(conversationId), staleTime: 0 })
    if (!thread || thread.messages.length === 0) return
    for (const { actionId } of thread.messages) await client.call(deleteAction, { params: { actionId } })
    queries.removeQueries({ queryKey: threadOf(conversationId).queryKey })
  }
}
