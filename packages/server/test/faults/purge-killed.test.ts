import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type IdTag, listTenants, login, purgeTenant, resumeTenant } from '@kith/protocol'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ClockedProcess } from '#harness/clocked-process.ts'
import { CommandLine } from '#harness/command-line.ts'
import { CuttableLink } from '#harness/cuttable-link.ts'
import { filledTables, fillTenant, historyOfOthers } from '#harness/full-tenant.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer, testPassword } from '#harness/test-server.ts'
import { tablesIn, tracesIn } from '#harness/traces.ts'

const baseIdTag = 'home.localhost'
const idTag = 'lively.localhost' as IdTag
// So many that a removal takes a while, and more than a tenant can write.
const manyRows = 100_000
const leaseMs = 120_000

let folder: string
let dataDir: string
let link: CuttableLink
let nowMs: number

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-purge-'))
  dataDir = join(folder, 'data')
  link = await CuttableLink.open()
})
afterEach(async () => {
  await link[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** A stopped server with a tenant that has much of everything; answers its number. */
async function makeTenant(): Promise<number> {
  const clock = new TestClock()
  const server = await TestServer.start({ baseIdTag, dataDir, clock, link })
  await fillTenant(server, idTag, 'numbat')
  const tenant = await server.running.features.identity.tenants.find(idTag)
  const tenantId = tenant?.tenantId
  if (tenantId === undefined) throw new Error(`${idTag} is missing`)
  expect(await filledTables(server, tenantId)).toEqual(
    expect.arrayContaining([
      ...['files', 'blobs', 'crdt_snapshots', 'rtdb_documents', 'sessions', 'push_subscriptions', 'uploads'],
    ]),
  )
  await server.stop()
  nowMs = clock.now()
  const db = new DatabaseSync(join(dataDir, 'kith.db'))
  db.prepare(
    `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ?)
    insert into settings select ?, 'ui.many.' || n, '"numbat"', null, 0, 8, 0 from numbers`,
  ).run(manyRows, tenantId)
  db.close()
  return tenantId
}

function countSettings(tenantId: number): number {
  const db = new DatabaseSync(join(dataDir, 'kith.db'), { readOnly: true })
  const row = db.prepare('select count(*) as count from settings where tenant_id = ?').get(tenantId)
  db.close()
  return Number(row?.count)
}

async function start(): Promise<ClockedProcess> {
  const process = await ClockedProcess.start({
    baseIdTag,
    dataDir,
    linkPort: link.port,
    identityHosts: {},
    nowMs,
  })
  link.leadTo(process.port)
  return process
}

async function administrator(process: ClockedProcess) {
  const body = { idTag: baseIdTag, password: testPassword }
  const { data } = await process.client(baseIdTag).call(login, { body })
  return process.client(baseIdTag, data.token)
}

async function pass(process: ClockedProcess, ms: number): Promise<void> {
  nowMs += ms
  await process.obey({ kind: 'advance', ms })
  await process.obey({ kind: 'settle' })
}

test('a removal whose server is killed goes on with the next one, to the last row', async () => {
  const tenantId = await makeTenant()
  const first = await start()
  const admin = await administrator(first)
  const { data: asked } = await admin.call(purgeTenant, { params: { idTag } })
  const body = asked.confirm === undefined ? {} : { confirm: asked.confirm }
  await admin.call(purgeTenant, { params: { idTag }, body })
  const removing = pass(first, 6_000).catch(() => 'killed')
  const before = countSettings(tenantId)
  while (countSettings(tenantId) === before) await new Promise((resolve) => setImmediate(resolve))
  await first.kill()
  expect(await removing).toBe('killed')
  const half = countSettings(tenantId)
  expect(half).toBeGreaterThan(0)
  expect(half).toBeLessThan(before)

  await using line = await CommandLine.open({ BASE_ID_TAG: baseIdTag, DATA_DIR: dataDir })
  const refused = { exitCode: 1, code: 'E-STATE', message: 'This tenant is being removed.' }
  expect(await line.fails('tenant', 'resume', idTag)).toEqual(refused)
  expect(await line.fails('export', idTag, '--to', join(folder, 'half.tar'))).toEqual(refused)

  await using second = await start()
  const again = await administrator(second)
  await expect(again.call(resumeTenant, { params: { idTag } })).rejects.toMatchObject({
    status: 409,
    code: 'E-STATE',
  })
  // Until then the job belongs to the process that is dead.
  await pass(second, leaseMs)
  expect((await again.call(listTenants, { query: { q: idTag } })).data).toEqual([])
  const left = tracesIn(join(dataDir, 'kith.db'), { tenantId, words: [idTag, 'numbat'] })
  expect(left.filter((row) => row.tenantId === tenantId)).toEqual([])
  expect(tablesIn(left).filter((table) => !historyOfOthers.includes(table))).toEqual([])
  const ofServer = left.filter(({ tenantId: number }) => number === 0)
  expect(ofServer.map(({ table }) => table)).toEqual(['quarantined_names'])
  const purged = left.filter(({ table, text }) => table === 'audit_log' && text.includes('tenant.purged'))
  expect(purged).toHaveLength(1)
  expect(await readdir(join(dataDir, 'blobs'))).not.toContain(String(tenantId))
})
