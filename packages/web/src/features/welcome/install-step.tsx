import { deviceOf } from '#lib/device-name.ts'
import { installApp, installOffer, isInstalled } from '#platform/install.ts'
import { Button } from '#ui/button.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { welcomeTexts } from './welcome-texts.ts'

/** Installing the app: by a button where the browser offers it, else by what to do in its menu. */
export function InstallStep() {
  const t = useTexts(welcomeTexts)
  const offer = useStore(installOffer)
  if (useStore(isInstalled)) return <p>{t.installIs}</p>
  return (
    <>
      <p>{t.installWhy}</p>
      {offer ? (
        <div>
          <Button kind="primary" icon="download" onClick={() => void installApp()}>
            {t.installNow}
          </Button>
        </div>
      ) : (
        <p>{t[wayOf(navigator.userAgent)]}</p>
      )}
    </>
  )
}

function wayOf(userAgent: string): 'installIos' | 'installAndroid' | 'installDesk' {
  const { system } = deviceOf(userAgent)
  if (system === 'iPhone' || system === 'iPad') return 'installIos'
  return system === 'Android' ? 'installAndroid' : 'installDesk'
}
