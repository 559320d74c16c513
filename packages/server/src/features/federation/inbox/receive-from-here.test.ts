import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { startInbox, tenant } from '#harness/inbox-lab.ts'
import { receiveFromHere } from './receive-from-here.ts'

eachDialect('what is sent on this server', (open) => {
  test('reaches tenants of this server, waits for suspended ones, and skips blocked ones', async () => {
    const inbox = await startInbox(open)
    // Suspended tenants are among those that the server blocks.
    const [taking, blocked, suspended] = [tenant(1), tenant(2), tenant(3, 5)]
    for (const { idTag } of [blocked, suspended]) inbox.says.blocked.add(idTag)
    const hosted = [taking, blocked, suspended]
    const find = async (idTag: string) => hosted.find((it) => it.idTag === idTag) as never
    const recipients = [tenant(4), ...hosted].map(({ idTag }) => idTag)
    await receiveFromHere({ ...inbox.deps, tenants: { find } }, inbox.token(), recipients)
    expect(inbox.storedAt()).toEqual([1])
    expect((await inbox.queued('inbox.hold')).map((it) => it.tenant_id)).toEqual([3])
  })
})
