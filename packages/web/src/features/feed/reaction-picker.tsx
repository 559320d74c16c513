import { type Action, type ReactionKind, reactionKinds } from '@kith/protocol'
import { useId, useRef, useState } from 'preact/hooks'
import { Icon } from '#ui/icon.tsx'
import { moveIn } from '#ui/menu.tsx'
import { renderNow } from '#ui/render-now.ts'
import { useTexts } from '#ui/use-texts.ts'
import { reactTo } from './post-actions.ts'
import styles from './post-buttons.module.css'
import { postTexts } from './post-texts.ts'

const signs: Readonly<Record<ReactionKind, string>> = {
  LIKE: '👍',
  LOVE: '❤️',
  LAUGH: '😂',
  WOW: '😮',
  SAD: '😢',
  ANGRY: '😠',
}

/** How many have reacted and how oneself has, and the six reactions to choose from. */
export function ReactionPicker({ post }: { readonly post: Action }) {
  const t = useTexts(postTexts)
  const id = useId()
  const place = useRef<HTMLDivElement>(null)
  const own = post.stat.ownReaction as ReactionKind | null | undefined
  const count = post.stat.reactions ?? 0
  const choose = (kind: ReactionKind) => {
    place.current?.querySelector<HTMLElement>('[popover]')?.hidePopover()
    place.current?.querySelector('button')?.focus()
    reactTo(post, kind === own ? null : kind)
  }
  const label = [own && signs[own] ? t[own] : t.react, count > 0 && t.reactions(count)]
    .filter(Boolean)
    .join(', ')
  return (
    <div ref={place} class={styles.picker}>
      <button
        type="button"
        class={styles.button}
        aria-label={label}
        title={t.react}
        aria-haspopup="true"
        data-task="react"
        data-own={own ? '' : undefined}
        popovertarget={id}
      >
        {own && signs[own] ? <span aria-hidden="true">{signs[own]}</span> : <Icon name="heart" />}
        {count > 0 && <span>{count}</span>}
      </button>
      <Reactions id={id} own={own} onChoose={choose} />
    </div>
  )
}

interface ReactionsProps {
  readonly id: string
  readonly own: ReactionKind | null | undefined
  readonly onChoose: (kind: ReactionKind) => void
}

function Reactions({ id, own, onChoose }: ReactionsProps) {
  const t = useTexts(postTexts)
  const [isOpen, setOpen] = useState(false)
  const focused = own && signs[own] ? own : reactionKinds[0]
  return (
    <div
      id={id}
      popover="auto"
      role="toolbar"
      aria-label={t.choose}
      class={styles.reactions}
      onBeforeToggle={(event) => {
        if (event.newState === 'open') renderNow(() => setOpen(true))
      }}
      onToggle={(event) => {
        if (event.newState === 'closed') setOpen(false)
      }}
      onKeyDown={(event) => moveIn(event, event.currentTarget)}
    >
      {isOpen &&
        reactionKinds.map((kind) => (
          <button
            key={kind}
            type="button"
            aria-label={t[kind]}
            title={t[kind]}
            aria-pressed={kind === own}
            // Opening a popover moves the focus there at once; an event tells of it only later, when keys have been lost.
            autofocus={kind === focused}
            onClick={() => onChoose(kind)}
          >
            {signs[kind]}
          </button>
        ))}
    </div>
  )
}
