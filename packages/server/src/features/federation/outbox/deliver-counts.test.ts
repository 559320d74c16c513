import type { ActionId, IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import type { StoredAction } from '#features/actions/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { startInbox } from '#harness/inbox-lab.ts'
import type { TenantId } from '#infra/db/index.ts'
import { queueDeliveredCounts } from './deliver-counts.ts'

const one = 1 as TenantId
const idOf = (letter: string) => `a1~${letter.repeat(43)}` as ActionId
const recipients = ['bob.example', 'carol.example'] as IdTag[]
const inboxUrl = 'https://bob.example/api/inbox'

eachDialect('when an action has arrived', (open) => {
  /** The deliveries of counts that are queued once an action of that type and subject has reached its recipients, when `counted` is
   * the only action that has counts. Without an `inboxUrl` the recipients are tenants of this server. */
  async function queuedAfter(
    reached: { readonly inboxUrl?: string },
    { type = 'POST', subject, counted }: { type?: string; subject?: string; counted?: ActionId },
  ) {
    const { db, deps, queued } = await startInbox(open)
    const action = { actionId: idOf('A'), type, subject } as StoredAction
    const delivered = { action, actionId: action.actionId, recipients, ...reached }
    const counts = { actionId: idOf('I'), token: 'a token' }
    const findCountsToken = async (_: unknown, of: ActionId) => (of === counted ? counts : undefined)
    for (let time = 0; time < 2; time += 1)
      await queueDeliveredCounts({ db, jobs: deps.jobs, findCountsToken }, one, delivered)
    const payloads = async (kind: string) => (await queued(kind)).map(({ payload }) => JSON.parse(payload))
    return {
      posted: await payloads('outbox.deliver-counts'),
      local: await payloads('outbox.count-locally'),
    }
  }

  test('its counts follow it into the inbox, once', async () => {
    const { posted, local } = await queuedAfter({ inboxUrl }, { counted: idOf('A') })
    expect(posted).toEqual([{ countsOf: idOf('A'), inboxUrl, recipients }])
    expect(local).toEqual([])
  })

  test('its counts follow it to tenants of this server', async () => {
    const { posted, local } = await queuedAfter({}, { counted: idOf('A') })
    expect(posted).toEqual([])
    expect(local).toContainEqual({ countsOf: idOf('A'), recipients })
  })

  test('nothing follows that was not counted', async () => {
    expect(await queuedAfter({ inboxUrl }, { counted: idOf('E') })).toEqual({ posted: [], local: [] })
  })

  test('with an announcement, the counts of what it announces follow', async () => {
    const announcing = { type: 'ANNC', subject: idOf('E') }
    const { posted } = await queuedAfter({ inboxUrl }, { ...announcing, counted: idOf('E') })
    expect(posted).toEqual([{ countsOf: idOf('E'), inboxUrl, recipients }])
    expect((await queuedAfter({ inboxUrl }, { ...announcing, counted: idOf('A') })).posted).toEqual([])
  })

  test('with anything else about an action, the counts of that do not follow', async () => {
    const about = { type: 'REACT', subject: idOf('E'), counted: idOf('E') }
    expect(await queuedAfter({ inboxUrl }, about)).toEqual({ posted: [], local: [] })
  })
})
