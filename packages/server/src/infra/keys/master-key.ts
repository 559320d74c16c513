import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ConfigError, type MasterKeyLocation } from '#infra/config/index.ts'
import { writeDurably } from '#lib/durable-file.ts'
import { parseKeyText } from '#lib/key-text.ts'
import { errorCode } from '#lib/system-error.ts'

/** The master key of this server. A file that is the server's own is made on the first start, readable by its owner
 * only; of processes that start at once, one makes it. Throws a `ConfigError`. */
export async function loadMasterKey(location: MasterKeyLocation): Promise<KeyObject> {
  if (location.kind === 'value') return keyFrom(location.text.reveal(), 'MASTER_KEY', 'is not 32 bytes')
  const { path, generated } = location
  const found = await readKeyFile(path)
  if (found !== undefined) return found
  if (!generated) throw problem('MASTER_KEY_FILE', `does not exist: ${path}`)
  await makeKeyFile(path)
  const made = await readKeyFile(path)
  if (made === undefined) throw problem('MASTER_KEY_FILE', `has vanished: ${path}`)
  return made
}

/** The same for a server that has its key already: none is made. */
export function loadPresentMasterKey(location: MasterKeyLocation): Promise<KeyObject> {
  return loadMasterKey(location.kind === 'file' ? { ...location, generated: false } : location)
}

async function readKeyFile(path: string): Promise<KeyObject | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw problem('MASTER_KEY_FILE', `cannot be read (${error.code}): ${path}`)
  })
  if (!file) return undefined
  try {
    const { mode } = await file.stat()
    // Windows has no such bits.
    if (process.platform !== 'win32' && (mode & 0o007) !== 0)
      throw problem('MASTER_KEY_FILE', `may be used by everybody on this machine: chmod 600 ${path}`)
    return keyFrom(
      await file.readFile('utf8'),
      'MASTER_KEY_FILE',
      `does not hold 32 bytes in base64 or hexadecimal: ${path}`,
    )
  } finally {
    await file.close()
  }
}

async function makeKeyFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  try {
    await writeDurably(path, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, exclusive: true })
  } catch (error) {
    // Another process has made the key meanwhile: that one is used.
    const code = errorCode(error)
    if (code !== 'EEXIST') throw problem('MASTER_KEY_FILE', `cannot be made (${code}): ${path}`)
  }
}

function keyFrom(text: string, variable: string, complaint: string): KeyObject {
  const bytes = parseKeyText(text)
  if (!bytes) throw problem(variable, complaint)
  return createSecretKey(bytes)
}

function problem(variable: string, message: string): ConfigError {
  return new ConfigError([{ variable, message }])
}
