import { expect, test } from 'vitest'
import { hashOfToken } from '#features/actions/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { club, dora, forged, good, type Inbox, startInbox, tenant } from '#harness/inbox-lab.ts'
import { type LocalDeliveryDeps, receiveFromHere } from './receive-from-here.ts'

const clubId = 9

/** The inbox of a server on which the club and these are tenants. */
function depsOf(inbox: Inbox, hosted: readonly ReturnType<typeof tenant>[]): LocalDeliveryDeps {
  const here = [{ ...tenant(clubId), idTag: club }, ...hosted]
  const find = async (idTag: string) => here.find((it) => it.idTag === idTag) as never
  const findById = async (tenantId: number) => here.find((it) => it.tenantId === tenantId) as never
  return { ...inbox.deps, tenants: { find, findById } }
}

eachDialect('what is sent on this server', (open) => {
  test('reaches tenants of this server, waits for suspended ones, and skips blocked ones', async () => {
    const inbox = await startInbox(open)
    // Suspended tenants are among those that the server blocks.
    const [taking, blocked, suspended] = [tenant(1), tenant(2), tenant(3, 5)]
    for (const { idTag } of [blocked, suspended]) inbox.says.blocked.add(idTag)
    const hosted = [taking, blocked, suspended]
    const recipients = [tenant(4), ...hosted].map(({ idTag }) => idTag)
    await receiveFromHere(depsOf(inbox, hosted), inbox.token({}, club), recipients, clubId as never)
    expect(inbox.storedAt()).toEqual([1])
    expect((await inbox.queued('inbox.hold')).map((it) => it.tenant_id)).toEqual([3])
    expect(inbox.asked).toEqual([])
  })

  test('is verified where another issued it, or what it announces', async () => {
    const inbox = await startInbox(open)
    const receive = (sent: ReturnType<typeof inbox.token>, beside?: string) => {
      const delivery = { token: sent.token, ...(beside === undefined ? {} : { beside }) }
      return receiveFromHere(depsOf(inbox, [tenant(1)]), delivery, [tenant(1).idTag], clubId as never)
    }
    const announce = (signature: string) => {
      const inner = inbox.token({ audienceTag: club }, dora, signature)
      const outer = inbox.token(
        { type: 'ANNC', subject: inner.actionId, content: { hash: hashOfToken(inner.token) } },
        club,
      )
      return { inner, outer }
    }
    const lie = announce(forged)
    await receive(lie.outer, lie.inner.token)
    await receive(inbox.token({}, dora, forged))
    expect(inbox.storedAt()).toEqual([])
    const genuine = announce(good)
    inbox.says.unreachable.add(dora)
    await expect(receive(genuine.outer, genuine.inner.token)).rejects.toThrow('key cannot be had')
    inbox.says.unreachable.clear()
    await receive(genuine.outer, genuine.inner.token)
    expect(inbox.stored).toEqual([
      { tenantId: 1, actionId: genuine.outer.actionId, announced: genuine.inner.actionId },
    ])
  })
})
