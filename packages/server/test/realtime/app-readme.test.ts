import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { bundleForBrowser } from '#harness/browser-bundle.ts'

const sdk = new URL('../../../app/', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, sdk), 'utf8')
const readme = read('README.md')

const blocks = [...readme.matchAll(/^### (\w+)\n```ts\n(.*?)^```/gms)]

test.each(blocks)('the example under "%s" of the README is the one that is compiled and run', (...block) => {
  const [, heading = '', code = ''] = block
  expect(code).toBe(read(`test/readme/${heading.toLowerCase()}.ts`))
})

/** In kB of 1000 bytes, minified and compressed by gzip: the parts of a module that are loaded at first, and the others by name. */
async function sizesOf(entry: string): Promise<{ first: number; lazy: Record<string, number> }> {
  const files = await bundleForBrowser(new URL(`src/${entry}`, sdk).pathname, { minify: true })
  const lazy: Record<string, number> = {}
  let first = 0
  for (const { fileName, code } of files) {
    const size = gzipSync(code).length / 1000
    const [name = ''] = fileName.split('-')
    if (name === 'crdt' || name === 'rtdb') lazy[name] = size
    else first += size
  }
  return { first, lazy }
}

test('the sizes in the README are true', async () => {
  const rows = Object.fromEntries(
    [...readme.matchAll(/^\| `([^`]+)` \|.*\| ([\d.]+) kB \|$/gm)].map(([, name = '', size]) => [
      name,
      Number(size),
    ]),
  )
  const [app, host] = await Promise.all([sizesOf('index.ts'), sizesOf('host/index.ts')])
  const measured = {
    '@kith/app': app.first,
    'app.database()': app.lazy.rtdb ?? 0,
    'app.document()': app.lazy.crdt ?? 0,
    '@kith/app/host': host.first,
  }
  expect(Object.keys(rows)).toEqual(Object.keys(measured))
  expect(app.first).toBeLessThan(8)
  for (const [name, size] of Object.entries(measured))
    expect(Math.abs((rows[name] ?? 0) / size - 1), `${name} has ${size} kB`).toBeLessThan(0.1)
})
