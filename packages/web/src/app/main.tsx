import { render } from 'preact'
import '#ui/styles.css'
import '#platform/keyboard-room.ts'
import '#platform/look.ts'
import { InLanguage } from '#ui/shown-language.tsx'
import { App } from './app.tsx'
import { preloadScreen } from './lazy-screen.tsx'

// The code comes while the server is asked who is signed in.
preloadScreen(location.pathname)

const place = document.getElementById('app')
if (place)
  render(
    <InLanguage>
      <App />
    </InLanguage>,
    place,
  )
