import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { compileCache } from '#harness/compile-cache.ts'
import { eachDialect, type OpenTestDatabase } from '#harness/each-dialect.ts'
import { openDatabase, type TenantId } from '#infra/db/index.ts'

const script = join(import.meta.dirname, 'fan-out-until-killed.ts')
const recipients = 1200
/** After so many of its transactions each life of the server ends; the last goes on to the end. */
const lives = [2, 5, Number.POSITIVE_INFINITY]

describe('a fan-out whose server is killed', () => {
  eachDialect('a fan-out', (open: OpenTestDatabase) => {
    test('reaches each recipient once when its server is killed again and again', async () => {
      const { url } = await open.place()
      for (const [life, portions] of lives.entries())
        await runUntilKilled([url, life === 0 ? 'send' : 'go on', String(recipients)], portions)
      const inboxes = await listInboxes(url)
      expect(inboxes).toHaveLength(recipients)
      expect(new Set(inboxes).size).toBe(recipients)
    })
  })
})

async function runUntilKilled(args: readonly string[], portions: number): Promise<void> {
  const env = { ...process.env, ...compileCache }
  const isToEnd = portions === Number.POSITIVE_INFINITY
  const child = spawn(process.execPath, [script, ...args, isToEnd ? 'ends' : 'is killed'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = Promise.withResolvers<void>()
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
    if (!isToEnd && (output.split('\n').length > portions || output.endsWith('done\n'))) child.kill('SIGKILL')
  })
  child.on('close', () => gone.resolve())
  await gone.promise
  expect([child.signalCode, child.exitCode]).toEqual(isToEnd ? [null, 0] : ['SIGKILL', null])
}

async function listInboxes(url: string): Promise<string[]> {
  const db = await openDatabase({ url, migrations })
  const rows = await db
    .reader(7 as TenantId)
    .tables<{ jobs: { kind: string; payload: string } }>()
    .selectFrom('jobs')
    .select('payload')
    .where('kind', '=', 'outbox.deliver')
    .execute()
  await db.close()
  return rows.map(({ payload }) => (JSON.parse(payload) as { inboxUrl: string }).inboxUrl)
}
