import { type Action, getAction } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { shownName } from '#lib/identity.ts'
import { excerptOf } from '#lib/shown-text.ts'
import { client } from '#platform/client.ts'
import { textOf } from './message-text.ts'
import styles from './thread.module.css'

const shownChars = 140

interface AnsweredMessageProps {
  readonly actionId: string
  readonly known: ReadonlyMap<string, Action>
}

/** The beginning of the message that another one answers. */
export function AnsweredMessage({ actionId, known }: AnsweredMessageProps) {
  const loaded = known.get(actionId)
  const { data } = useQuery({
    queryKey: ['messages', 'one', actionId],
    queryFn: async () => (await client.call(getAction, { params: { actionId } })).data,
    enabled: !loaded,
    retry: false,
  })
  const message = loaded ?? data
  if (!message) return null
  return (
    <blockquote class={styles.answered}>
      <bdi class={styles.name}>{shownName(message.issuer.name, message.issuerTag)}</bdi>
      <p dir="auto">{excerptOf(textOf(message), shownChars)}</p>
    </blockquote>
  )
}
