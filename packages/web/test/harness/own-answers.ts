import type { BrowserContext, Page } from 'playwright-core'
import type { TestServer } from '../../../server/test/harness/test-server.ts'

/** Lets what a page creates reach its server, and holds the answer back until `answer` is called. */
export async function holdAnswer(context: BrowserContext, server: TestServer, idTag: string) {
  let answer = () => {}
  const isWanted = new Promise<void>((resolve) => {
    answer = resolve
  })
  await context.route('**/api/actions', async (route) => {
    const { authorization = '' } = route.request().headers()
    const headers = { authorization, 'content-type': 'application/json' }
    const body = route.request().postData()
    const taken = await server.request(idTag, '/api/actions', { method: 'POST', headers, body })
    await isWanted
    await route.fulfill({ status: taken.status, contentType: 'application/json', body: await taken.text() })
  })
  return answer
}

/** Counts from now on, whenever the page is painted, how many elements of a role have a text: the answer is the least and the
 * most of that since it was there first. */
export async function countPainted(page: Page, selector: string, text: string) {
  await page.evaluate(`{
    const counts = (globalThis.painted = [])
    const look = () => {
      const all = [...document.querySelectorAll(${JSON.stringify(selector)})]
      const count = all.filter((one) => one.textContent.includes(${JSON.stringify(text)})).length
      if (count > 0 || counts.length > 0) counts.push(count)
      requestAnimationFrame(look)
    }
    look()
  }`)
  return () => page.evaluate('[Math.min(...painted), Math.max(...painted)]')
}
