import { useEffect, useRef, useState } from 'preact/hooks'
import { createStore } from '#lib/store.ts'
import { closeNotice, type Notice, notices } from '#platform/notices.ts'
import { Button, IconButton } from './button.tsx'
import styles from './notices.module.css'
import { uiTexts } from './ui-texts.ts'
import { useGoing } from './use-going.ts'
import { useStore } from './use-store.ts'
import { useLocale, useTexts } from './use-texts.ts'

const doneForMs = 6_000
// What it offers to do can be done elsewhere too: there is time to see it, and then it is out of the way.
const offeredForMs = 20_000

// The page, and the dialogs above it, the topmost last: what lies below that is neither heard nor pressed.
const layers = createStore<readonly string[]>(['page'])

/** The place of the notices of the page, or of a dialog while it is the topmost: a live region that is always there. */
export function Notices({ layer = 'page' }: { readonly layer?: string }) {
  const shown = useStore(notices)
  const isOnTop = useStore(layers).at(-1) === layer
  // A dialog is covered by nothing that was said before it opened.
  const since = useRef(layer === 'page' ? 0 : (shown.at(-1)?.id ?? 0))
  const own = isOnTop ? shown.filter(({ id }) => id > since.current) : []
  useEffect(() => {
    if (layer === 'page') return
    layers.set([...layers.get(), layer])
    return () => layers.set(layers.get().filter((other) => other !== layer))
  }, [layer])
  return (
    <div class={styles.notices} role="status" aria-live="polite">
      {own.map((notice) => (
        <NoticeLine key={notice.id} notice={notice} />
      ))}
    </div>
  )
}

function NoticeLine({ notice }: { readonly notice: Notice }) {
  const { id, text, action, untilMs } = notice
  const t = useTexts(uiTexts)
  const element = useGoing<HTMLDivElement>(shownForMs(notice), () => closeNotice(id))
  return (
    <div ref={element} class={styles.notice}>
      <span>{text}</span>
      {untilMs !== undefined && <Countdown untilMs={untilMs} />}
      {action && (
        <Button
          kind="quiet"
          onClick={() => {
            closeNotice(id)
            action.run()
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton icon="x" label={t.close} onClick={() => closeNotice(id)} />
    </div>
  )
}

/** How long a notice is there if nobody closes it. */
function shownForMs({ kind, action, untilMs, stays }: Notice): number | undefined {
  if (kind === 'failed' || stays || untilMs !== undefined) return undefined
  return action ? offeredForMs : doneForMs
}

/** For the eye: read out every second it would be noise. */
function Countdown({ untilMs }: { readonly untilMs: number }) {
  const locale = useLocale()
  const secondsLeft = () => Math.max(0, Math.ceil((untilMs - Date.now()) / 1000))
  const [left, setLeft] = useState(secondsLeft)
  useEffect(() => {
    const timer = setInterval(() => setLeft(secondsLeft()), 250)
    return () => clearInterval(timer)
  }, [untilMs])
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit: 'second', unitDisplay: 'short' })
  return (
    <span class={styles.countdown} aria-hidden="true">
      {format.format(left)}
    </span>
  )
}
