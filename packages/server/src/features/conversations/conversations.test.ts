import {
  type Action,
  type ActionId,
  type Conversation,
  listConversations,
  listMessages,
  markConversationRead,
} from '@kith/protocol'
import { expect, test } from 'vitest'
import { changeRelation } from '#features/relations/index.ts'
import { type ActionLab, type Actor, actionLab } from '#harness/action-lab.ts'
import { callEndpoint } from '#harness/call-endpoint.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { recordReader } from '#harness/recorded-statements.ts'
import { type Database, openDatabase } from '#infra/db/index.ts'
import { conversationOf } from './conversation.ts'
import { conversationEndpoints, conversationsMigrations, noteMessage } from './index.ts'

eachDialect('Conversations', (open) => {
  const openLab = actionLab(open, conversationsMigrations)

  async function start(...names: string[]) {
    const lab = await openLab()
    const told: string[] = []
    const emit = async (_: unknown, { conversationId }: { conversationId: string }) =>
      void told.push(conversationId)
    const emitBefore = lab.ports.emit
    Object.assign(lab.ports, {
      emit: async (...[tx, event]: Parameters<typeof emitBefore>) => {
        await emitBefore(tx, event)
        if ('action' in event) await noteMessage({ emit }, tx, event)
      },
    })
    const endpoints = conversationEndpoints({ ...lab.ports, emit })
    const people: Actor[] = []
    for (const name of names) people.push(await lab.makeTenant(`${name}.example.com`))
    for (const one of people) for (const other of people) if (one !== other) await relate(lab, one, other)
    const list = async ({ tenant, caller }: Actor, query = {}) =>
      callEndpoint(endpoints, listConversations, { tenant, caller, query }) as unknown as Promise<{
        items: Conversation[]
        nextCursor: string | null
      }>
    const mark = ({ tenant, caller }: Actor, conversationId: string, upTo: string) =>
      callEndpoint(endpoints, markConversationRead, {
        tenant,
        caller,
        params: { conversationId },
        body: { upTo },
      })
    const say = async (from: Actor, to: readonly Actor[] | string, text: string, more = {}) => {
      const address = typeof to === 'string' ? { parentId: to } : { audience: to.map(({ idTag }) => idTag) }
      const { actionId } = await from.create({ type: 'MSG', content: { text }, ...address, ...more })
      await lab.settle()
      return actionId
    }
    const read = ({ tenant, caller }: Actor, conversationId: string, query = {}) =>
      callEndpoint(endpoints, listMessages, {
        tenant,
        caller,
        params: { conversationId },
        query,
      }) as unknown as Promise<{ items: Action[]; nextCursor: string | null }>
    return { lab, people, list, mark, read, say, told }
  }
  const relate = (lab: ActionLab, one: Actor, other: Actor, change: object = { isFollowing: true }) =>
    lab.db.transact(one.tenant.tenantId, (tx) => changeRelation(tx, other.idTag, { ...change, at: 1 }))
  const seen = ({ items }: { items: readonly Conversation[] }) =>
    items.map(({ participants, lastMessage, unread }) => [
      participants.map(({ name }) => name).join(),
      lastMessage?.content?.text,
      unread,
    ])

  test('are one for two identities, and for more one under each first message', async () => {
    const { lab, people, list, say } = await start('alice', 'bob', 'carol')
    const [alice, bob, carol] = people as [Actor, Actor, Actor]
    const first = await say(alice, [bob], 'Tea?')
    await say(bob, first, 'Yes.')
    lab.tick()
    await say(alice, [bob], 'Another matter')
    lab.tick()
    const lunch = await say(alice, [bob, carol], 'Lunch?')
    lab.tick()
    await say(carol, lunch, 'At one.')
    lab.tick()
    await say(alice, [carol, bob], 'Dinner?')
    expect(seen(await list(bob))).toEqual([
      ['alice,carol', 'Dinner?', 1],
      ['alice,carol', 'At one.', 2],
      ['alice', 'Another matter', 2],
    ])
    expect(seen(await list(alice))).toEqual([
      ['bob,carol', 'Dinner?', 0],
      ['bob,carol', 'At one.', 1],
      ['bob', 'Another matter', 1],
    ])
    const [ofAlice, ofBob] = [await list(alice), await list(bob)]
    expect(ofBob.items.map((item) => item.conversationId)).toEqual(
      ofAlice.items.map((item) => item.conversationId),
    )
    expect(ofAlice.items.map(({ rootId }) => rootId)).toEqual([expect.any(String), lunch, undefined])
  })

  test('are paged without loss, and their number of queries does not grow', async () => {
    const { lab, people, list, say } = await start('alice', 'bob', 'carol', 'dora')
    const [alice, ...others] = people as [Actor, ...Actor[]]
    for (const other of others) await say(other, [alice], `from ${other.idTag}`)
    const found: string[] = []
    let cursor: string | undefined
    do {
      const page = await list(alice, { limit: 1, ...(cursor && { cursor }) })
      found.push(...page.items.map(({ participants }) => participants[0]?.name ?? ''))
      cursor = page.nextCursor ?? undefined
    } while (cursor)
    expect(found.toSorted()).toEqual(['bob', 'carol', 'dora'])
    const statements: string[] = []
    const reader = lab.db.reader.bind(lab.db)
    const recorded = { ...lab.ports, emit: async () => {} }
    Object.assign(recorded, {
      db: new Proxy(lab.db, {
        get: (target, name) =>
          name === 'reader'
            ? (id: never) => recordReader(reader(id), (text) => statements.push(text))
            : Reflect.get(target, name),
      }) as Database,
    })
    const endpoints = conversationEndpoints(recorded)
    const counts: number[] = []
    for (const limit of [1, 3]) {
      statements.length = 0
      await callEndpoint(endpoints, listConversations, { ...alice, query: { limit } })
      counts.push(statements.length)
    }
    expect(counts[0]).toBe(counts[1])
  })

  test('are marked as read in the order of arrival, and never back', async () => {
    const { people, list, mark, say, told } = await start('alice', 'bob')
    const [alice, bob] = people as [Actor, Actor]
    const [one, two] = [await say(alice, [bob], 'One'), await say(alice, [bob], 'Two')]
    const { conversationId = '' } = (await list(bob)).items[0] ?? {}
    told.length = 0
    expect(await mark(bob, conversationId, one)).toEqual({ conversationId, unread: 1 })
    expect(await mark(bob, conversationId, two)).toEqual({ conversationId, unread: 0 })
    expect(told).toEqual([conversationId, conversationId])
    expect(await mark(bob, conversationId, one)).toEqual({ conversationId, unread: 0 })
    expect(told).toHaveLength(2)
    await say(alice, [bob], 'Three')
    expect(seen(await list(bob))).toEqual([['alice', 'Three', 1]])
    expect((await alice.list({ type: ['ACK'] })).length).toBe(0)
    for (const [id, upTo, code] of [
      [conversationId, `a1~${'A'.repeat(43)}`, 'E-ACTION-NOTFOUND'],
      [conversationId, 'nonsense', 'E-ACTION-NOTFOUND'],
      [`c1~${'A'.repeat(43)}`, one, 'E-NOTFOUND'],
    ] as const)
      await expect(mark(bob, id, upTo)).rejects.toMatchObject({ code })
  })

  const textsOf = ({ items }: { items: readonly Action[] }) => items.map(({ content }) => content?.text)

  test('open at the first unread message, and go on from there both ways', async () => {
    const { people, list, mark, read, say } = await start('alice', 'bob')
    const [alice, bob] = people as [Actor, Actor]
    const ids: string[] = []
    for (const text of ['1', '2', '3', '4', '5', '6']) ids.push(await say(alice, [bob], text))
    const own = await say(bob, [alice], 'own')
    const find = async () => (await list(bob)).items[0] as Conversation
    const { conversationId, firstUnreadId } = await find()
    expect(firstUnreadId).toBe(ids[0])
    await mark(bob, conversationId, ids[2] as string)
    const from = (await find()).firstUnreadId
    expect(from).toBe(ids[3])
    expect(textsOf(await read(bob, conversationId))).toEqual(['own', '6', '5', '4', '3', '2', '1'])
    const newer = await read(bob, conversationId, { from, sortDir: 'asc', limit: 2 })
    expect(textsOf(newer)).toEqual(['4', '5'])
    const cursor = newer.nextCursor
    expect(textsOf(await read(bob, conversationId, { from, sortDir: 'asc', cursor }))).toEqual(['6', 'own'])
    const older = await read(bob, conversationId, { from, limit: 3 })
    expect(textsOf(older)).toEqual(['4', '3', '2'])
    const last = await read(bob, conversationId, { from, cursor: older.nextCursor })
    expect([textsOf(last), last.nextCursor]).toEqual([['1'], null])
    await mark(bob, conversationId, own)
    expect(await find()).not.toHaveProperty('firstUnreadId')
    expect((await list(alice)).items[0]?.firstUnreadId).toBe(own)
  })

  test('show messages as lists of actions do, and only those that are shown', async () => {
    const { lab, people, list, read, say } = await start('alice', 'bob', 'carol')
    const [alice, bob, carol] = people as [Actor, Actor, Actor]
    const root = await say(carol, [alice, bob], 'All?')
    await say(bob, root, 'Yes.')
    await say(alice, root, 'Short', { expiresAt: Math.floor(lab.clock.now() / 1000) + 30 })
    const gone = await say(carol, root, 'Gone')
    await carol.remove(gone)
    await lab.settle()
    const { conversationId = '' } = (await list(alice)).items[0] ?? {}
    const { items } = await read(alice, conversationId)
    expect(textsOf({ items })).toEqual(['Short', 'Yes.', 'All?'])
    expect(items.at(-1)).toEqual((await alice.list({ type: ['MSG'], actionId: [root] }))[0])
    lab.tick(31)
    await relate(lab, alice, bob, { isMuted: true })
    expect(textsOf(await read(alice, conversationId))).toEqual(['All?'])
    const other = await say(carol, [alice], 'Alone')
    for (const [id, from, code] of [
      [conversationId, other, 'E-ACTION-NOTFOUND'],
      [conversationId, gone, 'E-ACTION-NOTFOUND'],
      [conversationId, 'nonsense', 'E-ACTION-NOTFOUND'],
      [`c1~${'A'.repeat(43)}`, undefined, 'E-NOTFOUND'],
    ] as const)
      await expect(read(alice, id, from && { from })).rejects.toMatchObject({ code })
    await expect(read(alice, conversationId, { cursor: 'x' })).rejects.toMatchObject({ code: 'E-VALIDATION' })
    const { conversationId: ofTwo = '' } = (await list(alice)).items.find((item) => !item.rootId) ?? {}
    await relate(lab, alice, carol, { isBlocked: true })
    await expect(read(alice, ofTwo)).rejects.toMatchObject({ code: 'E-NOTFOUND' })
  })

  test('lose messages that are deleted, and go with the last one', async () => {
    const { people, list, say, lab } = await start('alice', 'bob')
    const [alice, bob] = people as [Actor, Actor]
    const [one, two] = [await say(alice, [bob], 'One'), await say(alice, [bob], 'Two')]
    await alice.remove(two)
    await lab.settle()
    expect(seen(await list(bob))).toEqual([['alice', 'One', 1]])
    await alice.remove(one)
    await lab.settle()
    for (const who of [alice, bob]) expect(seen(await list(who))).toEqual([])
    await say(bob, [alice], 'Anew')
    expect(seen(await list(alice))).toEqual([['bob', 'Anew', 1]])
  })

  test('do not show drafts, nor messages that are over', async () => {
    const { people, list, say, lab } = await start('alice', 'bob')
    const [alice, bob] = people as [Actor, Actor]
    await say(alice, [bob], 'Stays')
    await say(alice, [bob], 'Draft', { draft: true })
    await say(alice, [bob], 'Short', { expiresAt: Math.floor(lab.clock.now() / 1000) + 30 })
    expect(seen(await list(bob))).toEqual([['alice', 'Short', 2]])
    lab.tick(31)
    expect(seen(await list(bob))).toEqual([['alice', 'Stays', 1]])
    expect(seen(await list(alice))).toEqual([['bob', 'Stays', 0]])
  })

  test.each([{ isMuted: true }, { isBlocked: true }])('leave out whom the tenant %j', async (change) => {
    const { people, list, mark, say, lab } = await start('alice', 'bob', 'carol')
    const [alice, bob, carol] = people as [Actor, Actor, Actor]
    await say(bob, [alice], 'Hello')
    const root = await say(carol, [alice, bob], 'All?')
    await say(bob, root, 'Yes.')
    const { conversationId = '' } = (await list(alice)).items.find((item) => !item.rootId) ?? {}
    await relate(lab, alice, bob, change)
    expect(seen(await list(alice))).toEqual([['bob,carol', 'All?', 1]])
    await expect(mark(alice, conversationId, root)).rejects.toMatchObject({ code: 'E-NOTFOUND' })
  })

  test('of strangers are requests until they are answered', async () => {
    const { people, list, say, lab } = await start('alice', 'bob')
    const [alice, bob] = people as [Actor, Actor]
    lab.settings.open.add('privacy.open_messages')
    const dora = await lab.makeTenant('dora.example.com')
    const hello = await say(dora, [alice], 'Do we know each other?')
    await say(bob, [alice], 'Hello')
    const flags = async () =>
      Object.fromEntries(
        (await list(alice)).items.map(({ participants, request }) => [participants[0]?.name, request]),
      )
    expect(await flags()).toEqual({ bob: undefined, dora: true })
    await say(alice, hello, 'We do now.')
    expect(await flags()).toEqual({ bob: undefined, dora: undefined })
  })

  test('take nothing from others who name a first message', async () => {
    const { lab, people, list, say } = await start('alice', 'bob', 'carol', 'eve')
    const [alice, bob, carol, eve] = people as [Actor, Actor, Actor, Actor]
    const rootId = await say(alice, [bob, carol], 'Among us')
    const members = { type: 'MSG', rootId, parentId: rootId, content: { text: 'Let me in' } }
    const audience = [alice.idTag, bob.idTag]
    await lab.receive(bob.tenant, await lab.forge(eve, { ...members, audienceTag: bob.idTag, audience }))
    expect(seen(await list(bob)).toSorted()).toEqual([
      ['alice,carol', 'Among us', 1],
      ['alice,eve', 'Let me in', 1],
    ])
  })

  test('count no further than a thousand', async () => {
    const { lab, people, list } = await start('alice', 'bob')
    const [alice, bob] = people as [Actor, Actor]
    const message = { issuerTag: alice.idTag, audienceTag: bob.idTag, audience: [], withinId: undefined }
    const { conversationId } = conversationOf({ actionId: 'a' as ActionId, ...message })
    await lab.db.transact(bob.tenant.tenantId, async (tx) => {
      const tables = tx.tables<Record<string, Record<string, unknown>>>()
      const key = { tenant_id: tx.tenantId, conversation_id: conversationId }
      const row = { participants: JSON.stringify([alice.idTag, bob.idTag]), other_tag: alice.idTag }
      const places = { last_at: 1, last_position: 1_500, read_position: 0 }
      await tables
        .insertInto('conversations')
        .values({ ...key, ...row, ...places, root_id: null, starter_tag: alice.idTag, has_own: 0 })
        .execute()
      const rows = Array.from({ length: 1_500 }, (_, at) => ({
        ...key,
        position: at + 1,
        action_id: `a${at}`,
        issuer_tag: alice.idTag,
        created_at: 1,
        expires_at: null,
      }))
      await tables.insertInto('conversation_messages').values(rows).execute()
    })
    expect((await list(bob)).items[0]?.unread).toBe(1_000)
  })
})

eachDialect('Messages of before', (open) => {
  test('are in conversations, read up to what was answered or dismissed', async () => {
    const { url } = await open.place()
    const { actionLabMigrations } = await import('#harness/action-lab.ts')
    const former = await openDatabase({ url, migrations: actionLabMigrations })
    const tenantId = 1 as never
    await former.transact(tenantId, async (tx) => {
      const tables = tx.tables<Record<string, Record<string, unknown>>>()
      const tenant = { tenant_id: 1, id_tag: 'alice.example.com', type: 'person', created_at: 0 }
      await tables.insertInto('tenants').values(tenant).execute()
      for (let at = 0; at < 1_200; at += 1) {
        const [issuer, audience] =
          at === 1_100 ? ['alice.example.com', 'bob.example.com'] : ['bob.example.com', 'alice.example.com']
        const row = { tenant_id: 1, action_id: `a${at}`, type: 'MSG', status: 'A', issuer_tag: issuer }
        await tables
          .insertInto('actions')
          .values({ ...row, audience_tag: audience, created_at: at, issued_at: at, marked: Number(at > 10) })
          .execute()
      }
      await tables.updateTable('actions').set({ marked: 0 }).where('action_id', '=', 'a1100').execute()
    })
    await former.close()
    const migrations = [...actionLabMigrations, ...conversationsMigrations]
    const db = await openDatabase({ url, migrations })
    const rows = await db
      .reader(tenantId)
      .tables<Record<string, Record<string, unknown>>>()
      .selectFrom('conversations')
      .selectAll()
      .execute()
    expect(rows).toMatchObject([
      {
        other_tag: 'bob.example.com',
        has_own: 1,
        last_at: 1_199,
        last_position: 1_200,
        read_position: 1_101,
      },
    ])
    await db.close()
  })
})
