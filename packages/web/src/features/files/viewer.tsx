import type { FileView } from '@kith/protocol'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button, IconButton } from '#ui/button.tsx'
import { uiTexts } from '#ui/ui-texts.ts'
import { useTexts } from '#ui/use-texts.ts'
import { download } from './file-actions.ts'
import { FileDetails } from './file-details.tsx'
import { filesTexts } from './files-texts.ts'
import styles from './viewer.module.css'
import { ViewerSlide } from './viewer-slide.tsx'

interface ViewerProps {
  /** What can be stepped through, with the file among it. */
  readonly files: readonly FileView[]
  readonly fileId: string
  readonly onStep: (file: FileView) => void
  readonly onShare: (file: FileView) => void
  readonly onClose: () => void
}

/** Files on the whole window: swipe, arrow keys and buttons step through them. */
export function Viewer(props: ViewerProps) {
  const { files, fileId, onClose, onStep } = props
  const index = Math.max(
    0,
    files.findIndex((one) => one.fileId === fileId),
  )
  const file = files[index]
  const dialog = useModal()
  const go = (to: number) => {
    const target = files[to]
    if (target) onStep(target)
  }
  if (!file) return null
  return (
    <dialog
      ref={dialog}
      data-fills="window"
      class={styles.viewer}
      aria-label={file.fileName}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onKeyDown={(event) => {
        // A film's own keys move in the film.
        if (event.target instanceof HTMLMediaElement) return
        const to = stepOf(event.key, index, files.length)
        if (to === undefined) return
        event.preventDefault()
        go(to)
      }}
    >
      <Head {...props} file={file} index={index} />
      <Strip files={files} index={index} onIndex={go} />
      {index > 0 && <Step isBack onClick={() => go(index - 1)} />}
      {index < files.length - 1 && <Step onClick={() => go(index + 1)} />}
    </dialog>
  )
}

function stepOf(key: string, index: number, count: number): number | undefined {
  const isRightToLeft = document.dir === 'rtl'
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: isRightToLeft ? index - 1 : index + 1,
    ArrowLeft: isRightToLeft ? index + 1 : index - 1,
    Home: 0,
    End: count - 1,
  }
  return steps[key]
}

function useModal() {
  const dialog = useRef<HTMLDialogElement>(null)
  // Before the effects of what is in it: nothing scrolls in a closed dialog.
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return dialog
}

function Step({ isBack = false, onClick }: { readonly isBack?: boolean; readonly onClick: () => void }) {
  const t = useTexts(filesTexts)
  return (
    <IconButton
      class={isBack ? styles.previous : styles.next}
      icon={isBack ? 'chevron-left' : 'chevron-right'}
      label={isBack ? t.previous : t.next}
      onClick={onClick}
    />
  )
}

interface HeadProps extends ViewerProps {
  readonly file: FileView
  readonly index: number
}

function Head({ files, file, index, onShare, onClose }: HeadProps) {
  const t = useTexts(filesTexts)
  const ui = useTexts(uiTexts)
  const [areDetailsShown, setDetailsShown] = useState(false)
  return (
    <header class={styles.head}>
      <IconButton icon="arrow-left" label={ui.close} onClick={onClose} />
      <div class={styles.title}>
        <h2 dir="auto">{file.fileName}</h2>
        <p role="status">{t.position(index + 1, files.length)}</p>
      </div>
      <IconButton
        icon="info"
        label={t.details}
        aria-expanded={areDetailsShown}
        onClick={() => setDetailsShown(!areDetailsShown)}
      />
      <IconButton icon="share-2" label={t.share} onClick={() => onShare(file)} />
      <Button
        needsServer
        class={styles.download}
        kind="quiet"
        icon="download"
        aria-label={t.download}
        onClick={() => void download([file])}
      >
        <span>{t.download}</span>
      </Button>
      {areDetailsShown && <FileDetails file={file} />}
    </header>
  )
}

interface StripProps {
  readonly files: readonly FileView[]
  readonly index: number
  readonly onIndex: (index: number) => void
}

/** The slides side by side; a swipe moves to the next. Only those beside the present one are filled. */
function Strip({ files, index, onIndex }: StripProps) {
  const strip = useRef<HTMLDivElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>()
  const shown = useRef<{ readonly at: number; readonly fileId: string | undefined }>()
  const fileId = files[index]?.fileId
  useEffect(() => {
    // A swipe has brought it there already, unless the files before it have changed.
    if (shown.current?.at === index && shown.current.fileId === fileId) return
    shown.current = { at: index, fileId }
    strip.current?.children[index]?.scrollIntoView({ behavior: 'instant', inline: 'start', block: 'nearest' })
  }, [index, fileId])
  return (
    <div
      ref={strip}
      class={styles.strip}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys (WCAG 2.1.1)
      tabIndex={0}
      onScroll={({ currentTarget }) => {
        clearTimeout(timer.current)
        timer.current = setTimeout(() => {
          const at = Math.round(Math.abs(currentTarget.scrollLeft) / currentTarget.clientWidth)
          if (at === shown.current?.at) return
          shown.current = { at, fileId: files[at]?.fileId }
          onIndex(at)
        }, 80)
      }}
    >
      {files.map((file, at) => (
        <div key={file.fileId} class={styles.slide} inert={at !== index}>
          {Math.abs(at - index) < 2 && <ViewerSlide file={file} />}
        </div>
      ))}
    </div>
  )
}
