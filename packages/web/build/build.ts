import { hash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build as viteBuild } from 'vite'
import { buildBegin } from './build-begin.ts'
import { buildWorker } from './build-worker.ts'
import { compileAtOnce } from './first-screen.ts'

const dist = join(import.meta.dirname, '../dist')
// A service worker rules the addresses below its own.
const staysAtTop = new Set(['app.html', 'manifest.json', 'service-worker.js'])

/** Builds the app into `dist`: `app.html`, and `assets/` with the files that it loads, of each text also `.br` and `.gz`; and
 * `service-worker.js`. */
export async function build(): Promise<void> {
  await forProduction(() =>
    viteBuild({ configFile: join(import.meta.dirname, '../vite.config.ts'), logLevel: 'warn' }),
  )
  await forProduction(buildBegin)
  await moveAssets()
  await compileAtOnce(join(dist, 'assets'))
  await buildWorker(await buildId())
  await compressAssets()
}

/** What is tested is what is shipped: from a run of tests Vite would make a build for development. */
async function forProduction(work: () => Promise<unknown>): Promise<void> {
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = 'production'
  try {
    await work()
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = NODE_ENV
  }
}

// The document names every other file by its hash.
async function buildId(): Promise<string> {
  return hash('sha256', await readFile(join(dist, 'app.html')), 'hex').slice(0, 16)
}

// Vite writes the files beside app.html when their address has no folder below its base.
async function moveAssets(): Promise<void> {
  await mkdir(join(dist, 'assets'), { recursive: true })
  for (const entry of await readdir(dist, { withFileTypes: true })) {
    if (!entry.isFile() || staysAtTop.has(entry.name)) continue
    await rename(join(dist, entry.name), join(dist, 'assets', entry.name))
  }
}

async function compressAssets(): Promise<void> {
  const names = (await readdir(join(dist, 'assets'))).filter((name) => /\.(js|css|svg)$/.test(name))
  await Promise.all(
    [
      join(dist, 'app.html'),
      join(dist, 'service-worker.js'),
      ...names.map((name) => join(dist, 'assets', name)),
    ].map(compress),
  )
}

async function compress(path: string): Promise<void> {
  const bytes = await readFile(path)
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params }))
  await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }))
}

if (import.meta.main) await build()
