import type { ActionId, ActionTypeName, IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { findText } from '#harness/find-text.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import { findStoredAction, insertAction } from '../action-store.ts'
import {
  actionTableMigrations,
  endorsementMigrations,
  unverifiedActionsMigrations,
} from '../actions-migrations.ts'
import { claimKey, putAnswer } from '../compose/idempotency-store.ts'
import { compactSearch } from '../search/reindex-actions.ts'
import { erasedActionsMigrations } from './erased-actions-migrations.ts'

const tenantId = 7 as TenantId
const older = [...actionTableMigrations, ...unverifiedActionsMigrations, ...endorsementMigrations]

eachDialect('a database in which deleted actions kept their text', (open) => {
  test('loses it, and nothing else', async () => {
    const before = await open({ migrations: older })
    await fill(before)
    expect(await findText(before, tenantId, 'deletedword')).toEqual(
      expect.arrayContaining(['actions.content', 'actions.x', 'action_tags.tag', 'idempotency_keys.answer']),
    )
    const db = await open.again(before, { migrations: [...older, ...erasedActionsMigrations] })
    await compactSearch({ db })
    expect(await findText(db, tenantId, 'deletedword')).toEqual([])
    const stored = (id: string) => findStoredAction(db.reader(tenantId), id as ActionId)
    expect(await stored('a1~deleted')).toMatchObject({
      ...{ status: 'D', type: 'POST', issuedAt: 5, visibility: 'P', parentId: 'a1~parent' },
      ...{ content: undefined, attachments: [], x: undefined, token: undefined, nonce: undefined },
    })
    expect(await stored('a1~reaction')).toMatchObject({
      token: 'a.reaction',
      subject: 'a1~live',
      subType: 'LIKE',
    })
    const kept = { content: { text: 'keptword', tags: ['keptword'] } }
    expect(await stored('a1~refused')).toMatchObject({ ...kept, x: { refused: 'E-STATE' } })
    expect(await stored('a1~live')).toMatchObject({ ...kept, status: 'A', token: 'a.live' })
    expect(await findText(db, tenantId, 'keptword')).toEqual(
      expect.arrayContaining(['actions.content', 'action_tags.tag', 'idempotency_keys.answer']),
    )
  })
})

async function fill(db: Database): Promise<void> {
  const say = (word: string) => ({ content: { text: word, tags: [word] } })
  const file = `b1~${'A'.repeat(43)}` as StoredAction['attachments'][number]
  const actions = [
    made('deleted', {
      ...say('deletedword'),
      ...{ x: { note: 'deletedword' }, flags: 'deletedword', subject: 'deletedword', attachments: [file] },
      parentId: 'a1~parent' as ActionId,
    }),
    made('refused', { ...say('keptword'), x: { refused: 'E-STATE' }, token: undefined }),
    made('reaction', { type: 'REACT', subType: 'LIKE', subject: 'a1~live' }),
    made('live', say('keptword')),
  ]
  await db.transact(tenantId, async (tx) => {
    for (const action of actions) {
      await insertAction(tx, action)
      const key = { callerTag: action.issuerTag, key: action.actionId, bodyHash: 'h' }
      await claimKey(tx, key, { actionId: action.actionId, now: 5 })
      await putAnswer(tx, key, action)
    }
    await tx
      .tables<{ actions: { action_id: string; status: string } }>()
      .updateTable('actions')
      .set({ status: 'D' })
      .where('action_id', '<>', 'a1~live')
      .execute()
  })
}

function made(name: string, members: Partial<StoredAction>): StoredAction {
  return {
    type: 'POST' as ActionTypeName,
    ...{ subType: undefined, parentId: undefined, rootId: undefined, withinId: undefined },
    ...{ audienceTag: undefined, audience: [], content: undefined, attachments: [], subject: undefined },
    ...{ expiresAt: undefined, visibility: 'P', flags: undefined, x: undefined, authorTag: undefined },
    actionId: `a1~${name}` as ActionId,
    issuerTag: 'alice.example.com' as IdTag,
    ...{ status: 'A', isMarked: false, createdAt: 5, issuedAt: 5, publishedAt: 5, publishAt: undefined },
    nonce: name,
    token: `a.${name}`,
    ...members,
  }
}
