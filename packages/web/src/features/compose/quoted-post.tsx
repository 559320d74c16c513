import { getAction } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { shownName } from '#lib/identity.ts'
import { capMarks } from '#lib/shown-text.ts'
import { client } from '#platform/client.ts'
import { Button } from '#ui/button.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './compose.module.css'
import { composeTexts } from './compose-texts.ts'

const shownChars = 200

/** The post that is quoted, as a reminder; the feed shows it whole. */
export function QuotedPost({
  actionId,
  onRemove,
}: {
  readonly actionId: string
  readonly onRemove: () => void
}) {
  const t = useTexts(composeTexts)
  const { data: post } = useQuery({
    queryKey: ['compose', 'quoted', actionId],
    queryFn: async ({ signal }) => (await client.call(getAction, { params: { actionId } }, { signal })).data,
  })
  const text = typeof post?.content?.text === 'string' ? capMarks(post.content.text) : ''
  return (
    <div class={styles.note}>
      <blockquote class={styles.quoted}>
        <strong>{post ? t.quoting(shownName(post.issuer.name, post.issuerTag)) : t.quotingPost}</strong>
        {text !== '' && <p dir="auto">{text.slice(0, shownChars).toWellFormed()}</p>}
      </blockquote>
      <Button icon="x" onClick={onRemove}>
        {t.noQuote}
      </Button>
    </div>
  )
}
