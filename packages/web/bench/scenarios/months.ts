import { repeat } from '../../../../bench/src/measure.ts'
import { openTab } from '../browser.ts'
import { atMost, type Row, rowOf } from '../row.ts'
import type { Bench } from '../scenario.ts'
import { startTown } from '../town.ts'

const photos = 70_000
const jumps = 12

/** A month of very many photos: the longest piece of work without a pause, from the address until places far from each other
 * were looked at. */
export async function months({ browser, settings }: Bench): Promise<Row[]> {
  await using town = await startTown({ items: 0, photosOfMonth: photos })
  const runs = await repeat(settings.runs, async () => {
    await using tab = await openTab(browser, town.url, { token: town.token })
    const { page } = tab
    await page.goto(`${town.url}/files/photos`)
    await page
      .getByRole('button', { name: /^Picture/ })
      .first()
      .waitFor()
    await page.evaluate(`new Promise((done) => {
      let at = 0
      const jump = () => {
        at += 1
        scrollTo({ top: (document.documentElement.scrollHeight * ((at * 7) % ${jumps})) / ${jumps}, behavior: 'instant' })
        if (at < ${jumps}) return setTimeout(jump, 250)
        done()
      }
      jump()
    })`)
    return (await page.evaluate(
      'Math.max(0, ...kithBench.longTasks.map(([, duration]) => duration))',
    )) as number
  })
  return [
    rowOf({
      what: `longest task in a month of ${photos} photos`,
      unit: 'ms',
      runs,
      bar: atMost(50),
      note: 'tasks below 50 ms count as 0',
    }),
  ]
}
