import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { vectorFiles } from './vectors/vector-files.ts'

const root = resolve(import.meta.dirname, '../vectors')

for (const [path, text] of await vectorFiles((name) =>
  readFile(resolve(root, name), 'utf8').catch(() => undefined),
)) {
  await mkdir(dirname(resolve(root, path)), { recursive: true })
  await writeFile(resolve(root, path), text)
}
