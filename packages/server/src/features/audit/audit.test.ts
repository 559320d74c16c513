import { encodeCursor } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { openSignInSite, refused } from '#harness/sign-in-site.ts'
import { audit } from './index.ts'
import { listAuditLog } from './list-audit-log.ts'

const dayMs = 24 * 3_600_000

eachDialect('the audit trail', (open) => {
  async function start() {
    const site = await openSignInSite(open)
    const write = (tenantId: typeof site.alice.tenantId, turn: number) =>
      site.db.transact(tenantId, (tx) =>
        audit(site, tx, { event: 'sign-in.failed', ip: '203.0.113.7', details: { turn } }),
      )
    const token = await site.login(site.alice)
    const read = (query = '') => site.ask('GET', `/api/audit${query}`, { token })
    return { ...site, read, token, write }
  }

  test('is walked newest first, without a gap while lines come in', async () => {
    const site = await start()
    for (let turn = 1; turn <= 5; turn += 1) {
      site.clock.advance(1000)
      await site.write(site.alice.tenantId, turn)
    }
    const first = await site.read('?limit=2')
    expect(first.json.data.map((entry: { details: object }) => entry.details)).toEqual([
      { turn: 5 },
      { turn: 4 },
    ])
    expect(first.json.data[0]).toMatchObject({ event: 'sign-in.failed', ipAddress: '203.0.113.7' })
    await site.write(site.alice.tenantId, 6)
    const { nextCursor } = first.json.cursorPagination
    const second = await site.read(`?limit=2&cursor=${nextCursor}`)
    expect(second.json.data.map((entry: { details: object }) => entry.details)).toEqual([
      { turn: 3 },
      { turn: 2 },
    ])
    const beyond = encodeCursor({ s: 'at', v: 1e300, id: 'a' })
    for (const cursor of ['nonsense', beyond])
      refused(await site.read(`?cursor=${cursor}`), 400, 'E-VALIDATION')
  })

  test('is shown for 180 days', async () => {
    const site = await start()
    await site.write(site.alice.tenantId, 1)
    site.clock.advance(180 * dayMs)
    await site.write(site.alice.tenantId, 2)
    const turns = async () => {
      const { items } = await listAuditLog(site, { tenant: site.alice, limit: 50 })
      return items.flatMap(({ details }) => ('turn' in details ? [details.turn] : []))
    }
    expect(await turns()).toEqual([2, 1])
    site.clock.advance(1)
    expect(await turns()).toEqual([2])
  })

  test('is the owner’s alone, of one tenant', async () => {
    const site = await start()
    await site.write(site.bob.tenantId, 9)
    const { json } = await site.read('?limit=200')
    expect(JSON.stringify(json.data)).not.toContain('"turn":9')
    refused(await site.ask('GET', '/api/audit'), 401, 'E-AUTH-UNAUTH')
    refused(
      await site.ask('GET', '/api/audit', { token: site.token, host: 'bob.example.com' }),
      401,
      'E-AUTH-UNAUTH',
    )
  })
})
