import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { matchRoute, useLocation, useRouter } from 'wouter-preact'
import { quiet } from '#platform/quiet.ts'
import { useMedia } from '#ui/use-media.ts'
import { useTexts } from '#ui/use-texts.ts'
import { appTexts } from './app-texts.ts'
import { asides } from './asides.ts'
import { type Screen, screens } from './screens.ts'
import styles from './shell.module.css'

// As in the style sheet: three columns have room.
const roomy = '(min-width: 81.25rem)'

/** What belongs beside a screen, on a window with room for it. Below that width nothing of it is loaded. */
export function ThirdColumn() {
  const hasRoom = useMedia(roomy)
  const { screen, path } = useScreenBelow()
  if (!hasRoom || screen?.aside === undefined) return null
  return <Column key={path} screen={screen} path={path} />
}

/** The screen of the address, or the one below a dialog that has the address. */
function useScreenBelow() {
  const { parser } = useRouter()
  const [path] = useLocation()
  const screen = screens.find((one) => matchRoute(parser, one.path, path)[0])
  const below = useRef({ screen, path })
  if (!screen?.isOver) below.current = { screen, path }
  return below.current
}

function Column({ screen, path }: { readonly screen: Screen; readonly path: string }) {
  const t = useTexts(appTexts)
  const { parser } = useRouter()
  const [parts, setParts] = useState<readonly ComponentType[]>([])
  useEffect(() => {
    let isShown = true
    const params = (matchRoute(parser, screen.path, path)[1] ?? {}) as Record<string, string>
    const load = async () => {
      // What is in the middle comes first.
      await quiet()
      if (!isShown) return
      const loads = asides[screen.path] ?? []
      // A part that cannot be had leaves nothing behind: the screen itself says what fails.
      const all = await Promise.all(loads.map((part) => part(params).catch(() => undefined)))
      if (isShown) setParts(all.filter((part) => part !== undefined))
    }
    void load()
    return () => {
      isShown = false
    }
  }, [parser, screen, path])
  if (parts.length === 0 || screen.aside === undefined) return null
  return (
    <aside class={styles.aside} aria-label={t[screen.aside]}>
      {parts.map((Part, at) => (
        <Part key={at} />
      ))}
    </aside>
  )
}
