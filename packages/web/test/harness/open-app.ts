import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core'
import { expect } from 'vitest'
import { openPage, signInBrowser } from '../../../server/test/harness/browser.ts'
import { TestServer, type TestServerOptions } from '../../../server/test/harness/test-server.ts'
import { watchPage } from './page-faults.ts'
import { desk, phone } from './windows.ts'

/** The app as it was built. */
export const webBuild = join(import.meta.dirname, '../../dist')

/** A server that has the app as it was built. */
export function startWebServer(options: TestServerOptions = {}): Promise<TestServer> {
  return TestServer.start({ ...options, webBuild })
}

export { desk, phone }

/** The app of a tenant in a browser that is signed in, at a path. `faults` collects what breaks the content security policy,
 * throws, is logged as an error, or goes to another origin. */
export async function openApp(
  browser: Browser,
  server: TestServer,
  at: { readonly idTag: string; readonly path?: string } & BrowserContextOptions,
) {
  const { idTag, path = '/', ...options } = at
  // Where it is not the subject, a worker would only load the whole build behind every page.
  const opened = await openPage(browser, { viewport: phone, serviceWorkers: 'block', ...options })
  const { page, context, faults } = opened
  const own = server.urlOf(idTag)
  watchPage(page, () => own, faults)
  await signInBrowser(context, server, idTag)
  await page.goto(own + path)
  return { ...opened, go: (to: string) => page.goto(own + to) }
}

/** Opens the app so that it hears what happens from then on. */
export async function openHearing(...[browser, server, at]: Parameters<typeof openApp>) {
  const opened = await openApp(browser, server, { ...at, path: noApp })
  await goHearing(opened, at.path ?? '/')
  return opened
}

// The socket of a page of the app would be taken for that of the next one.
const noApp = '/manifest.webmanifest'

/** Loads a page of the app, which hears what happens from then on, and has asked for what came before. */
export async function goHearing(
  { page, go }: Pick<Awaited<ReturnType<typeof openApp>>, 'page' | 'go'>,
  path: string,
): Promise<void> {
  await go(noApp)
  const underWay = new Set<Request>()
  page.on('request', (request) => underWay.add(request))
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', (request) => underWay.delete(request))
  const heard = page.waitForEvent('websocket').then((socket) => socket.waitForEvent('framereceived'))
  await Promise.all([heard, go(path)])
  // When it hears, the app asks as soon as it has nothing else to do.
  await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve, { timeout: 1000 }))')
  await expect.poll(() => underWay.size).toBe(0)
}

/** Waits until nothing on the page keeps the place of what is still to come. */
export async function whenComplete(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  // On a busy machine the network may be idle before the page has asked.
  await expect.poll(() => page.locator('main [class*="placeholder"]').count()).toBe(0)
}

/** Where a text on the page is cut off without a sign that it goes on, or reaches beyond the edge of what does not scroll. What
 * only readers hear is no such text. */
export async function cutTexts(page: Page): Promise<readonly string[]> {
  return (await page.evaluate(`[...document.querySelectorAll('body *')].flatMap((element) => {
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')) return []
    if (!element.checkVisibility({ contentVisibilityAuto: true })) return []
    const box = element.getBoundingClientRect()
    if (box.width <= 1) return []
    const around = []
    for (let each = element; each; each = each.parentElement) around.push([each, getComputedStyle(each)])
    const isMeant = ({ textOverflow, webkitLineClamp, clipPath }) =>
      textOverflow === 'ellipsis' || webkitLineClamp !== 'none' || clipPath !== 'none'
    if (around.some(([, style]) => isMeant(style))) return []
    const isCut = (overflow, inner, outer) => /hidden|clip/.test(overflow) && inner > outer + 1
    const { overflowX, overflowY } = around[0][1]
    const isNarrow = isCut(overflowX, element.scrollWidth, element.clientWidth)
    const isLow = isCut(overflowY, element.scrollHeight, element.clientHeight)
    const scrolls = around.some(([each, style]) => each !== document.documentElement && /auto|scroll/.test(style.overflowX))
    const isBeyond = !scrolls && (box.right > innerWidth + 1 || box.left < -1)
    return isNarrow || isLow || isBeyond ? [element.tagName + ': ' + element.textContent.slice(0, 80)] : []
  })`)) as readonly string[]
}

let axeSource: Promise<string> | undefined

/** What axe finds on the page: rule and place. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  axeSource ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  await page.evaluate(`if (!globalThis.axe) { ${await axeSource} }`)
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  // What is told besides the violations, and style sheets for rules that are not among these, would take time.
  const options = { runOnly: { type: 'tag', values: tags }, resultTypes: ['violations'], preload: false }
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as {
    violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[]
  }
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  )
}
