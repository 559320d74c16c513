import { encodeCursor, type IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { actionLabMigrations } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { planStatements } from '#harness/recorded-statements.ts'
import type { TenantId } from '#infra/db/index.ts'
import { listConversationPage } from './conversation-list-store.ts'
import { conversationsMigrations } from './index.ts'
import { listMessagePage } from './message-list-store.ts'

const tenantId = 1 as TenantId
const looking = { ownTag: 'alice.example.com' as IdTag, now: 1 }

eachDialect('A page of conversations', (open) => {
  test.each([false, true])('is read from indexes, whatever is blocked: %s', async (hasBlocksOrMutes) => {
    const db = await open.forPlans({ migrations: [...actionLabMigrations, ...conversationsMigrations] })
    const steps = await planStatements(db, async (recorded) => {
      const page = { limit: 20, cursor: undefined }
      await listConversationPage(recorded.reader(tenantId), { ...looking, hasBlocksOrMutes }, page)
    })
    const read = steps.filter((step) => / (c|m)(_\d)?( |$)/.test(step.trim()))
    expect(read.length).toBeGreaterThanOrEqual(3)
    for (const step of read) expect(step).toMatch(/SEARCH|Index (Only )?Scan/)
    expect(steps.filter((step) => /TEMP B-TREE|Seq Scan|^\s*(->)?\s*Sort /.test(step))).toEqual([])
    const messages = read.filter((step) => / m( |$)/.test(step.trim()))
    if (db.dialect === 'sqlite')
      for (const step of messages)
        expect(step).toContain('(tenant_id=? AND conversation_id=? AND position>?)')
  })
})

eachDialect('A page of messages', (open) => {
  test.each([
    { direction: 'asc', hasBlocksOrMutes: false, beyond: '>' },
    { direction: 'desc', hasBlocksOrMutes: true, beyond: '<' },
  ] as const)('is read from its place in an index, however many there are: %j', async (given) => {
    const { direction, hasBlocksOrMutes, beyond } = given
    const db = await open.forPlans({ migrations: [...actionLabMigrations, ...conversationsMigrations] })
    const steps = await planStatements(db, async (recorded) => {
      const reader = recorded.reader(tenantId)
      const page = { conversationId: 'c', direction, limit: 20 }
      const cursor = encodeCursor({ s: 'arrived', v: 5, id: 5 })
      const asked = { ...looking, hasBlocksOrMutes }
      await listMessagePage(reader, asked, { ...page, cursor, from: undefined })
      await listMessagePage(reader, asked, { ...page, cursor: undefined, from: 5 })
    })
    expect(
      steps.filter((step) => /TEMP B-TREE|Seq Scan|^\s*(->)?\s*(Incremental )?Sort /.test(step)),
    ).toEqual([])
    const messages = steps.filter((step) => / m( |$)/.test(step.trim()))
    expect(messages).toHaveLength(2)
    if (db.dialect === 'sqlite')
      for (const step of messages)
        expect(step).toContain(`(tenant_id=? AND conversation_id=? AND position${beyond}?)`)
    else
      expect(
        steps.filter(
          (step) =>
            /Index Cond: .*"?position"? [<>]/.test(step) || /Index Cond: .*ROW\(.*position/.test(step),
        ),
      ).toHaveLength(2)
  })
})
