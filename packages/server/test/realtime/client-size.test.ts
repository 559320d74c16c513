import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { slimContracts } from '@kith/client/build'
import { expect, test } from 'vitest'
import { bundleForBrowser } from '#harness/browser-bundle.ts'

const client = new URL('../../../client/', import.meta.url)
const readme = readFileSync(new URL('README.md', client), 'utf8')
const { exports } = JSON.parse(readFileSync(new URL('package.json', client), 'utf8')) as {
  exports: Record<string, string>
}

const feed = fileURLToPath(new URL('feed-client.ts', import.meta.url))

const pathOf = (entry: string) => fileURLToPath(new URL(exports[entry] ?? '', client))

/** In kB of 1000 bytes, minified and compressed by gzip. */
async function sizeOf(path: string, options: Parameters<typeof bundleForBrowser>[1] = {}): Promise<number> {
  const files = await bundleForBrowser(path, { minify: true, ...options })
  expect(files.filter(({ code }) => options.plugins && /typebox|~kind/i.test(code))).toEqual([])
  return files.reduce((sum, { code }) => sum + gzipSync(code).length, 0) / 1000
}

const slim = () => ({ plugins: [slimContracts()] })
const isAbout = (stated: string | undefined, size: number) =>
  expect(Math.abs(Number(stated) / size - 1), `measured: ${size} kB`).toBeLessThan(0.1)

const rows = [
  ...readme.matchAll(
    /^\| `@kith\/client(\S*)` \|.*?\| ([\d.]+) kB(?:, ([\d.]+) kB of them Yjs)? \| ([\d.]+) kB \|$/gm,
  ),
]

test('the README has a row for each entry for browsers', () => {
  const entries = Object.keys(exports).filter((entry) => entry !== './build')
  expect(rows.map(([, entry]) => `.${entry}`)).toEqual(entries)
})

test.each(rows.map((row) => [`@kith/client${row[1]}`, row] as const))(
  'the size of %s in the README is true',
  async (_name, [, entry, all, ofYjs, withPlugin]) => {
    const path = pathOf(`.${entry}`)
    const size = await sizeOf(path)
    isAbout(all, size)
    isAbout(withPlugin, await sizeOf(path, slim()))
    if (ofYjs !== undefined) isAbout(ofYjs, size - (await sizeOf(path, { external: ['yjs'] })))
  },
)

test('a client that shows a feed takes at most 12 kB with slim contracts, and as much as the README says', async () => {
  const [, all, withPlugin] = /^\| .*feed.* \| ([\d.]+) kB \| ([\d.]+) kB \|$/m.exec(readme) ?? []
  const size = await sizeOf(feed, slim())
  expect(size).toBeLessThanOrEqual(12)
  isAbout(withPlugin, size)
  isAbout(all, await sizeOf(feed))
})
