import type { BrowserContext, Page } from 'playwright-core'
import { vi } from 'vitest'

/** Hands messages over as the browser's push service would, decrypted, until something holds. Chromium drops what is pushed to
 * a worker that does not start in time; a push service would send it again. */
export async function workerPush(context: BrowserContext, page: Page) {
  const devtools = await context.newCDPSession(page)
  const registered = new Promise<string>((resolve) => {
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [registration] }) => {
      if (registration) resolve(registration.registrationId)
    })
  })
  await devtools.send('ServiceWorker.enable')
  const registrationId = await registered
  const { origin } = new URL(page.url())
  return (messages: readonly unknown[], holds: () => Promise<unknown>): Promise<void> =>
    vi.waitFor(
      async () => {
        for (const message of messages) {
          const data = JSON.stringify(message)
          await devtools.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data })
        }
        await holds()
      },
      { timeout: 50_000 },
    )
}
