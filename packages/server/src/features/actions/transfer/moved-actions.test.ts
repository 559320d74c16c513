import type { ActionId } from '@kith/protocol'
import { expect, test } from 'vitest'
import { type ActionLab, type Actor, actionLab, guest, readToken } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import type { TenantRow } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { confirmAction } from '../receive/pending-action.ts'
import { putMovedActions } from './put-moved-actions.ts'
import { readMovedAction } from './read-moved-action.ts'
import { listUnverified, listUnverifiedIssuers } from './unverified-store.ts'

type Row = Record<string, string | number | null>
const tables = ['actions', 'action_recipients', 'action_attachments', 'action_tags'] as const
type Tables = Record<(typeof tables)[number], Row>

eachDialect('actions that move', (open) => {
  const openLab = actionLab(open)

  async function start() {
    const lab = await openLab()
    const [alice, bob, carol] = [
      await lab.makeTenant('alice.example.com'),
      await lab.makeTenant('bob.example.com'),
      await lab.makeTenant('carol.example.com'),
    ]
    return { lab, alice, bob, carol }
  }

  /** The rows of a tenant as they stand, without their numbers. */
  async function rowsOf(lab: ActionLab, { tenant }: Actor): Promise<Record<string, Row[]>> {
    const reader = lab.db.reader(tenant.tenantId)
    const found: Record<string, Row[]> = {}
    for (const table of tables) {
      const rows = await reader
        .tables<Tables>()
        .selectFrom(table)
        .selectAll()
        .where('tenant_id', '=', tenant.tenantId)
        .orderBy(table === 'actions' ? 'seq' : 'action_id')
        .execute()
      found[table] = rows.map(({ seq: _, ...row }) => row)
    }
    return found
  }

  /** Takes away the rows of a tenant, and stores them again as those of an archive. */
  async function move(lab: ActionLab, { tenant }: Actor, change: (row: Row) => Row = (row) => row) {
    const { actions: rows = [] } = await rowsOf(lab, { tenant } as Actor)
    const deps = { tenant, now: nowSecs(lab.clock), isOwn: async () => true }
    const read = await Promise.all(
      rows.map(({ tenant_id: _, ...row }) => readMovedAction(deps, change(row) as TenantRow)),
    )
    const actions = read.filter((action) => action !== undefined)
    await lab.db.transact(tenant.tenantId, async (tx) => {
      for (const table of tables)
        await tx.tables<Tables>().deleteFrom(table).where('tenant_id', '=', tenant.tenantId).execute()
      await putMovedActions(tx, { tenant, actions })
    })
    return rows.length - actions.length
  }

  const confirm = (lab: ActionLab, { tenant }: Actor, actionId: ActionId) =>
    lab.db.transact(tenant.tenantId, (tx) => confirmAction(lab.ports, tx, { tenant, actionId }))

  /** Everything that a person may hold, some of it ended. */
  async function fill({ lab, alice, bob, carol }: Awaited<ReturnType<typeof start>>) {
    const say = async (who: Actor, body: Parameters<Actor['create']>[0]) => {
      lab.tick()
      const { actionId } = await who.create(body)
      await lab.settle()
      return actionId as ActionId
    }
    for (const [from, to] of [
      [alice, bob],
      [bob, alice],
      [carol, alice],
      [carol, bob],
    ] as const)
      await say(from, { type: 'FLLW', audienceTag: to.idTag })
    await say(carol, { type: 'CONN', audienceTag: bob.idTag })
    const postId = await say(bob, {
      type: 'POST',
      content: { text: 'a #tag', title: 'T' },
      visibility: 'P',
      attachments: [`b1~${'A'.repeat(43)}`] as never,
    })
    const hersId = await say(alice, { type: 'POST', content: { text: 'hers' }, visibility: 'P' })
    const narrowId = await say(alice, { type: 'POST', content: { text: 'for followers' }, visibility: 'F' })
    const several = [alice.idTag, carol.idTag]
    await say(bob, { type: 'POST', content: { text: 'to several' }, audience: several })
    const commentId = await say(alice, { type: 'CMNT', parentId: postId, content: { text: 'nice' } })
    await say(bob, { type: 'CMNT', parentId: commentId, content: { text: 'thanks' } })
    await say(bob, { type: 'CMNT', parentId: narrowId, content: { text: 'hm' } })
    for (const subType of ['LIKE', 'LOVE']) await say(alice, { type: 'REACT', subType, subject: postId })
    await say(bob, { type: 'REACT', subType: 'LIKE', subject: hersId })
    await say(bob, { type: 'REPOST', subject: hersId })
    const goneId = await say(bob, { type: 'POST', content: { text: 'gone' }, visibility: 'P' })
    await bob.remove(goneId)
    await lab.settle()
    const herGoneId = await say(alice, { type: 'POST', content: { text: 'gone too' }, visibility: 'P' })
    await alice.remove(herGoneId)
    await lab.settle()
    await say(bob, { type: 'POST', content: { text: 'a draft' }, draft: true })
    await say(bob, { type: 'POST', content: { text: 'later' }, publishAt: nowSecs(lab.clock) + 86_400 })
    return { postId, hersId, commentId }
  }

  test('are the same where they come to, but that others’ are unverified', async () => {
    const started = await start()
    const { lab, bob } = started
    await fill(started)
    const before = await rowsOf(lab, bob)
    expect(before.actions?.filter(({ status }) => status === 'D').length).toBeGreaterThan(1)
    expect(await move(lab, bob)).toBe(0)
    const ended = { content: null, attachments: null, x: null, flags: null, audience: null }
    const actions = before.actions?.map((row): Row => {
      const isOwn = row.issuer_tag === bob.idTag
      const rest =
        row.status === 'D' ? { ...row, ...ended, ...(isOwn ? {} : { token: null, nonce: null }) } : row
      return { ...rest, unverified: Number(!isOwn) }
    })
    const after = await rowsOf(lab, bob)
    expect(after.actions).toEqual(actions)
    const live = new Set(actions?.flatMap(({ action_id, status }) => (status === 'D' ? [] : [action_id])))
    for (const table of tables.slice(1))
      expect(after[table]).toEqual(before[table]?.filter(({ action_id }) => live.has(action_id ?? '')))
  })

  test('are verified issuer by issuer, once', async () => {
    const started = await start()
    const { lab, alice, bob, carol } = started
    const { hersId } = await fill(started)
    await move(lab, bob)
    const reader = lab.db.reader(bob.tenant.tenantId)
    const issuers = await listUnverifiedIssuers(reader, { after: '', limit: 9 })
    expect(issuers).toEqual([alice.idTag, carol.idTag])
    expect(await listUnverifiedIssuers(reader, { after: alice.idTag, limit: 9 })).toEqual([carol.idTag])
    const query = { issuerTag: alice.idTag, after: 0, limit: 100 }
    const all = await listUnverified(reader, query)
    const [first] = await listUnverified(reader, { ...query, limit: 1 })
    expect(first).toEqual(all[0])
    expect(await listUnverified(reader, { ...query, after: first?.seq ?? 0 })).toEqual(all.slice(1))
    for (let time = 0; time < 2; time += 1) await confirm(lab, bob, hersId)
    expect((await listUnverified(reader, query)).map(({ actionId }) => actionId)).toEqual(
      all.map(({ actionId }) => actionId).filter((actionId) => actionId !== hersId),
    )
    expect(await bob.get(hersId)).not.toHaveProperty('unverified')
  })

  test.each<[string, Row]>([
    ['no token', { token: null }],
    ['a token that is none', { token: 'hello' }],
    ['the token of another action', { action_id: `a1~${'A'.repeat(43)}` }],
    ['the token of another issuer', { issuer_tag: 'carol.example.com' }],
  ])('and have %s are left out', async (_, wrong) => {
    const started = await start()
    const { hersId } = await fill(started)
    const change = (row: Row) => (row.action_id === hersId ? { ...row, ...wrong } : row)
    expect(await move(started.lab, started.bob, change)).toBe(1)
    await expect(started.bob.get(hersId)).rejects.toMatchObject({ code: 'E-ACTION-NOTFOUND' })
  })

  test.each(['before', 'after'])(
    'that came %s another text than they meant stay apart from it',
    async (order) => {
      const { lab, alice, bob, carol } = await start()
      for (const { idTag } of [alice, carol]) await bob.create({ type: 'FLLW', audienceTag: idTag })
      await lab.settle()
      const { actionId: subject } = await carol.create({
        type: 'POST',
        content: { text: 'poison' },
        visibility: 'P',
      })
      if (order === 'after') await lab.settle()
      const repost = { type: 'REPOST', subject, subjectHash: 'A'.repeat(43), visibility: 'P' }
      const token = await lab.forge(alice, repost)
      await lab.receive(bob.tenant, token)
      await lab.settle()
      await move(lab, bob, (row) => ({ ...row, mismatched: 0 }))
      expect(await bob.get(subject)).toMatchObject({ content: { text: 'poison' } })
      expect(await bob.get(readToken(token).actionId)).toMatchObject({ mismatched: true })
    },
  )

  test('do not publish another text by a repost', async () => {
    const { lab, bob, carol } = await start()
    await bob.create({ type: 'FLLW', audienceTag: carol.idTag })
    await lab.settle()
    const post = { type: 'POST', visibility: 'P', content: { text: 'kittens' } }
    const token = await lab.forge(carol, post)
    await lab.receive(bob.tenant, token)
    const { actionId, payload } = readToken(token)
    await bob.create({ type: 'REPOST', subject: actionId })
    expect(await bob.as(guest).get(actionId)).toMatchObject(post)
    const { nonce } = payload
    const other = await lab.forge(carol, { ...post, actionId, nonce, content: { text: 'poison' } })
    await move(lab, bob, (row) => (row.action_id === actionId ? { ...row, token: other } : row))
    await confirm(lab, bob, actionId)
    expect(await bob.get(actionId)).toMatchObject({ content: { text: 'poison' } })
    await expect(bob.as(guest).get(actionId)).rejects.toMatchObject({ code: 'E-ACTION-NOTFOUND' })
  })

  test('are drafts again where they could not be published', async () => {
    const { lab, alice, bob } = await start()
    const { actionId: parentId } = await alice.create({
      type: 'POST',
      content: { text: 'a' },
      visibility: 'P',
    })
    await lab.receive(bob.tenant, await lab.tokenOf(alice.tenant.tenantId, parentId as ActionId))
    const publishAt = nowSecs(lab.clock) + 60
    const { actionId } = await bob.create({ type: 'CMNT', parentId, content: { text: 'hm' }, publishAt })
    await bob.remove(parentId)
    lab.tick(60)
    await lab.settle()
    expect(await bob.stored(actionId)).toMatchObject({ status: 'D', x: { refused: 'E-ACTION-NOTFOUND' } })
    await move(lab, bob)
    const draft = await bob.get(actionId)
    expect(draft).toMatchObject({ status: 'R', content: { text: 'hm' } })
    expect(draft).not.toHaveProperty('x')
  })

  test('are accepted once they are verified', async () => {
    const { lab, bob, carol } = await start()
    const { actionId } = await carol.create({ type: 'CONN', audienceTag: bob.idTag })
    await lab.settle()
    await move(lab, bob)
    await expect(bob.accept(actionId)).rejects.toMatchObject({ code: 'E-STATE' })
    await confirm(lab, bob, actionId as ActionId)
    expect(await bob.accept(actionId)).toMatchObject({ status: 'A' })
  })

  test('that waited for their files are admitted once they are verified', async () => {
    const { lab, alice, bob } = await start()
    await bob.create({ type: 'FLLW', audienceTag: alice.idTag })
    await lab.settle()
    const fileId = `b1~${'B'.repeat(42)}A` as never
    lab.missingFiles.add(fileId)
    const { actionId } = await alice.create({ type: 'POST', content: { text: 'a' }, attachments: [fileId] })
    await lab.settle()
    await move(lab, bob)
    expect(await bob.get(actionId)).toMatchObject({ status: 'P', unverified: true })
    await confirm(lab, bob, actionId as ActionId)
    expect(await bob.get(actionId)).toMatchObject({ status: 'A' })
  })

  test('concern their tenant when their issuer deletes them, and otherwise once they are verified', async () => {
    const { lab, alice, bob, carol } = await start()
    await bob.create({ type: 'FLLW', audienceTag: alice.idTag })
    await lab.settle()
    const { actionId } = await alice.create({ type: 'POST', content: { text: 'a' }, visibility: 'P' })
    await lab.settle()
    await move(lab, bob)
    await carol.create({ type: 'CMNT', parentId: actionId, content: { text: 'nice' } }).catch(() => undefined)
    await alice.create({ type: 'CMNT', parentId: actionId, content: { text: 'first' } })
    await lab.settle()
    expect(await bob.list({ type: ['CMNT'] })).toEqual([])
    await alice.remove(actionId)
    await lab.settle()
    await expect(bob.get(actionId)).rejects.toMatchObject({ code: 'E-ACTION-NOTFOUND' })
  })
})
