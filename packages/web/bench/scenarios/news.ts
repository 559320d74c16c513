import type { Page } from 'playwright-core'
import { repeat } from '../../../../bench/src/measure.ts'
import { tokenOf } from '../../../../bench/src/scenarios/inbox.ts'
import { openTab } from '../browser.ts'
import { atMost, type Row, rowOf } from '../row.ts'
import type { Bench } from '../scenario.ts'
import { startTown } from '../town.ts'

const events = 1000
const seconds = 10

/** Posts that arrive while the feed is open and used: each is told by the bus, and counted on the screen. */
export async function news({ browser, settings }: Bench): Promise<Row[]> {
  const runs = await repeat(settings.runs, async () => {
    await using town = await startTown({ items: 100 })
    await using tab = await openTab(browser, town.url, { token: town.token })
    const { page } = tab
    const heard = listen(page)
    await page.goto(town.url)
    await page.evaluate('kithBench.usable')
    const { writers } = town
    const tokens = Array.from({ length: events }, (_, at) => {
      const writer = writers[at % writers.length]
      if (!writer) throw new Error('nobody writes')
      return tokenOf(writer.idTag, writer.key)
    })
    const sent = new Set(tokens.map(actionIdIn))
    const delivered = deliver(town.kith.url, tokens)
    let isOver = false
    void delivered.then(() => (isOver = true))
    while (!isOver) {
      await page
        .getByRole('button', { name: /^React/ })
        .first()
        .click()
      await page.keyboard.press('Escape')
      await page.waitForTimeout(200)
    }
    const tookSecs = await delivered
    const isWhole = () => sent.isSubsetOf(heard)
    for (let at = 0; at < 200 && !isWhole(); at += 1) await page.waitForTimeout(100)
    await page.getByRole('button', { name: /^\d+ new posts$/ }).waitFor()
    const inputs = (await page.evaluate('[...kithBench.inputs.values()]')) as number[]
    return { lost: sent.difference(heard).size, slowest: Math.max(...inputs), tookSecs }
  })
  const took = Math.max(...runs.map(({ tookSecs }) => tookSecs)).toFixed(0)
  const note = `delivered in ${took} s`
  return [
    rowOf({
      what: `${events} events in ${seconds} s: slowest input`,
      unit: 'ms',
      runs: runs.map(({ slowest }) => slowest),
      bar: atMost(200),
      note,
    }),
    rowOf({
      what: `${events} events in ${seconds} s: lost`,
      unit: '',
      runs: runs.map(({ lost }) => lost),
      bar: atMost(0),
    }),
  ]
}

/** The actions that the page is told of, filled while it is open. */
function listen(page: Page): Set<string> {
  const heard = new Set<string>()
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      for (const [id] of String(payload).matchAll(/a1~[\w-]{43}/g)) heard.add(id)
    }),
  )
  return heard
}

function actionIdIn(token: string): string {
  const [, payload = ''] = token.split('.')
  return (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { actionId: string }).actionId
}

/** Evenly over the time. Answers how many seconds it took. */
async function deliver(url: string, tokens: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  await Promise.all(
    tokens.map(async (body, at) => {
      await new Promise((resolve) => setTimeout(resolve, (at / tokens.length) * seconds * 1000))
      const headers = { 'content-type': 'application/jwt', 'x-forwarded-for': `10.0.${at >> 8}.${at & 255}` }
      const answer = await fetch(`${url}/api/inbox`, { method: 'POST', headers, body })
      if (!answer.ok) throw new Error(`a delivery answered ${answer.status} ${await answer.text()}`)
    }),
  )
  return (performance.now() - startedAt) / 1000
}
