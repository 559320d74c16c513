import type { BrowserContext, Page } from 'playwright-core'
import { vi } from 'vitest'
import { reachWorker } from './chromium.ts'

/** Hands messages over to the service worker of a page until something holds. Chromium drops what is pushed to a worker that
 * does not start in time; a push service would send it again. */
export async function workerPush(context: BrowserContext, page: Page) {
  const deliver = await reachWorker(context, page)
  return (messages: readonly unknown[], holds: () => Promise<unknown>): Promise<void> =>
    vi.waitFor(
      async () => {
        for (const message of messages) await deliver(message)
        await holds()
      },
      { timeout: 50_000 },
    )
}
