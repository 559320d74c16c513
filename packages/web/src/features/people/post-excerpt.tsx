import type { Action } from '@kith/protocol'
import { shownName } from '#lib/identity.ts'
import { excerptOf } from '#lib/shown-text.ts'
import { RichText } from '#ui/rich-text.tsx'
import { Time } from '#ui/time.tsx'

/** A post that is not held here: to be read, not to be answered. */
export function PostExcerpt({ post, position }: { readonly post: Action; readonly position: number }) {
  const text = typeof post.content?.text === 'string' ? post.content.text : ''
  const name = shownName(post.issuer.name, post.issuerTag)
  return (
    <article
      class="card stack"
      aria-posinset={position}
      aria-setsize={-1}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: articles of a feed take the focus (ARIA, feed pattern)
      tabIndex={0}
      aria-label={`${name}, ${excerptOf(text, 100)}`}
    >
      <p class="soft">
        <bdi>{name}</bdi> · <Time iso={post.createdAt} />
      </p>
      <RichText text={text} />
    </article>
  )
}
