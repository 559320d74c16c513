import type { IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { type Viewer, viewerOf } from '#features/visibility/index.ts'
import { actionLab, guest, identity } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import type { Caller } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { ActionFilter, ActionOrder } from './action-filter.ts'
import { listValues } from './feed-query-store.ts'
import { buildList, listFeed } from './feed-store.ts'

const friend = 'bob.example.com' as IdTag
const newest: ActionOrder = { direction: 'desc', limit: 20 }
const place = { createdAt: 5, seq: 5 }
const owner = identity('alice.example.com', { isOwner: true })

const cases: [string, Caller, ActionFilter, ActionOrder, string][] = [
  ['the owner’s feed', owner, {}, newest, 'actions_feed'],
  ['its next page', owner, {}, { ...newest, after: place }, 'actions_feed'],
  ['it from the oldest', owner, {}, { ...newest, direction: 'asc' }, 'actions_feed'],
  ['a visitor’s feed', identity(friend), {}, newest, 'actions_feed'],
  ['what is public', guest, {}, newest, 'actions_public'],
  ['the next page of it', guest, {}, { ...newest, after: place }, 'actions_public'],
  ['one type', owner, { types: ['MSG'] }, newest, 'actions_by_type'],
  ['one issuer', owner, { issuer: friend }, newest, 'actions_by_issuer'],
  ['the comments on an action', owner, { parentId: 'a' }, newest, 'actions_by_parent'],
  ['a thread', owner, { rootId: 'a' }, newest, 'actions_by_root'],
  ['what is about something', owner, { subject: 'a' }, newest, 'actions_by_subject'],
  ['drafts', owner, { statuses: ['R'] }, newest, 'actions_unlisted'],
  ['what is new', owner, { statuses: ['N'] }, newest, 'actions_marked'],
]

eachDialect('a list of actions', (open) => {
  const openLab = actionLab(open)

  test('is the same on every database', async () => {
    const { makeTenant } = await openLab()
    const { tenant, reader } = await makeTenant('alice.example.com')
    for (const [, caller, filter, order] of cases) {
      const viewer = viewerOf(tenant, caller, { hushes: true })
      expect(await listFeed(reader, { viewer, filter, order, now: 1 })).toEqual([])
    }
  })

  // PostgreSQL plans by what the tables hold, which in a test is nothing.
  if (open.dialect !== 'sqlite') return

  describe('is read through an index, in its order:', () => {
    test.each(cases)('%s', async (_, caller, filter, order, index) => {
      const { db, makeTenant } = await openLab()
      const { tenant, reader } = await makeTenant('alice.example.com')
      const viewer = viewerOf(tenant, caller, { hushes: true })
      const steps = await stepsOf(reader, { viewer, filter, order })
      expect(steps[0]).toMatch(new RegExp(`^SEARCH a USING (COVERING )?INDEX ${index} \\(`))
      if (order.after) expect(steps[0]).toMatch(/created_at|\(created_at,seq\)/)
      expect(steps.filter((step) => /^SCAN|TEMP B-TREE/.test(step))).toEqual([])
      await db.ping()
    })
  })

  test.each([newest, { ...newest, after: place }, { ...newest, direction: 'asc' as const }])(
    'with a tag is read through the index of tags, and sorted only within a second: %o',
    async (order) => {
      const { makeTenant } = await openLab()
      const { tenant, reader } = await makeTenant('alice.example.com')
      const viewer = viewerOf(tenant, owner, { hushes: true })
      const steps = await stepsOf(reader, { viewer, filter: { tag: 'garden' }, order })
      expect(steps[0]).toMatch(/^SEARCH t USING COVERING INDEX action_tags_times \(tenant_id=\? AND tag=\?/)
      if (order.after) expect(steps[0]).toContain('created_at<?')
      expect(steps[1]).toMatch(/^SEARCH a USING INDEX .*\(tenant_id=\? AND action_id=\?\)/)
      const others = steps.filter((step) => /^SCAN|TEMP B-TREE/.test(step))
      expect(others).toEqual(['USE TEMP B-TREE FOR LAST TERM OF ORDER BY'])
    },
  )

  test('with words is looked up in the index of words first', async () => {
    const { makeTenant } = await openLab()
    const { tenant, reader } = await makeTenant('alice.example.com')
    const viewer = viewerOf(tenant, owner, { hushes: true })
    const steps = await stepsOf(reader, { viewer, filter: { search: 'garden' }, order: newest })
    expect(steps.filter((step) => /^SCAN/.test(step))).toEqual([
      expect.stringMatching(/^SCAN action_texts VIRTUAL TABLE INDEX/),
    ])
  })

  test('by their ids looks up just those', async () => {
    const { makeTenant } = await openLab()
    const { tenant, reader } = await makeTenant('alice.example.com')
    const viewer = viewerOf(tenant, owner, {})
    const steps = await stepsOf(reader, { viewer, filter: { actionIds: ['a', 'b'] }, order: newest })
    expect(steps[0]).toMatch(/\(tenant_id=\? AND action_id=\?\)/)
  })
})

/** What SQLite does for a list, step by step. */
async function stepsOf(
  reader: Reader,
  query: { readonly viewer: Viewer; readonly filter: ActionFilter; readonly order: ActionOrder },
): Promise<string[]> {
  const { viewer, filter } = query
  const values: Record<string, string | number> = {
    ...listValues(reader, { viewer, filter, now: 1 }),
    ...{ limit: 21, placeAt: 5, placeSeq: 5 },
  }
  const value = (name: string) => sql<string | number>`${values[name]}`
  const built = buildList(reader.tables(), { value, dialect: reader.dialect }, { ...query, now: 1 })
  const plan = (await built?.explain(undefined, sql`query plan`)) as { detail: string }[]
  return plan.map(({ detail }) => detail)
}
