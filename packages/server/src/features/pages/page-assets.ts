import { readFile } from 'node:fs/promises'
import type { WholeAnswer } from '#infra/http/index.ts'
import { etagOf } from './etag.ts'

const script = 'text/javascript; charset=utf-8'

/** Every file that the pages load, by the name under which it is asked for. */
const assets: ReadonlyMap<string, { readonly type: string; readonly file: () => URL }> = new Map([
  ...[
    'activate',
    'api',
    'browser',
    'found-community',
    'home',
    'login',
    'passkeys',
    'qr-image',
    'register',
    'set-password',
    'shared',
  ].map((name) => [`${name}.js`, { type: script, file: () => own(`${name}.js`) }] as const),
  ['kith.css', { type: 'text/css; charset=utf-8', file: () => own('kith.css') }],
  ['qr.js', { type: script, file: () => new URL(import.meta.resolve('qr')) }],
])

function own(name: string): URL {
  return new URL(`assets/${name}`, import.meta.url)
}

// Bounded by the list above, some 60 kB together.
const read = new Map<string, Promise<WholeAnswer>>()

/** The answer with an asset, read from disk when it is asked for first. */
export async function findAsset(name: string): Promise<WholeAnswer | undefined> {
  const asset = assets.get(name)
  if (!asset) return undefined
  const known = read.get(name)
  if (known) return known
  const reading = readAsset(asset.type, asset.file())
  read.set(name, reading)
  // A file that could not be read once (too many are open) may be read the next time.
  reading.catch(() => read.delete(name))
  return reading
}

async function readAsset(type: string, file: URL): Promise<WholeAnswer> {
  const body = await readFile(file)
  const headers = { 'content-type': type, 'cache-control': 'no-cache', etag: etagOf(body) }
  return { status: 200, headers, body }
}
