import { describe, expect, test } from 'vitest'
import { hashOfToken } from '#features/actions/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { club, dora, eve, forged, type Inbox, startInbox, tenant } from '#harness/inbox-lab.ts'
import type { TenantId } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { fetchHistory } from './fetch-history.ts'

eachDialect('a history', (open) => {
  const { signal } = new AbortController()
  const fetchOf = ({ deps }: Inbox, idTag = dora) =>
    fetchHistory(deps, { idTag }, { tenantId: 1 as TenantId, signal })
  const storedIds = ({ stored }: Inbox) => stored.map(({ actionId }) => actionId)
  const counts = (inbox: Inbox, issuerTag = eve) =>
    inbox.token(
      { type: 'STAT', subject: inbox.token().actionId, exp: nowSecs(inbox.clock) + 86_400 },
      issuerTag,
    )
  /** A token of an author and its announcement by the club, which names it by its hash. */
  const announce = (inbox: Inbox, issuerTag = dora, signature?: string) => {
    const inner = inbox.token({ audienceTag: club }, issuerTag, signature)
    const naming = { type: 'ANNC', subject: inner.actionId, content: { hash: hashOfToken(inner.token) } }
    return { inner, outer: inbox.token(naming, club) }
  }

  test('is of the last 30 days, and arrives at the tenant that asked', async () => {
    const inbox = await startInbox(open)
    inbox.says.concerned = [tenant(2), tenant(1)]
    const [one, two, withdrawn] = [inbox.token(), inbox.token(), inbox.token()]
    const withdrawing = inbox.token({ subType: 'DEL', subject: withdrawn.actionId })
    const expired = inbox.token({ exp: nowSecs(inbox.clock) })
    const bad = [inbox.token({}, dora, forged).token, expired.token, 'hello']
    inbox.says.history = [one.token, ...bad, withdrawing.token, two.token]
    await fetchOf(inbox)
    expect(inbox.asked[0]).toBe(`${dora} since ${nowSecs(inbox.clock) - 30 * 86_400} for t1.example`)
    expect(storedIds(inbox)).toEqual([one.actionId, withdrawing.actionId, two.actionId])
    expect(inbox.storedAt()).toEqual([1, 1, 1])
    expect(await inbox.withdrawn()).toEqual([withdrawn.actionId])
  })

  test('that concerns only others is ignored', async () => {
    const inbox = await startInbox(open)
    inbox.says.history = [inbox.token().token]
    const findConcerned = async () => [tenant(2)]
    await fetchHistory({ ...inbox.deps, findConcerned }, { idTag: dora }, { tenantId: 1 as TenantId, signal })
    expect(inbox.stored).toEqual([])
  })

  test('is not requested for missing or suspended tenants, nor of blocked identities', async () => {
    const inbox = await startInbox(open)
    inbox.says.concerned = []
    await fetchOf(inbox)
    inbox.says.concerned = [tenant(1, 5)]
    await fetchOf(inbox)
    inbox.says.concerned = [tenant(1)]
    inbox.says.blocked.add(dora)
    await fetchOf(inbox)
    expect(inbox.asked).toEqual([])
  })

  test('is read up to 650 tokens', async () => {
    const inbox = await startInbox(open)
    const [last, more] = [inbox.token(), inbox.token()]
    inbox.says.history = [...Array(649).fill('hello'), last.token, more.token]
    await fetchOf(inbox)
    expect(storedIds(inbox)).toEqual([last.actionId])
  })

  test('is requested again when the keys of its issuer cannot be fetched', async () => {
    const inbox = await startInbox(open)
    inbox.says.unreachable.add(dora)
    inbox.says.history = [inbox.token().token]
    await expect(fetchOf(inbox)).rejects.toMatchObject({ verdict: { kind: 'retry' } })
    expect(await inbox.queued('inbox.verify-later')).toEqual([])
  })

  test('has of others what it announces, and the counts of their actions', async () => {
    const inbox = await startInbox(open)
    const { inner, outer } = announce(inbox)
    const alone = announce(inbox)
    const stat = counts(inbox)
    const hashless = inbox.token({ content: { hash: 7 } }, club)
    const own = inbox.token({ content: undefined }, club)
    inbox.says.history = [outer, inner, alone.outer, inbox.token({}, eve), hashless, own, stat].map(
      ({ token }) => token,
    )
    await fetchOf(inbox, club)
    expect(inbox.stored).toEqual([
      { tenantId: 1, actionId: outer.actionId, announced: inner.actionId },
      { tenantId: 1, actionId: hashless.actionId },
      { tenantId: 1, actionId: own.actionId },
      { tenantId: 1, actionId: stat.actionId },
    ])
  })

  describe('with a part by another issuer', () => {
    const parts: [string, (inbox: Inbox) => string[]][] = [
      ['that is announced', (inbox) => Object.values(announce(inbox)).map(({ token }) => token)],
      ['that is a count', (inbox) => [counts(inbox, dora).token]],
    ]
    test.each(parts)(
      '%s does not wait when that cannot be verified now, and stores it later',
      async (_, part) => {
        const inbox = await startInbox(open)
        inbox.says.unreachable.add(dora)
        const own = inbox.token({}, club)
        inbox.says.history = [...part(inbox), own.token]
        await fetchOf(inbox, club)
        expect(storedIds(inbox)).toEqual([own.actionId])
        expect(await inbox.queued('inbox.verify-later')).toHaveLength(1)
      },
    )

    test.each(parts)('%s does not even verify that when the server blocks its issuer', async (_, part) => {
      const inbox = await startInbox(open)
      inbox.says.blocked.add(dora)
      inbox.says.history = part(inbox)
      await fetchOf(inbox, club)
      expect(inbox.stored).toEqual([])
      expect(inbox.asked).toEqual([expect.stringContaining(`${club} since`)])
    })
  })

  test('continues after a forged announced token, and stops at a failure of this server', async () => {
    const inbox = await startInbox(open)
    const { inner, outer } = announce(inbox, dora, forged)
    const own = inbox.token({}, club)
    inbox.says.history = [outer.token, inner.token, own.token]
    await fetchOf(inbox, club)
    expect(storedIds(inbox)).toEqual([own.actionId])
    inbox.says.history.pop()
    const verify = () => Promise.reject(new TypeError('broken'))
    const broken = { ...inbox.deps, verifier: { verify } }
    const context = { tenantId: 1 as TenantId, signal }
    await expect(fetchHistory(broken, { idTag: club }, context)).rejects.toThrow('broken')
  })
})
