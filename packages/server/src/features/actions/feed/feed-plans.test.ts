import { join } from 'node:path'
import type { IdTag } from '@kith/protocol'
import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { viewerOf } from '#features/relations/index.ts'
import { actionLab, guest, identity } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import type { Caller } from '#infra/caller/index.ts'
import type { Database, Migration, Reader } from '#infra/db/index.ts'
import type { ActionFilter, ActionOrder } from './action-filter.ts'
import { listValues } from './feed-query-store.ts'
import { buildList, listFeed } from './feed-store.ts'

const friend = 'bob.example.com' as IdTag
// The version whose plans are recorded: that of Debian 12.
const plansOfPostgres = 15
const filled = ['actions', 'action_recipients', 'action_tags', 'action_texts']
/** A plan also depends on the pages that a vacuum has marked, and autovacuum would come at any moment. */
const unvacuumed: Migration = {
  id: 'unvacuumed',
  up: async (schema) => {
    for (const table of filled)
      await schema.run({ postgres: `alter table ${table} set (autovacuum_enabled = off)`, sqlite: undefined })
  },
}
const newest: ActionOrder = { direction: 'desc', limit: 20 }
const oldest: ActionOrder = { ...newest, direction: 'asc' }
const next: ActionOrder = { ...newest, after: { createdAt: 5, seq: 5 } }
const owner = identity('alice.example.com', { isOwner: true })
const visitor = identity(friend)

const cases: [string, Caller, ActionFilter, ActionOrder][] = [
  ['the owner’s feed', owner, {}, newest],
  ['its next page', owner, {}, next],
  ['it from the oldest', owner, {}, oldest],
  ['a page of it by offset', owner, {}, { ...newest, offset: 40 }],
  ['what is not the owner’s own', owner, { excludeOwn: true }, newest],
  ['a visitor’s feed', visitor, {}, newest],
  ['what is public', guest, {}, newest],
  ['the next page of it', guest, {}, next],
  ['one type', owner, { types: ['MSG'] }, newest],
  ['one type of what is public', guest, { types: ['MSG'] }, newest],
  ['several types', owner, { types: ['POST', 'MSG', 'ACK'] }, newest],
  ['their next page', owner, { types: ['POST', 'MSG', 'ACK'] }, next],
  ['several types of what is public', guest, { types: ['POST', 'MSG', 'ACK'] }, newest],
  ['several types for a visitor', visitor, { types: ['POST', 'MSG'] }, oldest],
  ['one issuer', owner, { issuer: friend }, newest],
  ['one issuer of what is public', guest, { issuer: friend }, newest],
  ['one issuer for a visitor', visitor, { issuer: friend }, newest],
  ['the next page of one issuer for a visitor', visitor, { issuer: friend }, next],
  ['one audience', owner, { audience: friend }, newest],
  ['its next page of one audience', owner, { audience: friend }, next],
  ['one audience of what is public', guest, { audience: friend }, newest],
  ['one audience for a visitor', visitor, { audience: friend }, newest],
  ['one involved', owner, { involved: friend }, newest],
  ['the next page of one involved', owner, { involved: friend }, next],
  ['one involved in what is public', guest, { involved: friend }, newest],
  ['one involved for a visitor', visitor, { involved: friend }, newest],
  ['one involved, in several types', owner, { involved: friend, types: ['MSG', 'ACK'] }, newest],
  ['one involved and a tag for a visitor', visitor, { involved: friend, tag: 'garden' }, newest],
  ['the comments on an action', owner, { parentId: 'a1' }, newest],
  ['the comments on an action for guests', guest, { parentId: 'a1' }, newest],
  ['the comments on an action for a visitor', visitor, { parentId: 'a1' }, newest],
  ['a thread', owner, { rootId: 'a1' }, newest],
  ['a thread for guests', guest, { rootId: 'a1' }, newest],
  ['a thread for a visitor', visitor, { rootId: 'a1' }, newest],
  ['what is about something', owner, { subject: 'a1' }, newest],
  ['what is about something for guests', guest, { subject: 'a1' }, newest],
  ['what is about something for a visitor', visitor, { subject: 'a1' }, newest],
  ['by ids', owner, { actionIds: ['a1', 'a2'] }, newest],
  ['after a time', owner, { createdAfter: 5 }, newest],
  ['before a time', owner, { createdBefore: 5 }, newest],
  ['public before a time', guest, { createdBefore: 5 }, newest],
  ['of an audience after a time', owner, { audience: friend, createdAfter: 5 }, newest],
  ['drafts', owner, { statuses: ['R'] }, newest],
  ['drafts, scheduled and deleted ones', owner, { statuses: ['R', 'S', 'D'] }, newest],
  ['a visitor’s drafts', visitor, { statuses: ['R', 'D'] }, newest],
  ['what is verified still', owner, { statuses: ['P'] }, newest],
  ['what is new', owner, { statuses: ['N'] }, newest],
  ['what awaits an answer', owner, { statuses: ['C'] }, newest],
  ['what is new or awaits an answer', owner, { statuses: ['C', 'N'] }, newest],
  ['a tag', owner, { tag: 'garden' }, newest],
  ['the next page of a tag', owner, { tag: 'garden' }, next],
  ['a tag from the oldest', owner, { tag: 'garden' }, oldest],
  ['a tag of what is public', guest, { tag: 'garden' }, newest],
  ['a tag for a visitor', visitor, { tag: 'garden' }, newest],
  ['the next page of a tag for a visitor', visitor, { tag: 'garden' }, next],
  ['one issuer and a type', owner, { issuer: friend, types: ['MSG'] }, newest],
  ['one issuer and a type of what is public', guest, { issuer: friend, types: ['MSG'] }, newest],
  ['what is about something with a tag for guests', guest, { subject: 'a1', tag: 'garden' }, newest],
  ['what is about something with a tag for a visitor', visitor, { subject: 'a1', tag: 'garden' }, newest],
  ['words', owner, { search: 'garden' }, newest],
  ['the next page of words', owner, { search: 'garden' }, next],
  ['words from the oldest', owner, { search: 'garden' }, oldest],
  ['words of one issuer in what is public', guest, { search: 'garden', issuer: friend }, newest],
  ['words for a visitor', visitor, { search: 'garden' }, newest],
  ['words and a tag before a time', owner, { search: 'garden', tag: 'garden', createdBefore: 5 }, newest],
]

// Most servers silence nobody. Where one does, the issuer of each row is looked up, which these plans do not show.
const silencesNobody = ['silences-no-identity', 'silences-no-domain'] as const

eachDialect('a list of actions', (open) => {
  const openLab = actionLab(open)
  // A list of migrations that no other test has: what PostgreSQL knows of the tables comes from this test alone.
  const openFilledLab = actionLab(open, [unvacuumed])

  test('is the same on every database', async () => {
    const { makeTenant } = await openLab()
    const { tenant, reader } = await makeTenant('alice.example.com')
    for (const [, caller, filter, order] of cases) {
      const viewer = viewerOf(tenant, caller, { hasBlocksOrMutes: true })
      expect(await listFeed(reader, { viewer, filter, order, now: 1 })).toEqual([])
    }
  })

  test('is read by the recorded plans', async ({ skip }) => {
    const { db, makeTenant } = await openFilledLab()
    const { tenant, reader } = await makeTenant('alice.example.com')
    if (db.dialect === 'postgres') {
      if ((await versionOf(reader)) !== plansOfPostgres)
        skip(`needs PostgreSQL ${plansOfPostgres}: others may put a plan in other words`)
      await fill(db, tenant.tenantId)
    }
    const plans: string[] = []
    for (const [name, caller, filter, order] of cases) {
      const steps = await stepsOf(reader, { caller, filter, order, tenant })
      plans.push(`${name}\n${steps.map((step) => `  ${step}\n`).join('')}`)
    }
    const file = join(import.meta.dirname, 'feed-plans', `${db.dialect}.txt`)
    await expect(plans.join('\n')).toMatchFileSnapshot(file)
  })

  if (open.dialect === 'sqlite') {
    // Lists of ids look up their few rows and sort them.
    const read = cases.filter(([, , filter]) => !filter.actionIds)
    test.each(read)('is read without rows that it does not show: %s', async (...given) => {
      const [, caller, filter, order] = given
      const { makeTenant } = await openLab()
      const { tenant, reader } = await makeTenant('alice.example.com')
      const steps = await stepsOf(reader, { caller, filter, order, tenant })
      // FTS5 gives matches in the order of the list (64: by rowid, 128: backwards). Only one page of them is sorted.
      const found = steps.filter((step) => !/^SCAN w VIRTUAL TABLE INDEX (64|192):/.test(step))
      const isMatches = found.length < steps.length
      const sorts = isMatches ? 'TEMP B-TREE FOR (?!ORDER BY)' : 'TEMP B-TREE (?!FOR LAST TERM)'
      expect(found.filter((step) => new RegExp(`^SCAN (?!k$)|${sorts}`).test(step))).toEqual([])
      if (order.after && !isMatches) expect(steps.join()).toMatch(/created_at[,<>)]/)
    })

    const visits = read.filter(
      ([, caller, { statuses, search }]) => caller !== owner && !statuses && search === undefined,
    )
    test.each(visits)('is read without what visitors may not see: %s', async (...given) => {
      const [, caller, filter, order] = given
      const { makeTenant } = await openLab()
      const { tenant, reader } = await makeTenant('alice.example.com')
      const steps = await stepsOf(reader, { caller, filter, order, tenant })
      const { all, shown } = await indexesOfShown(reader)
      // These look up the rows of a single action.
      const ofOne = ['sqlite_autoindex_actions_1', 'action_recipients_tag', 'action_tags_of']
      const ofAll = all.filter((name) => !shown.includes(name) && !ofOne.includes(name))
      expect(steps.filter((step) => ofAll.some((name) => step.includes(` ${name} `)))).toEqual([])
    })
  }
})

async function versionOf(reader: Reader): Promise<number> {
  const { number } = await (reader.tables() as Kysely<unknown>)
    .selectNoFrom(sql<string>`current_setting('server_version_num')`.as('number'))
    .executeTakeFirstOrThrow()
  return Math.floor(Number(number) / 10_000)
}

/** The indexes of what visitors of a person may see, and those of all actions. */
async function indexesOfShown(reader: Reader): Promise<{ readonly shown: string[]; readonly all: string[] }> {
  const indexes = await (reader.tables() as unknown as Kysely<{ sqlite_master: Record<string, string> }>)
    .selectFrom('sqlite_master')
    .select(['name', 'sql'])
    .where('type', '=', 'index')
    .where('tbl_name', 'in', ['actions', 'action_tags', 'action_recipients'])
    .execute()
  const names = (some: typeof indexes) => some.map(({ name = '' }) => name)
  return {
    all: names(indexes),
    shown: names(indexes.filter(({ sql: text }) => /feed_only|is_public/.test(text ?? ''))),
  }
}

/** Enough rows that PostgreSQL does not treat a table as small. */
async function fill(db: Database, tenantId: number): Promise<void> {
  const rows = sql`generate_series(1, 20000) as g`
  await db.transact(tenantId as never, async (tx) => {
    const tables = tx.tables() as Kysely<unknown>
    await sql`insert into actions (tenant_id, action_id, type, issuer_tag, author_tag, audience_tag, audience, parent_id,
        root_id, within_id, subject, visibility, status, created_at, issued_at, marked, feed_only, content)
      select ${tenantId} + g % 4, 'a' || g, (array['POST', 'POST', 'MSG', 'ACK', 'REACT', 'CMNT', 'SHRE'])[1 + g % 7],
        'peer' || g % 101, case when g % 50 = 0 then 'bob.example.com' end,
        case when g % 3 = 0 then 'peer' || g % 97 end, case when g % 11 = 0 then '[]' end,
        case when g % 7 = 5 then 'a' || g % 500 end, case when g % 7 = 5 then 'a' || g % 500 end,
        case when g % 7 = 5 then 'a' || g % 500 end, case when g % 7 in (3, 4) then 'a' || g % 700 end,
        (array['P', 'F', null])[1 + g % 3], (array['A', 'C', 'D', 'R', 'P'])[1 + case when g % 20 < 16 then 0
          else g % 5 end], g, g, case when g % 200 = 0 then 1 else 0 end,
        case when g % 3 = 0 then 1 else 0 end, '{}' from ${rows}`.execute(tables)
    await sql`insert into action_recipients (tenant_id, action_id, id_tag, created_at, feed_only)
      select ${tenantId} + g % 4, 'a' || g, 'peer' || g % 89, g, case when g % 3 = 0 then 1 else 0 end from ${rows} where g % 11 = 0`.execute(
      tables,
    )
    await sql`insert into action_tags (tenant_id, action_id, tag, created_at, feed_only, is_public)
      select ${tenantId} + g % 4, 'a' || g, 'tag' || g % 40, g,
        case when g % 3 = 0 then 1 else 0 end, case when g % 3 = 1 then 1 else 0 end from ${rows}`.execute(
      tables,
    )
    await sql`insert into action_texts (tenant_id, seq, body)
      select ${tenantId} + g % 4, g, to_tsvector('simple', 'word' || g % 300) from ${rows}`.execute(tables)
  })
  await db.transact(tenantId as never, async (tx) => {
    const tables = tx.tables() as Kysely<unknown>
    for (const table of [...filled, 'profiles']) await sql`analyze ${sql.ref(table)}`.execute(tables)
  })
}

/** The steps by which a database finds the rows of a list, without what it looks up for each row. */
async function stepsOf(
  reader: Reader,
  list: {
    readonly tenant: Parameters<typeof viewerOf>[0]
    readonly caller: Caller
    readonly filter: ActionFilter
    readonly order: ActionOrder
  },
): Promise<string[]> {
  const { tenant, caller, filter, order } = list
  const viewer = viewerOf(tenant, caller, { hasBlocksOrMutes: true, silences: silencesNobody })
  const values: Record<string, string | number> = {
    ...listValues(reader, { viewer, filter, now: 1 }),
    ...{ limit: 21, offset: order.offset ?? 0, reach: 61, placeAt: 5, placeSeq: 5 },
  }
  const value = (name: string) => sql<string | number>`${values[name]}`
  const how = { value, dialect: reader.dialect }
  const built = buildList(reader.tables(), how, { viewer, filter, order, now: 1 })
  if (reader.dialect === 'sqlite') {
    const plan = (await built?.explain(undefined, sql`query plan`)) as { detail: string }[]
    const isStep = /^(SEARCH|SCAN) (a|t|r|k|w)\b|TEMP B-TREE|MERGE/
    return plan.map(({ detail }) => detail).filter((step) => isStep.test(step))
  }
  const plan = (await built?.explain(undefined, sql`costs off`)) as { 'QUERY PLAN': string }[]
  const isStep = /(Scan|Sort|Append|Join|Loop|Index Cond:|Sort Key:)/
  return withoutSubPlans(plan.map((row) => row['QUERY PLAN'])).filter((line) => isStep.test(line))
}

/** PostgreSQL indents the steps for each found row below `SubPlan`. */
function withoutSubPlans(lines: readonly string[]): string[] {
  let hidden = Number.POSITIVE_INFINITY
  return lines.filter((line) => {
    const indent = line.search(/\S/)
    if (indent <= hidden) hidden = /^\s*SubPlan/.test(line) ? indent : Number.POSITIVE_INFINITY
    return hidden === Number.POSITIVE_INFINITY
  })
}
