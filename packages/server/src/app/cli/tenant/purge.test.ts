import { readdir } from 'node:fs/promises'
import { createAction, createApiKey, type IdTag, putSetting, uploadFile } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommandLine } from '#harness/command-line.ts'
import { filledTables, fillTenant, historyOfOthers } from '#harness/full-tenant.ts'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import { TestClock } from '#harness/test-clock.ts'
import type { TestServer } from '#harness/test-server.ts'
import { tablesIn, tracesIn } from '#harness/traces.ts'
import { listTenantTables, serverTenant, type TenantId } from '#infra/db/index.ts'
import { systemClock } from '#lib/clock.ts'

const baseTag = 'home.localhost'
// A running server takes so long to notice what a command did.
const noticedMs = 5_001

let beside: LineBesideServer
let line: CommandLine
let server: TestServer
// Behind, so that a suspension by the server is noticed everywhere when a command looks at it.
const clock = new TestClock(systemClock.now() - 3 * 3_600_000)

beforeAll(async () => {
  beside = await openLineBesideServer({ clock })
  ;({ line, server } = beside)
})
afterAll(() => beside?.[Symbol.asyncDispose]())

const tenantOf = async (idTag: string) => server.running.features.identity.tenants.find(idTag as never)
const discover = (idTag: string) => server.request(baseTag, `/.well-known/service/id-tag?idTag=${idTag}`)

describe('tenant purge', () => {
  /** Every row of the database that is of the tenant's number or holds one of the words. */
  const traces = (tenantId: number, words: readonly string[]) =>
    tracesIn(`${line.dataDir}/kith.db`, { tenantId, words }).map(({ table, text }) => `${table}: ${text}`)

  test('needs a word, and a suspension', async () => {
    await server.createTenant('jill.localhost')
    expect(await line.fails('tenant', 'purge', 'jill.localhost')).toMatchObject({
      exitCode: 2,
      message: 'Everything of jill.localhost would be removed: add --yes',
    })
    expect(await line.fails('tenant', 'purge', 'jill.localhost', '--yes')).toMatchObject({
      exitCode: 1,
      code: 'E-STATE',
      message: 'jill.localhost is active. Suspend it first: kith tenant suspend jill.localhost',
    })
    expect(await tenantOf('jill.localhost')).toBeDefined()
  })

  test('leaves nothing of the tenant in any table or on disk, and of others everything', async () => {
    const idTag = 'leaving.localhost'
    await server.createTenant(idTag, { email: 'leaving@example.org' })
    const { tenantId } = (await tenantOf(idTag))!
    const client = await server.as(idTag)
    const base = await server.as(baseTag)
    const upload = (by: typeof client, text: string) =>
      by.upload(uploadFile, {
        params: { preset: 'raw', fileName: 'note.txt' },
        body: new Blob([text], { type: 'text/plain' }),
      })
    const { data: file } = await upload(client, 'quokka bytes')
    await upload(base, 'quokka bytes')
    await client.call(createAction, {
      body: { type: 'POST', content: { text: 'quokka' }, attachments: [file.fileId] },
    })
    await client.call(createAction, {
      body: { type: 'POST', content: { text: 'quokka later' }, publishAt: 2_000_000_000 },
    })
    await client.call(createApiKey, { body: { name: 'quokka key' } })
    await client.call(putSetting, { params: { name: 'ui.quokka' }, query: {}, body: { value: 'quokka' } })
    await line.json('ref', 'create', 'password-reset', '--tenant', idTag)
    await server.settle()
    expect(traces(tenantId, ['quokka']).length).toBeGreaterThan(8)
    expect(await readdir(`${line.dataDir}/blobs`)).toContain(String(tenantId))

    await server.suspend(idTag)
    const { removed } = await line.json('tenant', 'purge', idTag, '--yes')
    expect(removed).toMatchObject({ blobs: 1 })
    expect(removed.rows).toBeGreaterThan(8)
    const left = traces(tenantId, ['quokka', 'leaving'])
    expect(left).toEqual([
      expect.stringMatching(/^audit_log: .*reference\.created.*leaving\.localhost/),
      expect.stringMatching(/^audit_log: .*tenant\.purged.*leaving\.localhost/),
      expect.stringMatching(/^quarantined_names: 0 leaving\.localhost \d+$/),
    ])
    expect(await readdir(`${line.dataDir}/blobs`)).not.toContain(String(tenantId))
    expect((await line.json('blobs', 'verify', '--deep', '--tenant', baseTag)).blobs).toBe(1)

    expect(await line.fails('tenant', 'purge', idTag, '--yes')).toMatchObject({ exitCode: 1 })
    clock.advance(noticedMs)
    expect((await discover(idTag)).status).toBe(404)
    expect((await line.json('tenant', 'create', idTag)).tenant.idTag).toBe(idTag)
  })

  test('takes the rows of a tenant from every table that can have any', async () => {
    const idTag = 'lively.localhost' as IdTag
    await fillTenant(server, idTag, 'numbat')
    const { tenantId } = (await tenantOf(idTag))!
    const tables = (await listTenantTables(server.db.reader(serverTenant))).map(({ name }) => name)
    const filled = await filledTables(server, tenantId)
    expect(tables.filter((name) => !filled.includes(name)).sort()).toEqual([...leftEmpty].sort())
    const others = (await Array.fromAsync(eachOther(tenantId), ({ tenantId: number }) => number)).concat(
      serverTenant,
    )
    const folders = async () => (await readdir(line.dataDir, { recursive: true })).filter(isOf(tenantId))
    expect(await folders()).not.toEqual([])

    await server.suspend(idTag)
    await line.json('tenant', 'purge', idTag, '--yes')
    expect(await filledTables(server, tenantId)).toEqual([])
    expect(await folders()).toEqual([])
    const left = tracesIn(`${line.dataDir}/kith.db`, { tenantId, words: ['lively', 'numbat'] })
    expect(left.filter((row) => row.tenantId === tenantId)).toEqual([])
    expect(tablesIn(left)).toEqual([...historyOfOthers].sort())
    const ofServer = left.filter(({ table }) => ['audit_log', 'quarantined_names'].includes(table))
    expect(ofServer.map(({ table, text }) => `${table} ${text}`)).toEqual([
      expect.stringMatching(/^audit_log .*tenant\.purged.*lively\.localhost/),
      expect.stringMatching(/^quarantined_names 0 lively\.localhost \d+$/),
    ])
    for (const row of left.filter((one) => !Number.isNaN(one.tenantId)))
      expect(others).toContain(row.tenantId)
  })
})

async function* eachOther(tenantId: TenantId) {
  const { tenants } = server.running.features.identity
  for (const tenant of await tenants.list({ limit: 1000 })) if (tenant.tenantId !== tenantId) yield tenant
}

/** Does a path below the data directory lead to something of a tenant? */
function isOf(tenantId: TenantId): (path: string) => boolean {
  return (path) => path.split('/').includes(String(tenantId))
}

// In these `fillTenant` makes no row. Of the server itself, or of its base tenant.
const ofServer = [
  ...['acme_accounts', 'acme_challenges', 'certificates', 'domain_blocks', 'identities', 'proxy_sites'],
  ...['quarantined_names', 'server_admins', 'token_secrets', 'unfinished_registrations', 'waiting_tokens'],
]
// While something is done, for less than a moment; `search_backlog` after an upgrade alone.
const passing = ['blob_claims', 'fan_outs', 'folder_changes', 'rtdb_locks', 'search_backlog']
// Of communities, of shares that others give on, of deletions that come before what they delete, of visits to other servers.
const ofOthersActs = ['link_invitations', 'share_bases', 'tombstones', 'visited_hosts', 'visitor_logouts']
const leftEmpty = [...ofServer, ...passing, ...ofOthersActs]
