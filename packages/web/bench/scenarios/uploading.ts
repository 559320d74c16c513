import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { tempDir } from '../../../../bench/src/kith.ts'
import { percentile, repeat } from '../../../../bench/src/measure.ts'
import { openTab } from '../browser.ts'
import type { Scrolling } from '../in-page.ts'
import { atLeast, atMost, type Row, rowOf } from '../row.ts'
import type { Bench } from '../scenario.ts'
import { startTown, type Town, writePhotos } from '../town.ts'

const photo = new URL('../../../server/test/fixtures/images/photo.jpg', import.meta.url)
const photoMb = 3

/** Many photos on their way to the server, and the screen while they are. */
export async function uploading({ browser, settings }: Bench): Promise<Row[]> {
  const { uploads } = settings
  await using folder = await tempDir()
  const paths = await writePhotos(folder.path, uploads, await readFile(photo))
  const runs = await repeat(Math.min(settings.runs, 3), async () => {
    await using town = await startTown({ items: 100 })
    const app = await inApp(browser, town, paths)
    await using other = await startTown({ items: 100 })
    return { ...app, curl: await withCurl(other, paths) }
  })
  const what = `${uploads} photos of ${photoMb} MB uploading`
  return [
    rowOf({
      what: `${what}: time between frames, p95`,
      unit: 'ms',
      runs: runs.map(({ frames }) => percentile(frames, 0.95)),
      bar: atMost(34),
    }),
    rowOf({ what: `${what}: heap`, unit: 'MB', runs: runs.map(({ heapMb }) => heapMb), bar: atMost(150) }),
    rowOf({
      what: `${what}: rate, as a share of that of curl`,
      unit: '',
      runs: runs.map(({ rate, curl }) => rate / curl),
      bar: atLeast(0.8),
      note: `${runs.map(({ rate, curl }) => `${rate.toFixed(0)} and ${curl.toFixed(0)} MB/s`).join(', ')}`,
    }),
  ]
}

async function inApp(browser: Bench['browser'], town: Town, paths: readonly string[]) {
  await using tab = await openTab(browser, town.url, { token: town.token })
  const { page } = tab
  await page.goto(`${town.url}/files`)
  await page.getByRole('heading', { level: 1, name: 'Files' }).waitFor()
  const before = await countFiles(town)
  const chosen = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Upload', exact: true }).click()
  await (await chosen).setFiles([...paths])
  const startedAt = performance.now()
  const frames = page.evaluate(`new Promise((done) => {
    const frames = []
    let last
    const step = (now) => {
      if (last !== undefined) frames.push(now - last)
      last = now
      if (!globalThis.kithBench.isDone) return requestAnimationFrame(step)
      done(frames)
    }
    requestAnimationFrame(step)
  })`) as Promise<Scrolling['frames']>
  await untilThere(town, before + paths.length)
  const tookSecs = (performance.now() - startedAt) / 1000
  await page.evaluate('void (kithBench.isDone = true)')
  return { frames: await frames, heapMb: await tab.heapMb(), rate: (paths.length * photoMb) / tookSecs }
}

/** One after the other over one connection, as a person would do with curl. */
async function withCurl(town: Town, paths: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  const transfers = paths.flatMap((path, at) => [
    ...(at === 0 ? [] : ['--next']),
    ...['-sS', '-o', '/dev/null', '--data-binary', `@${path}`, '-H', `Authorization: Bearer ${town.token}`],
    ...['-H', 'Content-Type: image/jpeg', '-H', 'Expect:'],
    `${town.kith.url}/api/files/default/photo-${at}.jpg`,
  ])
  await promisify(execFile)('curl', transfers)
  return (paths.length * photoMb) / ((performance.now() - startedAt) / 1000)
}

async function untilThere(town: Town, least: number): Promise<void> {
  while ((await countFiles(town)) < least) await new Promise((resolve) => setTimeout(resolve, 100))
}

async function countFiles(town: Town): Promise<number> {
  const headers = { authorization: `Bearer ${town.token}`, 'x-forwarded-for': '10.8.8.8' }
  const answer = await fetch(`${town.kith.url}/api/files?parentId=__root__&offset=0&limit=1`, { headers })
  const { pagination } = (await answer.json()) as { pagination: { total: number } }
  return pagination.total
}
