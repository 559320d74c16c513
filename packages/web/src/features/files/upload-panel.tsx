import { useState } from 'preact/hooks'
import { formatBytes } from '#lib/format.ts'
import { notify } from '#platform/notices.ts'
import {
  cancelUpload,
  clearUploads,
  giveFiles,
  pauseUploads,
  resumeUploads,
  retryUploads,
} from '#platform/upload-queue.ts'
import { type Upload, uploads } from '#platform/uploads.ts'
import { Button, IconButton } from '#ui/button.tsx'
import { useExplain } from '#ui/problem.tsx'
import { useGoing } from '#ui/use-going.ts'
import { useStore } from '#ui/use-store.ts'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { chooseFiles } from './choose-files.ts'
import styles from './upload-panel.module.css'
import { uploadTexts } from './upload-texts.ts'

// Until all of it was seen to be there.
const doneForMs = 10_000

// What failed and what is sent stands first; a longer list helps nobody.
const listedAtMost = 50

/** The uploads of this tab, on every screen: how far they are, and what can be done about them. */
export function UploadPanel() {
  const t = useTexts(uploadTexts)
  const { items, isPaused } = useStore(uploads)
  const [isListed, setListed] = useState(false)
  const isDone = items.every(({ state }) => state === 'done')
  const element = useGoing<HTMLElement>(isDone ? doneForMs : undefined, clearUploads)
  if (items.length === 0) return null
  const isRunning = items.some(({ state }) => isUnderWay(state))
  const absent = items.filter(({ state }) => state === 'absent')
  // Why something was not taken is told at once.
  const hasFailed = items.some(({ state }) => state === 'failed')
  const hasRetries = items.some(({ state, error }) => state === 'failed' && !isRefused(error))
  return (
    <section ref={element} class={styles.panel} aria-label={t.uploads}>
      <Summary isDone={isDone} />
      {absent.length > 0 && <p class="soft">{t.absentWhy(absent.length)}</p>}
      {!isDone && (
        <div class="row">
          {absent.length > 0 && <ChooseAgain />}
          {isRunning && (
            <Button icon={isPaused ? 'play' : 'pause'} onClick={isPaused ? resumeUploads : pauseUploads}>
              {isPaused ? t.resume : t.pause}
            </Button>
          )}
          {hasRetries && (
            <Button icon="refresh-cw" onClick={() => retryUploads()}>
              {t.retryAll}
            </Button>
          )}
          <Button icon="x" onClick={clearUploads}>
            {isRunning || absent.length > 0 ? t.cancelAll : t.close}
          </Button>
        </div>
      )}
      <details open={hasFailed} onToggle={(event) => setListed(event.currentTarget.open)}>
        <summary>{t.list}</summary>
        {(isListed || hasFailed) && <UploadList />}
      </details>
    </section>
  )
}

const isUnderWay = (state: Upload['state']) => ['waiting', 'sending', 'paused'].includes(state)

function ChooseAgain() {
  const t = useTexts(uploadTexts)
  const choose = () =>
    chooseFiles('files', (files) => {
      if (giveFiles([...files]) === 0) notify(t.otherFile, { kind: 'failed' })
    })
  return (
    <Button kind="primary" icon="file" onClick={choose}>
      {t.chooseAgain}
    </Button>
  )
}

/** Whether it was known before that the server would not take it. */
const isRefused = (error: unknown) => (error as { status?: number } | undefined)?.status === 0

function Summary({ isDone }: { readonly isDone: boolean }) {
  const t = useTexts(uploadTexts)
  const locale = useLocale()
  const { items, isPaused, isInterrupted, rate } = useStore(uploads)
  const count = (state: Upload['state']) => items.filter((item) => item.state === state).length
  const [done, failed] = [count('done'), count('failed') + count('absent')]
  const wanted = items.filter(({ state }) => state === 'done' || isUnderWay(state))
  const total = wanted.reduce((sum, { size }) => sum + size, 0)
  const sent = wanted.reduce((sum, { sentBytes }) => sum + sentBytes, 0)
  const isRunning = done + failed < items.length
  const words = isRunning
    ? t.running(done, items.length - failed)
    : failed > 0
      ? t.withFailures(done, failed)
      : t.done(done)
  const rest = rate > 0 ? t.rate(formatBytes(rate, locale), t.rest(Math.ceil((total - sent) / rate))) : ''
  return (
    <>
      <div class={styles.head}>
        <p role="status">
          <strong>{words}</strong>
        </p>
        {isDone && <IconButton icon="x" label={t.close} onClick={clearUploads} />}
      </div>
      {isRunning && <progress aria-label={t.progress} max={Math.max(1, total)} value={sent} />}
      {isRunning && <p class="soft">{isInterrupted ? t.interrupted : isPaused ? t.paused : rest}</p>}
    </>
  )
}

const order = { absent: 0, failed: 0, sending: 1, paused: 2, waiting: 3, done: 4 } as const

function UploadList() {
  const t = useTexts(uploadTexts)
  const { items } = useStore(uploads)
  const sorted = items.toSorted((a, b) => order[a.state] - order[b.state])
  return (
    <ul class={styles.list}>
      {sorted.slice(0, listedAtMost).map((item) => (
        <UploadLine key={item.id} item={item} />
      ))}
      {items.length > listedAtMost && <li class="soft">{t.more(items.length - listedAtMost)}</li>}
    </ul>
  )
}

function UploadLine({ item }: { readonly item: Upload }) {
  const t = useTexts(uploadTexts)
  const locale = useLocale()
  const explain = useExplain()
  const { id, name, size, sentBytes, state, error } = item
  const words = {
    waiting: t.waiting,
    paused: t.paused,
    done: t.finished,
    sending: `${t.sending}: ${Math.floor((100 * sentBytes) / Math.max(1, size))} %`,
    failed: explain(error),
    absent: t.absent,
  }
  return (
    <li>
      <div class={styles.words}>
        <bdi>{name}</bdi>
        <span class={state === 'failed' ? styles.failed : 'soft'}>
          {words[state]} · {formatBytes(size, locale)}
        </span>
      </div>
      {state === 'failed' && !isRefused(error) && (
        <IconButton icon="refresh-cw" label={t.retry(name)} onClick={() => retryUploads(id)} />
      )}
      {state !== 'done' && <IconButton icon="x" label={t.cancel(name)} onClick={() => cancelUpload(id)} />}
    </li>
  )
}
