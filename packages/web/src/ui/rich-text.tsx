import { useMemo, useState } from 'preact/hooks'
import { shownName } from '#lib/identity.ts'
import { beginningOf, capMarks } from '#lib/shown-text.ts'
import { type TextPart, textParts } from '#lib/text-parts.ts'
import { Button } from './button.tsx'
import { Link } from './link.tsx'
import styles from './rich-text.module.css'
import { uiTexts } from './ui-texts.ts'
import { useFindLinks } from './use-find-links.ts'
import { useTexts } from './use-texts.ts'

interface RichTextProps {
  readonly text: string
  /** Its language, where that is known. */
  readonly lang?: string | undefined
  /** Stands whole, however long. */
  readonly isWhole?: boolean
}

/** A text that somebody has written: as text nodes and links, never as markup. A long one is folded. */
export function RichText({ text, lang, isWhole = false }: RichTextProps) {
  const t = useTexts(uiTexts)
  const [isOpen, setOpen] = useState(isWhole)
  const beginning = useMemo(() => beginningOf(text, 600, 12), [text])
  const shown = isOpen || beginning === undefined ? text : beginning
  const findLinks = useFindLinks(shown)
  const parts = useMemo(() => textParts(capMarks(shown), findLinks), [shown, findLinks])
  return (
    <>
      <p dir="auto" lang={lang} class={styles.text}>
        {parts.map((part, index) => (
          <Part key={index} part={part} />
        ))}
      </p>
      {beginning !== undefined && !isWhole && (
        <Button kind="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} class={styles.fold}>
          {isOpen ? t.less : t.all}
        </Button>
      )}
    </>
  )
}

function Part({ part }: { readonly part: TextPart }) {
  if (part.kind === 'text') return <>{part.text}</>
  // Isolated: a bidirectional control before or in an address does not turn it around.
  const shown = <bdi>{part.text}</bdi>
  if (part.kind === 'mention')
    return <Link href={`/profiles/${encodeURIComponent(part.idTag)}`}>{shown}</Link>
  if (part.kind === 'tag') return <Link href={`/?of=${encodeURIComponent(`#${part.tag}`)}`}>{shown}</Link>
  return (
    <a href={part.href} target="_blank" rel="noopener nofollow ugc">
      {shown}
    </a>
  )
}

/** A name that its bearer has chosen, or the identity where it is empty. */
export function ShownName({ name, idTag }: { readonly name: string; readonly idTag: string }) {
  return <bdi>{shownName(name, idTag)}</bdi>
}
