import type { IdTag } from '@kith/protocol'
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { changeRelation } from '#features/relations/index.ts'
import { suspendTenant } from '#features/tenants/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { openSignInSite, refused, type SignInSite } from '#harness/sign-in-site.ts'
import type { Identified } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { giveProxyToken } from '../sign-in/get-proxy-token.ts'
import { logOutElsewhereJob } from './log-out-elsewhere.ts'
import { insertVisit } from './visited-host-store.ts'

const carol = 'carol.example.org' as IdTag

const ask = (site: SignInSite, token: string, target: string) =>
  site.ask('GET', `/api/auth/proxy-token?target=${target}`, { token })

async function nameFor(site: SignInSite, token: string, target: string): Promise<string> {
  return `${decodeJwt((await ask(site, token, target)).json.data.token).sid}`
}

const queued = async ({ db, alice }: SignInSite) => {
  const rows = await db
    .reader(alice.tenantId)
    .tables<{ jobs: { kind: string; payload: string } }>()
    .selectFrom('jobs')
    .select('payload')
    .where('kind', '=', logOutElsewhereJob.name)
    .execute()
  return rows.map(({ payload }) => JSON.parse(payload) as { target: string; sid: string })
}

eachDialect('the visits of a tenant', (open) => {
  test('are a thousand: the oldest is logged out, and comes back under another name', async () => {
    const site = await openSignInSite(open)
    for (const idTag of [carol, 'dave.example.org' as IdTag]) site.world.addRemote(idTag)
    const token = await site.login(site.alice)
    const first = await nameFor(site, token, carol)
    const now = nowSecs(site.clock)
    await site.db.transact(site.alice.tenantId, async (tx) => {
      for (let at = 0; at < 999; at += 1) {
        const visit = { target: `x${at}.example.org` as IdTag, sid: 'other', name: `name-${at}` }
        await insertVisit(tx, visit, { at: now + 1, endsAt: undefined })
      }
    })
    site.clock.advance(2000)
    expect(await nameFor(site, token, carol)).toBe(first)
    expect(await queued(site)).toEqual([])
    await nameFor(site, token, 'dave.example.org')
    expect(await queued(site)).toEqual([{ target: carol, sid: first }])
    const second = await nameFor(site, token, carol)
    expect(second).not.toBe(first)
    expect((await queued(site)).map(({ target }) => target).toSorted()).toEqual([carol, 'x0.example.org'])
  })

  test('of two at the same time have one name', async () => {
    const site = await openSignInSite(open)
    site.world.addRemote(carol)
    const token = await site.login(site.alice)
    const names = await Promise.all(Array.from({ length: 10 }, () => nameFor(site, token, carol)))
    expect(new Set(names).size).toBe(1)
  })

  test('are none at an identity that is blocked, or of an account that is suspended, while it is looked for', async () => {
    const site = await openSignInSite(open)
    const { alice: tenant, clock } = site
    const bearer = await site.login(tenant)
    const { caller } = await site.authenticator.authenticate({ tenant, bearer, ip: '192.0.2.1' })
    const meanwhile = (change: (tx: Writer) => Promise<unknown>) =>
      giveProxyToken(
        {
          ...site.deps,
          async findServerUrl() {
            await site.db.transact(tenant.tenantId, change)
            return 'https://carol.example.org'
          },
        },
        { tenant, caller: caller as Identified, target: carol },
      )
    const block = { isBlocked: true, at: nowSecs(clock) }
    await expect(meanwhile((tx) => changeRelation(tx, carol, block))).rejects.toMatchObject({
      code: 'E-AUTH-FORBIDDEN',
    })
    await site.db.transact(tenant.tenantId, (tx) => changeRelation(tx, carol, { ...block, isBlocked: false }))
    const suspend = (tx: Writer) => suspendTenant({ ...site.deps, revokeSessions: async () => undefined }, tx)
    await expect(meanwhile(suspend)).rejects.toMatchObject({ code: 'E-AUTH-UNAUTH' })
    expect(await queued(site)).toEqual([])
  })

  test('are none where the identity does not exist, and nothing is noted of it', async () => {
    const site = await openSignInSite(open)
    const token = await site.login(site.alice)
    refused(await ask(site, token, 'nobody.example.org'), 404, 'E-PROFILE-NOTFOUND')
    const rows = site.db.reader(site.alice.tenantId).tables<{ visited_hosts: object }>()
    expect(await rows.selectFrom('visited_hosts').selectAll().execute()).toEqual([])
  })
})
