import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeDurably } from './durable-file.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kith-durable-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('writes a file that only its owner reads', async () => {
  const path = join(folder, 'a')
  await writeDurably(path, 'first')
  expect(readFileSync(path, 'utf8')).toBe('first')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('replaces a file and leaves no draft', async () => {
  const path = join(folder, 'a')
  await writeDurably(path, 'first')
  await writeDurably(path, 'second', { mode: 0o644 })
  expect(readFileSync(path, 'utf8')).toBe('second')
  expect(readdirSync(folder)).toEqual(['a'])
})

test('of many that write at once exclusively, one wins and the file is whole', async () => {
  const path = join(folder, 'a')
  const texts = Array.from({ length: 20 }, (_, at) => String(at).repeat(10_000))
  const outcomes = await Promise.allSettled(
    texts.map((text) => writeDurably(path, text, { exclusive: true })),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason.code).toBe('EEXIST')
  expect(texts).toContain(readFileSync(path, 'utf8'))
  expect(readdirSync(folder)).toEqual(['a'])
})

test('leaves nothing where it cannot write', async () => {
  await expect(writeDurably(join(folder, 'absent', 'a'), 'text')).rejects.toThrow('ENOENT')
  expect(readdirSync(folder)).toEqual([])
})
