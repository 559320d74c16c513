import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { keepSetUpLink } from './set-up-link.ts'

test('the link is for its owner’s eyes, the newest one, and gone when there is none', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'kith-link-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const file = join(dataDir, 'setup-link')
  await keepSetUpLink(dataDir, 'http://home.localhost:1/set-password#token=one')
  await keepSetUpLink(dataDir, 'http://home.localhost:2/set-password#token=one')
  expect(await readFile(file, 'utf8')).toBe('http://home.localhost:2/set-password#token=one\n')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  await keepSetUpLink(dataDir, undefined)
  await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
  await keepSetUpLink(dataDir, undefined)
})
