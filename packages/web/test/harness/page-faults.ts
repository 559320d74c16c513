import type { Page } from 'playwright-core'

/** Collects what a page does that it may not: it asks another origin for something, or logs an error. */
export function watchPage(page: Page, own: () => string, faults: string[]): void {
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(`${own()}/`) || /^(blob|data):/.test(request.url())
    if (!isOwn) faults.push(`asks ${request.url()}`)
  })
  page.on('console', (message) => {
    // The browser logs every refused answer; what the page does about it is what counts.
    if (message.type() === 'error' && !/^(Failed to load resource|WebSocket connection)/.test(message.text()))
      faults.push(message.text())
  })
}
