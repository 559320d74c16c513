import { createContext } from 'preact'
import { useContext, useRef } from 'preact/hooks'
import { Redirect, Route, Router, Switch, useLocation, useSearch } from 'wouter-preact'
import { useBrowserLocation, useSearch as useBrowserSearch } from 'wouter-preact/use-browser-location'
import { Absent } from '#ui/absent.tsx'
import { useMedia } from '#ui/use-media.ts'
import { LazyScreen } from './lazy-screen.tsx'
import { OverScreen } from './over-screen.tsx'
import { type Screen, screens } from './screens.ts'

interface Place {
  readonly path: string
  readonly search: string
}

// As the navigation changes from the bar to the rail.
const wide = '(min-width: 56.25rem)'

const home: Place = { path: '/', search: '' }

/** The address that the screens below a dialog keep while the window has the dialog's. */
const Kept = createContext<Place | undefined>(undefined)

const useKeptLocation: typeof useBrowserLocation = (options) => {
  const [path, navigate] = useBrowserLocation(options)
  return [useContext(Kept)?.path ?? path, navigate]
}

function useKeptSearch(): string {
  const search = useBrowserSearch()
  return useContext(Kept)?.search ?? search
}

/** The screen of the address. What is a dialog where there is room stands over the screen that one came from. */
export function ScreenArea() {
  return (
    <Router hook={useKeptLocation} searchHook={useKeptSearch}>
      <Areas />
    </Router>
  )
}

function Areas() {
  const [path, navigate] = useLocation()
  const search = useSearch()
  const isWide = useMedia(wide)
  const over = isWide ? screens.find((screen) => screen.isOver && screen.path === path) : undefined
  const below = useRef(home)
  if (!over) below.current = { path, search }
  const kept = over && below.current
  const close = () => {
    const { path, search } = below.current
    navigate(search === '' ? path : `${path}?${search}`, { replace: true })
  }
  return (
    <>
      <Kept.Provider value={kept}>
        {/* What a dialog covers is neither read out nor reached. */}
        <div aria-hidden={over ? 'true' : undefined} inert={over !== undefined}>
          <Screens />
        </div>
      </Kept.Provider>
      {over && <OverScreen screen={over} onClose={close} />}
    </>
  )
}

function Screens() {
  return (
    <Switch>
      {screens.map((screen: Screen) => (
        <Route key={screen.path} path={screen.path}>
          {(params) => (
            <LazyScreen key={screen.path} screen={screen} params={params as Record<string, string>} />
          )}
        </Route>
      ))}
      {/* The server's own address of the app. */}
      <Route path="/home">
        <Redirect to="/" replace />
      </Route>
      <Route>
        <Absent />
      </Route>
    </Switch>
  )
}
