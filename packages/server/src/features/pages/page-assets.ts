import { readFile } from 'node:fs/promises'
import type { WholeAnswer } from '#infra/http/index.ts'
import { hostModules, protocolModules, readHostModule, readProtocolModule } from './app-host-assets.ts'
import { etagOf } from './etag.ts'

const script = 'text/javascript; charset=utf-8'

interface Asset {
  readonly type: string
  readonly read: () => Promise<string | Uint8Array>
}

/** Every file that the pages load, by the name under which it is asked for. */
const assets: ReadonlyMap<string, Asset> = new Map<string, Asset>([
  ...[
    'account',
    'activate',
    'api',
    'app',
    'app-files',
    'app-lines',
    'app-sharing',
    'app-titles',
    'apps',
    'approve',
    'browser',
    'email',
    'fields',
    'found-community',
    'join',
    'links',
    'login',
    'look',
    'passkeys',
    'path-back',
    'qr-image',
    'register',
    'set-password',
    'shared',
    'shared-files',
    'shared-upload',
    'shared-viewer',
  ].map((name) => [`${name}.js`, { type: script, read: () => readFile(own(`${name}.js`)) }] as const),
  ...['kith.css', 'shared.css'].map(
    (name) => [name, { type: 'text/css; charset=utf-8', read: () => readFile(own(name)) }] as const,
  ),
  ['icon.svg', { type: 'image/svg+xml', read: () => readFile(own('icon.svg')) }],
  ['qr.js', { type: script, read: () => readFile(new URL(import.meta.resolve('qr'))) }],
  ...protocolModules.map(
    (name) => [`${name}.js`, { type: script, read: () => readProtocolModule(name) }] as const,
  ),
  ...Object.entries(hostModules).flatMap(([folder, files]) =>
    files.map((file) => {
      const name = `${folder}/${file}`
      return [`app/${name}`, { type: script, read: async () => (await readHostModule(name)) ?? '' }] as const
    }),
  ),
])

function own(name: string): URL {
  return new URL(`assets/${name}`, import.meta.url)
}

// Bounded by the list above, some 100 kB together.
const read = new Map<string, Promise<WholeAnswer>>()

/** The answer with an asset, read from disk when it is asked for first. */
export async function findAsset(name: string): Promise<WholeAnswer | undefined> {
  const asset = assets.get(name)
  if (!asset) return undefined
  const known = read.get(name)
  if (known) return known
  const reading = readAsset(asset)
  read.set(name, reading)
  // A file that could not be read once (too many are open) may be read the next time.
  reading.catch(() => read.delete(name))
  return reading
}

async function readAsset({ type, read }: Asset): Promise<WholeAnswer> {
  const body = await read()
  const headers = { 'content-type': type, 'cache-control': 'no-cache', etag: etagOf(body) }
  return { status: 200, headers, body }
}
