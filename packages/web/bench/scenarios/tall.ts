import { tallListScript } from '../../test/harness/tall-list.ts'
import { openTab } from '../browser.ts'
import { atLeast, type Row, rowOf } from '../row.ts'
import type { Bench } from '../scenario.ts'

const lines = 500_000
const lineHeight = 60

/** Whether a list that is taller than a browser allows can be scrolled to its last line. */
export async function tall({ browser, bare }: Bench): Promise<Row[]> {
  await using tab = await openTab(browser, bare.url)
  const { page } = tab
  await page.setContent('<!doctype html><body style="margin: 0">')
  await page.addScriptTag({ content: await tallListScript(lines), type: 'module' })
  await page.getByText('Line 0', { exact: true }).waitFor()
  const reached = (await page.evaluate(`new Promise((done) => {
    scrollTo(0, document.documentElement.scrollHeight)
    setTimeout(() => {
      const shown = [...document.querySelectorAll('li')].filter((line) => line.getBoundingClientRect().bottom <= innerHeight + 1)
      done(Number(shown.at(-1).getAttribute('aria-posinset')))
    }, 500)
  })`)) as number
  const px = (lines * lineHeight) / 2 ** 24
  const what = `last line of a list of ${px.toFixed(1)} × 2^24 px`
  return [rowOf({ what, unit: '', runs: [reached], bar: atLeast(lines) })]
}
