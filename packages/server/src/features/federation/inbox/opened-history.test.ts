import type { ActionId, ActionTypeName } from '@kith/protocol'
import { expect, test } from 'vitest'
import type { StoredAction } from '#features/actions/action.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { dora, eve, startInbox } from '#harness/inbox-lab.ts'
import type { TenantId } from '#infra/db/index.ts'
import { queueDeliveredHistory, queueReceivedHistory } from './opened-history.ts'

const one = 1 as TenantId
const actionId = `a1~${'A'.repeat(43)}` as ActionId

/** An action of dora for eve. */
function action(type: ActionTypeName, status: 'A' | 'C', subType?: string): StoredAction {
  const between = { issuerTag: dora, audienceTag: eve, audience: [], attachments: [], visibility: null }
  const said: Partial<StoredAction> = { type, status, actionId, ...between, createdAt: 1, issuedAt: 1 }
  return { ...said, subType, isMarked: false } as StoredAction
}

eachDialect('history is asked for', (open) => {
  test.each<[string, StoredAction, string | undefined, string | undefined]>([
    ['a follow', action('FLLW', 'A'), undefined, eve],
    ['the end of a follow', action('FLLW', 'A', 'DEL'), undefined, undefined],
    ['a connection', action('CONN', 'A'), dora, eve],
    ['a connection that waits for an answer', action('CONN', 'C'), undefined, undefined],
    ['a post', action('POST', 'A'), undefined, undefined],
  ])('after %s', async (_, said, ofReceived, ofDelivered) => {
    const { deps, db, queued } = await startInbox(open)
    const asked = async () =>
      (await queued('inbox.fetch-history')).map(({ tenant_id, payload }) => [
        tenant_id,
        JSON.parse(payload).idTag,
      ])
    const expected = (idTag: string | undefined) => (idTag ? [[one, idTag]] : [])
    await db.transact(one, (tx) => queueReceivedHistory(deps, tx, said))
    expect(await asked()).toEqual(expected(ofReceived))
    await queueDeliveredHistory(deps, one, said)
    expect(await asked()).toEqual([...expected(ofReceived), ...expected(ofDelivered)])
  })
})
