import { QueryClientProvider } from '@tanstack/preact-query'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { resumeSharing } from '#features/compose/index.ts'
import '#platform/install.ts'
import { isFirstTime } from '#platform/device-storage.ts'
import { keepQueries } from '#platform/keep-queries.ts'
import { keeping } from '#platform/kept.ts'
import { downloadFailed, openMedia } from '#platform/media.ts'
import { startNews } from '#platform/news.ts'
import { notify } from '#platform/notices.ts'
import { noteUnreachable } from '#platform/offline.ts'
import { startOutbox } from '#platform/outbox.ts'
import { keepPush } from '#platform/push.ts'
import { queries } from '#platform/query.ts'
import { openWithoutServer, resumeSession, session } from '#platform/session.ts'
import { mayHaveUploads } from '#platform/uploads.ts'
import { whenIdle } from '#platform/when-idle.ts'
import { newVersion, registerWorker } from '#platform/worker.ts'
import { Button } from '#ui/button.tsx'
import { Empty } from '#ui/empty.tsx'
import { uiTexts } from '#ui/ui-texts.ts'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { appTexts } from './app-texts.ts'
import { afterOpening, kept, news, senders } from './reactions.ts'
import { Shell } from './shell.tsx'
import { SignInAgain } from './sign-in-again.tsx'

keepQueries(kept)

/** Opens the session of this browser; who has none is sent to sign in, and comes back. */
export function App() {
  const { state } = useStore(session)
  const { problem, again } = useOpening()
  useNewVersion()
  useKeepingNotice()
  useDownloadNotice()
  useEffect(() => {
    if (state === 'signed-out') toSignIn()
  }, [state])
  if (state !== 'opening' && state !== 'signed-out')
    return (
      <QueryClientProvider client={queries}>
        <Shell />
        {state === 'expired' && <SignInAgain />}
      </QueryClientProvider>
    )
  return problem ? <Unreachable onAgain={again} /> : null
}

function useOpening() {
  const [problem, setProblem] = useState(false)
  const open = async () => {
    setProblem(false)
    try {
      if (!(await resumeSession())) return
    } catch {
      if (!(await openWithoutServer())) return setProblem(true)
      noteUnreachable()
    }
    void openMedia()
    // What comes later is heard of when what is there is shown.
    whenIdle(() => startNews(news, afterOpening))
    startOutbox(senders)
    await keepAppOnDevice().catch(() => undefined)
    void resumeSharing()
    if (mayHaveUploads()) void import('#platform/upload-queue.ts').then((queue) => queue.resumeKept())
  }
  // Before the first frame: everything that is shown waits for it.
  useLayoutEffect(() => void open(), [])
  return { problem, again: () => void open() }
}

async function keepAppOnDevice(): Promise<void> {
  if (await registerWorker()) await keepPush()
}

/** Says once that the server has a newer version; the app stays as it is until its owner reloads it or opens it again. */
function useNewVersion(): void {
  const t = useTexts(appTexts)
  const isThere = useStore(newVersion)
  useEffect(() => {
    if (!isThere) return
    notify(t.newVersion, { action: { label: t.reload, run: () => location.reload() }, stays: true })
  }, [isThere])
}

/** Says once on this device when it cannot keep what is read. */
function useKeepingNotice(): void {
  const t = useTexts(appTexts)
  const state = useStore(keeping)
  useEffect(() => {
    if ((state === 'full' || state === 'none') && isFirstTime(`not-kept-${state}`))
      notify(state === 'full' ? t.deviceFull : t.notKept, { kind: 'failed' })
  }, [state])
}

function useDownloadNotice(): void {
  const t = useTexts(appTexts)
  const failedAt = useStore(downloadFailed)
  useEffect(() => {
    if (failedAt !== undefined) notify(t.notSaved, { kind: 'failed' })
  }, [failedAt])
}

function Unreachable({ onAgain }: { readonly onAgain: () => void }) {
  const t = useTexts(appTexts)
  const ui = useTexts(uiTexts)
  return (
    <main>
      <Empty
        isScreen
        icon="cloud-off"
        title={t.unreachable}
        step={<Button onClick={onAgain}>{ui.again}</Button>}
      >
        {ui['E-NETWORK']}
      </Empty>
    </main>
  )
}

function toSignIn(): void {
  // The fragment may hold the code of a link into a community.
  const to = location.pathname + location.search + location.hash
  location.replace(`/login#${new URLSearchParams({ to })}`)
}
