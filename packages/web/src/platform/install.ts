import { createStore } from '#lib/store.ts'

/** The browser's offer to install the app (W3C, Manifest Incubations); not every browser makes one. */
interface InstallOffer extends Event {
  prompt(): Promise<{ readonly outcome: 'accepted' | 'dismissed' }>
}

/** The offer that can be taken now. */
export const installOffer = createStore<InstallOffer | undefined>(undefined)

/** Whether this is the installed app. */
export const isInstalled = createStore(window.matchMedia('(display-mode: standalone)').matches)

// It comes once, soon after the page was opened.
window.addEventListener('beforeinstallprompt', (event) => {
  event.preventDefault()
  installOffer.set(event as InstallOffer)
})
window.addEventListener('appinstalled', () => {
  installOffer.set(undefined)
  isInstalled.set(true)
})

/** Asks the person to install the app; to be called on a tap. An offer serves once. */
export async function installApp(): Promise<void> {
  const offer = installOffer.get()
  installOffer.set(undefined)
  await offer?.prompt()
}
