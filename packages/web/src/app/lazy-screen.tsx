import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { missingPaths } from '#platform/offered.ts'
import { Button } from '#ui/button.tsx'
import { Empty } from '#ui/empty.tsx'
import { Loading } from '#ui/loading.tsx'
import { uiTexts } from '#ui/ui-texts.ts'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { appTexts } from './app-texts.ts'
import { type Screen, screens } from './screens.ts'

type Shown = ComponentType<{ readonly params: Readonly<Record<string, string>> }>
// Bound: the screens.
const loaded = new Map<Screen, Shown>()

async function loadScreen(screen: Screen): Promise<Shown> {
  const component = await screen.load()
  loaded.set(screen, component)
  return component
}

/** Begins to load the code of the screen at a path. What fails is tried again when the screen is shown. */
export function preloadScreen(path: string): void {
  const matches = (pattern: string) => new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(path)
  const screen = screens.find((one) => matches(one.path))
  if (screen) void loadScreen(screen).catch(() => undefined)
}

const reloadedFlag = 'kith-reloaded'

/** Loads the code of a screen when it is shown first. */
export function LazyScreen({
  screen,
  params,
}: {
  readonly screen: Screen
  readonly params: Readonly<Record<string, string>>
}) {
  const t = useTexts(appTexts)
  const ui = useTexts(uiTexts)
  const missing = useStore(missingPaths)
  const [shown, setShown] = useState<Shown | undefined>(() => loaded.get(screen))
  const [hasFailed, setFailed] = useState(false)
  useEffect(() => {
    const before = document.title
    document.title = `${t[screen.name]} – Kith`
    // A screen in a dialog gives the title back to the one below it.
    return () => {
      document.title = before
    }
  }, [t, screen])
  useEffect(() => {
    if (shown) return
    loadScreen(screen).then(
      (component) => {
        sessionStorage.removeItem(reloadedFlag)
        setShown(() => component)
      },
      () => (reloadOnce() ? undefined : setFailed(true)),
    )
  }, [screen, shown])
  if (hasFailed)
    return (
      <Empty
        icon="refresh-cw"
        title={t.chunk}
        step={<Button onClick={() => location.reload()}>{t.reload}</Button>}
      />
    )
  if (screen.needs !== undefined && missing.has(screen.needs))
    return (
      <Empty isScreen icon="cloud-off" title={t[screen.name]}>
        {ui['E-NOTFOUND:endpoint']}
      </Empty>
    )
  const Component = shown
  return Component ? <Component params={params} /> : <Loading isSilent heights={[120, 240, 240]} />
}

/** A build that is gone has its chunks with it: a reload brings the present one, and is tried once. */
function reloadOnce(): boolean {
  if (!navigator.onLine || sessionStorage.getItem(reloadedFlag) !== null) return false
  sessionStorage.setItem(reloadedFlag, '1')
  location.reload()
  return true
}
