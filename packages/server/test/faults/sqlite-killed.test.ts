import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { compileCache } from '#harness/compile-cache.ts'
import { type Migration, openDatabase } from '#infra/db/index.ts'

const migrations: Migration[] = [
  { id: '0001_items', up: (schema) => schema.createTable('items', { id: 'autoincrement', body: 'text' }) },
]

test('everything that was acknowledged survives kill -9', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kith-sqlite-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'kith.db')
  const child = spawn(process.execPath, [join(import.meta.dirname, 'write-until-killed.ts'), path], {
    env: { ...process.env, ...compileCache },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  const { promise: enough, resolve } = Promise.withResolvers<void>()
  child.stdout.on('data', (chunk) => {
    output += chunk
    if (output.split('\n').length > 500) resolve()
  })
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
  child.on('exit', () => leave())
  await enough
  child.kill('SIGKILL')
  await gone
  const acknowledged = output.split('\n').slice(0, -1).map(Number)
  const db = await openDatabase({ url: `sqlite:${path}`, migrations })
  onTestFinished(() => db.close())
  expect(await db.integrityCheck()).toEqual([])
  const raw = new DatabaseSync(path, { readOnly: true })
  onTestFinished(() => raw.close())
  const stored = new Set(
    raw
      .prepare('select id from items')
      .all()
      .map(({ id }) => Number(id)),
  )
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
})
