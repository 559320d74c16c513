import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { vectorFiles } from './vector-files.ts'

const present = (path: string) => readFile(resolve(import.meta.dirname, '../../vectors', path), 'utf8')

test('the vectors are those that the script makes', async () => {
  for (const [path, text] of await vectorFiles(present)) expect(await present(path)).toBe(text)
})
