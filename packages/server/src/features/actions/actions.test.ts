import { type ActionId, decodeCursor, encodeCursor, type IdTag } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { changeRelation, findRelation } from '#features/relations/index.ts'
import { type ActionLab, type Actor, actionLab, guest, identity, readToken } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'

const fileId = `b1~${'A'.repeat(43)}`
const text = (value: string) => ({ type: 'POST' as const, content: { text: value } })
const texts = (items: readonly { content?: unknown }[]) =>
  items.map(({ content }) => (content as { text?: string } | undefined)?.text)
const fails = (code: string) => expect.objectContaining({ code })

eachDialect('actions', (open) => {
  const openLab = actionLab(open)

  async function start(): Promise<{ lab: ActionLab; alice: Actor; bob: Actor }> {
    const lab = await openLab()
    return {
      lab,
      alice: await lab.makeTenant('alice.example.com'),
      bob: await lab.makeTenant('bob.example.com'),
    }
  }

  async function follow(lab: ActionLab, follower: Actor, followed: Actor) {
    const made = await follower.create({ type: 'FLLW', audienceTag: followed.idTag })
    await lab.settle()
    return made
  }

  describe('POST /api/actions', () => {
    test('makes a signed, active action', async () => {
      const { lab, alice } = await start()
      const made = await alice.create({
        ...text('Hello #world'),
        subject: 'https://example.com',
        flags: 'x',
        x: { mood: 'fine' },
        attachments: [fileId],
        expiresAt: 1_800_000_000,
      })
      expect(made).toEqual({
        actionId: expect.stringMatching(/^a1~[\w-]{43}$/),
        type: 'POST',
        issuerTag: alice.idTag,
        content: { text: 'Hello #world' },
        subject: 'https://example.com',
        flags: 'x',
        x: { mood: 'fine' },
        attachments: [fileId],
        expiresAt: 1_800_000_000,
        published: 1_767_225_600,
        visibility: 'P',
        status: 'A',
        createdAt: 1_767_225_600,
      })
      const { payload } = readToken(await lab.tokenOf(alice.tenant.tenantId, made.actionId as ActionId))
      expect(payload).toEqual({
        actionId: made.actionId,
        type: 'POST',
        issuerTag: alice.idTag,
        content: { text: 'Hello #world' },
        subject: 'https://example.com',
        flags: 'x',
        x: { mood: 'fine' },
        attachments: [fileId],
        visibility: 'P',
        expiresAt: 1_800_000_000,
        nonce: expect.stringMatching(/^[\w-]{22}$/),
        createdAt: 1_767_225_600,
        iat: 1_767_225_600,
        exp: 1_800_000_000,
      })
    })

    test('expires its token after ten years where the action does not', async () => {
      const { lab, alice } = await start()
      const { actionId } = await alice.create(text('Hello'))
      const { payload } = readToken(await lab.tokenOf(alice.tenant.tenantId, actionId as ActionId))
      expect(payload.exp - payload.iat).toBe(315_360_000)
    })

    test('takes the visibility from the request, else from the setting, else P', async () => {
      const { lab, alice } = await start()
      expect(await alice.create({ ...text('a'), visibility: 'C' })).toMatchObject({ visibility: 'C' })
      expect(await alice.create({ ...text('b'), visibility: null })).toMatchObject({ visibility: null })
      expect(await alice.create({ ...text('c'), audience: ['public'] })).toMatchObject({ visibility: 'P' })
      lab.settings.visibility = 'F'
      expect(await alice.create(text('d'))).toMatchObject({ visibility: 'F' })
      expect(await alice.create({ type: 'FLLW', audienceTag: 'bob.example.com' as IdTag })).toMatchObject({
        visibility: null,
      })
    })

    test('may be made by the tenant’s owner, and in a community by contributors', async () => {
      const { lab, alice, bob } = await start()
      for (const caller of [identity(bob.idTag), identity('eve.example.org', { role: 'leader' }), guest])
        await expect(alice.as(caller).create(text('no'))).rejects.toEqual(fails('E-AUTH-FORBIDDEN'))
      const club = await lab.makeTenant('club.example.com', 'community')
      await expect(club.as(identity(bob.idTag, { role: 'supporter' })).create(text('no'))).rejects.toEqual(
        fails('E-AUTH-FORBIDDEN'),
      )
      const made = await club.as(identity(bob.idTag, { role: 'contributor' })).create(text('yes'))
      expect(made).toMatchObject({ issuerTag: club.idTag, x: { author: bob.idTag } })
    })

    test('never takes an author’s name from the request', async () => {
      const { alice } = await start()
      const made = await alice.create({ ...text('Hello'), x: { author: 'eve.example.org' } })
      expect(made).not.toHaveProperty('x')
    })

    test('refuses files that the caller may not attach', async () => {
      const { lab, alice } = await start()
      lab.forbiddenFiles.add(fileId)
      await expect(alice.create({ ...text('a'), attachments: [fileId] })).rejects.toEqual(
        fails('E-FILE-NOTFOUND'),
      )
      expect(await alice.list()).toEqual([])
    })

    test('refuses an audience that does not exist, but not one whose server is away', async () => {
      const { lab, alice } = await start()
      lab.unknown.add('nobody.example.org')
      lab.unreachable.add('away.example.org')
      const follow = (audienceTag: string) =>
        alice.create({ type: 'FLLW', audienceTag: audienceTag as IdTag })
      await expect(follow('nobody.example.org')).rejects.toEqual(fails('E-PROFILE-NOTFOUND'))
      expect(await follow('away.example.org')).toMatchObject({ status: 'A' })
    })

    test('goes to the followers and connections whom its visibility lets read it', async () => {
      const { lab, alice } = await start()
      await lab.db.transact(alice.tenant.tenantId, async (tx) => {
        await changeRelation(tx, 'fay.example.org' as IdTag, { isFollower: true, at: 1 })
        await changeRelation(tx, 'carl.example.org' as IdTag, { connection: 'connected', at: 1 })
        await changeRelation(tx, 'eve.example.org' as IdTag, { isFollower: true, isBlocked: true, at: 1 })
      })
      const recipients = async (body: object) => {
        lab.sent.length = 0
        await alice.create({ ...text('Hello'), ...body })
        return lab.sent.flatMap((one) => one.recipients)
      }
      for (const visibility of ['P', 'V', 'F'])
        expect(await recipients({ visibility })).toEqual(['carl.example.org', 'fay.example.org'])
      expect(await recipients({ visibility: 'C' })).toEqual(['carl.example.org'])
      expect(await recipients({ visibility: null })).toEqual([])
      expect(await recipients({ audienceTag: 'zoe.example.org' })).toEqual(['zoe.example.org'])
      expect(await recipients({ audience: ['zoe.example.org', 'yan.example.org'] })).toEqual([
        'zoe.example.org',
        'yan.example.org',
      ])
    })
  })

  describe('an idempotency key', () => {
    const keyed = { ...text('once'), idempotencyKey: 'key-1' }

    test('makes one action of the same request', async () => {
      const { alice } = await start()
      const first = await alice.create(keyed)
      expect(
        await alice.create({ idempotencyKey: 'key-1', content: { text: 'once' }, type: 'POST' }),
      ).toEqual(first)
      expect(await alice.list()).toHaveLength(1)
    })

    test('makes one action of requests at the same time', async () => {
      const { alice, lab } = await start()
      const made = await Promise.all(Array.from({ length: 5 }, () => alice.create(keyed)))
      expect(new Set(made.map(({ actionId }) => actionId)).size).toBe(1)
      expect(await alice.list()).toHaveLength(1)
      expect(lab.events).toHaveLength(1)
    })

    test('of another request is refused', async () => {
      const { alice } = await start()
      await alice.create(keyed)
      await expect(alice.create({ ...text('twice'), idempotencyKey: 'key-1' })).rejects.toEqual(
        fails('E-DUPLICATE'),
      )
    })

    test('gives its first answer again, whatever the action has become', async () => {
      const { alice } = await start()
      const draft = { ...text('later'), idempotencyKey: 'key-2', draft: true }
      const made = await alice.create(draft)
      await alice.update(made.actionId, { content: { text: 'otherwise' } })
      await alice.publish(made.actionId)
      expect(await alice.create(draft)).toEqual(made)
    })

    test('gives what is left of a deleted action', async () => {
      const { alice } = await start()
      const { content: _, ...first } = await alice.create(keyed)
      await alice.remove(first.actionId)
      expect(await alice.create(keyed)).toEqual({ ...first, status: 'D' })
    })

    test('of a server that stored no answers gives the action as it is now', async () => {
      const { lab, alice } = await start()
      const first = await alice.create(keyed)
      await lab.db.transact(alice.tenant.tenantId, async (tx) => {
        const tables = tx.tables<{ idempotency_keys: { tenant_id: number; answer: string | null } }>()
        await tables.updateTable('idempotency_keys').set({ answer: null }).execute()
      })
      expect(await alice.create(keyed)).toEqual(first)
    })

    test('treats empty members like absent ones', async () => {
      const { alice } = await start()
      const first = await alice.create(keyed)
      expect(await alice.create({ ...keyed, draft: false, attachments: [], audience: [] })).toEqual(first)
    })

    test('belongs to one caller and one tenant', async () => {
      const { lab, alice, bob } = await start()
      const club = await lab.makeTenant('club.example.com', 'community')
      const contributor = { role: 'contributor' as const }
      const made = [
        await alice.create(keyed),
        await bob.create(keyed),
        await club.as(identity(alice.idTag, contributor)).create(keyed),
        await club.as(identity(bob.idTag, contributor)).create(keyed),
      ]
      expect(new Set(made.map(({ actionId }) => actionId)).size).toBe(4)
    })

    test('is forgotten after a day', async () => {
      const { lab, alice } = await start()
      const first = await alice.create(keyed)
      lab.tick(86_400)
      const second = await alice.create({ ...text('twice'), idempotencyKey: 'key-1' })
      expect(second.actionId).not.toBe(first.actionId)
    })
  })

  describe('GET /api/actions/{actionId}', () => {
    test('shows the action with its issuer and its counts', async () => {
      const { alice } = await start()
      const { actionId } = await alice.create(text('Hello'))
      expect(await alice.get(actionId)).toEqual({
        actionId,
        type: 'POST',
        issuerTag: alice.idTag,
        issuer: { idTag: alice.idTag, name: 'alice' },
        content: { text: 'Hello' },
        visibility: 'P',
        published: 1_767_225_600,
        status: 'A',
        createdAt: '2026-01-01T00:00:00.000Z',
        stat: { reactions: 0, comments: 0, views: 0, shares: 0, ownReaction: null },
      })
    })

    test('is 404 for what is unknown, hidden, expired, or another tenant’s', async () => {
      const { lab, alice, bob } = await start()
      const hidden = await alice.create({ ...text('a'), visibility: null })
      const expiring = await alice.create({ ...text('b'), expiresAt: 1_767_225_601 })
      const notFound = fails('E-ACTION-NOTFOUND')
      await expect(alice.get(`a1~${'A'.repeat(43)}`)).rejects.toEqual(notFound)
      await expect(alice.as(identity(bob.idTag)).get(hidden.actionId)).rejects.toEqual(notFound)
      await expect(alice.as(guest).get(hidden.actionId)).rejects.toEqual(notFound)
      await expect(bob.get(hidden.actionId)).rejects.toEqual(notFound)
      expect(await alice.get(expiring.actionId)).toMatchObject({ status: 'A' })
      lab.tick(1)
      await expect(alice.get(expiring.actionId)).rejects.toEqual(notFound)
      expect(texts(await alice.list())).toEqual(['a'])
    })
  })

  describe('GET /api/actions', () => {
    test('lists newest first, or oldest, also within a second', async () => {
      const { lab, alice } = await start()
      await alice.create(text('1'))
      await alice.create(text('2'))
      lab.tick()
      await alice.create(text('3'))
      expect(texts(await alice.list())).toEqual(['3', '2', '1'])
      expect(texts(await alice.list({ sortDir: 'asc' }))).toEqual(['1', '2', '3'])
    })

    test.each([{}, { tag: 'bees' }])(
      'goes from page to page without losing or repeating anything: %o',
      async (filter) => {
        const { lab, alice } = await start()
        const tagged = (word: string) => ({ ...text(word), content: { text: word, tags: ['bees'] } })
        for (let at = 0; at < 7; at += 1) {
          await alice.create(tagged(String(at)))
          if (at % 3 === 0) lab.tick()
        }
        const seen: (string | undefined)[] = []
        let cursor: string | null | undefined
        do {
          const page = await alice.page({ ...filter, limit: 2, ...(cursor ? { cursor } : {}) })
          seen.push(...texts(page.items))
          cursor = page.nextCursor
          await alice.create(tagged('new'))
        } while (cursor)
        expect(seen).toEqual(['6', '5', '4', '3', '2', '1', '0'])
        const oldest = await alice.list({ ...filter, sortDir: 'asc' })
        expect(texts(oldest).slice(0, 7)).toEqual(seen.toReversed())
      },
    )

    test('counts when it is paged by offset', async () => {
      const { alice } = await start()
      const tags = ['bees', 'garden']
      for (const word of ['1', '2', '3']) await alice.create({ ...text(word), content: { text: word, tags } })
      for (const filter of [{}, { tag: 'bees' }]) {
        const page = await alice.page({ ...filter, offset: 1, limit: 1 })
        expect([texts(page.items), page.total]).toEqual([['2'], 3])
      }
    })

    test('names the last action of a page by its public id, and goes on after it even if that is gone', async () => {
      const { lab, alice } = await start()
      for (const word of ['1', '2', '3']) {
        await alice.create(text(word))
        lab.tick()
      }
      const { items, nextCursor } = await alice.page({ limit: 2 })
      const cursor = decodeCursor(nextCursor ?? '', 'created')
      expect(cursor?.id).toBe(items.at(-1)?.actionId)
      for (const id of [`a1~${'A'.repeat(43)}`, 42]) {
        const gone = encodeCursor({ s: 'created', v: cursor?.v ?? 0, id })
        expect(texts((await alice.page({ cursor: gone })).items)).toEqual(['2', '1'])
      }
      await alice.remove(String(cursor?.id))
      expect(texts((await alice.page({ cursor: nextCursor ?? '' })).items)).toEqual(['1'])
    })

    test.each([
      ['rubbish'],
      [Buffer.from('{"s":"name","v":1,"id":1}').toString('base64url')],
      [Buffer.from('{"s":"created","v":"1","id":1}').toString('base64url')],
    ])('refuses the cursor %s', async (cursor) => {
      const { alice } = await start()
      await expect(alice.page({ cursor })).rejects.toEqual(fails('E-VALIDATION'))
    })

    test('shows each caller what it may read, in full pages', async () => {
      const { lab, alice, bob } = await start()
      await lab.db.transact(alice.tenant.tenantId, (tx) =>
        changeRelation(tx, bob.idTag, { isFollower: true, at: 1 }),
      )
      for (const visibility of ['P', 'V', 'F', 'C', null] as const)
        await alice.create({ type: 'POST', content: { text: visibility ?? 'null' }, visibility })
      const seen = async (caller: Parameters<Actor['as']>[0]) =>
        texts(await alice.as(caller).list({ sortDir: 'asc', limit: 3 }))
      expect(await seen(guest)).toEqual(['P'])
      expect(await seen(identity('eve.example.org'))).toEqual(['P', 'V'])
      expect(await seen(identity(bob.idTag))).toEqual(['P', 'V', 'F'])
      expect(await seen(alice.caller)).toEqual(['P', 'V', 'F'])
    })

    test('narrows by every filter', async () => {
      const { lab, alice, bob } = await start()
      await follow(lab, bob, alice)
      lab.tick()
      const tagged = await alice.create({
        type: 'POST',
        content: { text: 'a #garden', tags: ['Spring'] },
        subject: 'about',
      })
      lab.tick()
      const direct = await alice.create({ ...text('b'), audienceTag: bob.idTag, visibility: null })
      lab.tick()
      const several = await alice.create({
        ...text('c'),
        audience: [bob.idTag, 'zoe.example.org'],
        visibility: null,
      })
      const ids = async (query: Parameters<Actor['list']>[0]) =>
        (await alice.list(query)).map(({ actionId }) => actionId)
      const made = [several.actionId, direct.actionId, tagged.actionId]
      expect(await ids({ type: ['POST'] })).toEqual(made)
      expect(await ids({ type: ['POST', 'FLLW'] })).toHaveLength(4)
      expect(await ids({ type: ['FLLW', 'CONN', 'MSG'] })).toHaveLength(1)
      expect(await ids({ issuer: alice.idTag })).toEqual(made)
      expect(await ids({ issuer: bob.idTag })).toHaveLength(1)
      expect(await ids({ audience: bob.idTag })).toEqual(made.slice(0, 2))
      expect(await ids({ involved: bob.idTag })).toHaveLength(3)
      expect(await ids({ subject: 'about' })).toEqual([tagged.actionId])
      expect(await ids({ tag: 'garden' })).toEqual([tagged.actionId])
      expect(await ids({ tag: 'Spring' })).toEqual([tagged.actionId])
      expect(await ids({ tag: 'spring' })).toEqual([])
      expect(await ids({ actionId: [tagged.actionId, direct.actionId] })).toEqual(made.slice(1))
      expect(await ids({ actionId: [] })).toEqual([])
      expect(await ids({ createdAfter: tagged.createdAt })).toEqual(made.slice(0, 2))
      expect(await ids({ createdBefore: direct.createdAt, type: ['POST'] })).toEqual([tagged.actionId])
      expect(await ids({ excludeOwn: true })).toHaveLength(1)
      expect(await ids({ parentId: tagged.actionId })).toEqual([])
      expect(await ids({ rootId: tagged.actionId })).toEqual([])
    })

    test('leaves out the muted for the tenant alone, unless they are asked for', async () => {
      const { lab, alice, bob } = await start()
      await lab.db.transact(alice.tenant.tenantId, (tx) =>
        changeRelation(tx, bob.idTag, { connection: 'connected', at: 1 }),
      )
      await bob.create({ ...text('from bob'), audienceTag: alice.idTag })
      await lab.settle()
      const posts = async (actor: Actor, query = {}) => texts(await actor.list({ type: ['POST'], ...query }))
      expect(await posts(alice)).toEqual(['from bob'])
      await lab.db.transact(alice.tenant.tenantId, (tx) =>
        changeRelation(tx, bob.idTag, { isMuted: true, at: 1 }),
      )
      expect(await posts(alice)).toEqual([])
      expect(await posts(alice, { issuer: bob.idTag })).toEqual(['from bob'])
      expect(await posts(alice.as(guest))).toEqual(['from bob'])
    })

    test('shows deleted actions to their issuer, and no record of a deletion', async () => {
      const { alice, bob } = await start()
      const { actionId } = await alice.create(text('gone'))
      await alice.remove(actionId)
      const deleted = await alice.list({ status: ['D'] })
      expect(deleted).toMatchObject([{ actionId, status: 'D' }])
      expect(await alice.list({ status: ['A', 'D'] })).toHaveLength(1)
      for (const caller of [guest, identity(bob.idTag)])
        expect(await alice.as(caller).list({ status: ['D', 'R', 'S', 'P', 'C', 'N'] })).toEqual([])
    })
  })

  describe('DELETE /api/actions/{actionId}', () => {
    test('hides the action here and wherever it was received', async () => {
      const { lab, alice, bob } = await start()
      await follow(lab, bob, alice)
      const { actionId } = await alice.create(text('oops'))
      await lab.settle()
      expect(texts(await bob.list({ type: ['POST'] }))).toEqual(['oops'])
      const token = await lab.tokenOf(alice.tenant.tenantId, actionId as ActionId)
      expect(await alice.remove(actionId)).toBe('ok')
      await lab.settle()
      for (const who of [alice, bob])
        await expect(who.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      expect(await bob.list({ type: ['POST'] })).toEqual([])
      expect(await lab.receive(bob.tenant, token)).toEqual({ kind: 'known' })
      expect(await bob.list({ type: ['POST'] })).toEqual([])
    })

    test('is 404 the second time, also at the same time', async () => {
      const { alice } = await start()
      const { actionId } = await alice.create(text('oops'))
      const outcomes = await Promise.allSettled([alice.remove(actionId), alice.remove(actionId)])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      await expect(alice.remove(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    })

    test('is 403 for actions that the caller sees and 404 for others', async () => {
      const { lab, alice, bob } = await start()
      await follow(lab, bob, alice)
      const open = await alice.create(text('open'))
      const hidden = await alice.create({ ...text('hidden'), visibility: null })
      await lab.settle()
      const visitor = alice.as(identity(bob.idTag))
      await expect(visitor.remove(open.actionId)).rejects.toEqual(fails('E-AUTH-FORBIDDEN'))
      await expect(visitor.remove(hidden.actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    })

    test('is allowed in a community to the author and to moderators', async () => {
      const { lab, alice, bob } = await start()
      const club = await lab.makeTenant('club.example.com', 'community')
      const author = club.as(identity(bob.idTag, { role: 'contributor' }))
      const [one, two] = [await author.create(text('1')), await author.create(text('2'))]
      const other = club.as(identity(alice.idTag, { role: 'contributor' }))
      await expect(other.remove(one.actionId)).rejects.toEqual(fails('E-AUTH-FORBIDDEN'))
      expect(await author.remove(one.actionId)).toBe('ok')
      expect(await club.as(identity(alice.idTag, { role: 'moderator' })).remove(two.actionId)).toBe('ok')
    })

    test('keeps nothing of the content at receivers', async () => {
      const { lab, alice, bob } = await start()
      await follow(lab, bob, alice)
      const { actionId } = await alice.create({ ...text('secret'), x: { a: 1 }, attachments: [fileId] })
      await lab.settle()
      await alice.remove(actionId)
      await lab.settle()
      const stored = await bob.stored(actionId)
      expect(stored).toMatchObject({
        status: 'D',
        content: undefined,
        attachments: [],
        x: undefined,
        token: undefined,
      })
    })

    test('reaches former followers who received it', async () => {
      const { lab, alice, bob } = await start()
      await follow(lab, bob, alice)
      const { actionId } = await alice.create(text('oops'))
      await lab.settle()
      await bob.create({ type: 'FLLW', audienceTag: alice.idTag, subType: 'DEL' })
      await lab.settle()
      await alice.remove(actionId)
      await lab.settle()
      await expect(bob.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    })
  })

  describe('FLLW', () => {
    const relations = async (alice: Actor, bob: Actor) => [
      (await findRelation(alice.reader, bob.idTag))?.isFollower ?? false,
      (await findRelation(bob.reader, alice.idTag))?.isFollowing ?? false,
    ]

    test('makes a follower on both sides', async () => {
      const { lab, alice, bob } = await start()
      await follow(lab, bob, alice)
      expect(await relations(alice, bob)).toEqual([true, true])
      expect(await alice.list()).toMatchObject([{ type: 'FLLW', issuer: { name: 'bob' } }])
    })

    test.each(['by DEL', 'by DELETE'])('ends on both sides %s', async (way) => {
      const { lab, alice, bob } = await start()
      const { actionId } = await follow(lab, bob, alice)
      if (way === 'by DELETE') await bob.remove(actionId)
      else await bob.create({ type: 'FLLW', audienceTag: alice.idTag, subType: 'DEL' })
      await lab.settle()
      expect(await relations(alice, bob)).toEqual([false, false])
      await expect(alice.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    })

    test('exists once: a newer one replaces it', async () => {
      const { lab, alice, bob } = await start()
      const first = await follow(lab, bob, alice)
      const second = await follow(lab, bob, alice)
      for (const who of [alice, bob])
        expect((await who.list({ type: ['FLLW'] })).map(({ actionId }) => actionId)).toEqual([
          second.actionId,
        ])
      expect(await bob.list({ status: ['D'] })).toMatchObject([{ actionId: first.actionId }])
    })

    test('is what the newest token says, in whatever order the tokens arrive', async () => {
      const { lab, alice, bob } = await start()
      const follow = { type: 'FLLW' as const, audienceTag: alice.idTag }
      const made: { actionId: string }[] = []
      for (const subType of [undefined, 'DEL', undefined, 'DEL']) {
        made.push(await bob.create({ ...follow, ...(subType ? { subType } : {}) }))
        lab.clock.advance(1000)
      }
      const tokens = await Promise.all(
        made.map(({ actionId }) => lab.tokenOf(bob.tenant.tenantId, actionId as ActionId)),
      )
      for (const at of [2, 0, 3, 1]) await lab.receive(alice.tenant, tokens[at] ?? '')
      expect(await relations(alice, bob)).toEqual([false, false])
      expect(await alice.list({ type: ['FLLW'] })).toMatchObject([
        { actionId: made[3]?.actionId, subType: 'DEL' },
      ])
    })

    const tokensOf = (lab: ActionLab, who: Actor, ...actionIds: string[]) =>
      Promise.all(actionIds.map((actionId) => lab.tokenOf(who.tenant.tenantId, actionId as ActionId)))
    const takeBack = async (lab: ActionLab, who: Actor, actionId: string): Promise<string> => {
      await who.remove(actionId)
      return lab.sent.at(-1)?.actionId ?? ''
    }

    test('ignores a token older than one that was deleted', async () => {
      const { lab, alice, bob } = await start()
      const older = await bob.create({ type: 'FLLW', audienceTag: alice.idTag })
      lab.clock.advance(1000)
      const newer = await bob.create({ type: 'FLLW', audienceTag: alice.idTag })
      const [first = '', second = ''] = await tokensOf(lab, bob, older.actionId, newer.actionId)
      const [end = ''] = await tokensOf(lab, bob, await takeBack(lab, bob, newer.actionId))
      for (const token of [second, end, first]) await lab.receive(alice.tenant, token)
      expect(await relations(alice, bob)).toEqual([false, false])
    })

    test('counts a token newer than one that was deleted, within the same second', async () => {
      const { lab, alice, bob } = await start()
      const older = await bob.create({ type: 'FLLW', audienceTag: alice.idTag })
      const former = await tokensOf(lab, bob, older.actionId)
      const end = await takeBack(lab, bob, older.actionId)
      const newer = await bob.create({ type: 'FLLW', audienceTag: alice.idTag })
      const tokens = [...(await tokensOf(lab, bob, newer.actionId)), ...former]
      const [last, first] = tokens.map((token) => readToken(token).payload.iat)
      expect(last).toBe(Number(first) + 1)
      // It replaces the ending, which has not been sent.
      await expect(tokensOf(lab, bob, end)).rejects.toThrow()
      for (const token of tokens) await lab.receive(alice.tenant, token)
      expect(await relations(alice, bob)).toEqual([true, true])
    })

    test('gives the lowest role in a community, and never replaces a higher one', async () => {
      const { lab, bob } = await start()
      const club = await lab.makeTenant('club.example.com', 'community')
      const role = async () => (await findRelation(club.reader, bob.idTag))?.role
      await follow(lab, bob, club)
      expect(await role()).toBe('follower')
      await bob.create({ type: 'FLLW', audienceTag: club.idTag, subType: 'DEL' })
      await lab.settle()
      expect(await role()).toBeUndefined()
      await lab.db.transact(club.tenant.tenantId, (tx) =>
        changeRelation(tx, bob.idTag, { role: 'moderator', at: 1 }),
      )
      await follow(lab, bob, club)
      expect(await role()).toBe('moderator')
    })

    test('of oneself is refused', async () => {
      const { alice } = await start()
      await expect(alice.create({ type: 'FLLW', audienceTag: alice.idTag })).rejects.toEqual(
        fails('E-VALIDATION'),
      )
    })
  })

  describe('an action from elsewhere', () => {
    test('is stored once, with one effect', async () => {
      const { lab, alice, bob } = await start()
      await follow(lab, bob, alice)
      const { actionId } = await alice.create(text('Hello'))
      const token = await lab.tokenOf(alice.tenant.tenantId, actionId as ActionId)
      expect(await lab.receive(bob.tenant, token)).toEqual({ kind: 'stored' })
      expect(await lab.receive(bob.tenant, token)).toEqual({ kind: 'known' })
      expect(
        lab.events.filter(({ kind, action }) => kind === 'action.received' && action.actionId === actionId),
      ).toHaveLength(1)
    })

    test('is refused from blocked issuers', async () => {
      const { lab, alice, bob } = await start()
      await lab.db.transact(bob.tenant.tenantId, (tx) =>
        changeRelation(tx, alice.idTag, { isBlocked: true, at: 1 }),
      )
      const { actionId } = await alice.create(text('Hello'))
      const token = await lab.tokenOf(alice.tenant.tenantId, actionId as ActionId)
      expect(await lab.receive(bob.tenant, token)).toEqual({ kind: 'blocked' })
      await expect(bob.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    })

    test('that was deleted before it arrived stays away', async () => {
      const { lab, alice, bob } = await start()
      await follow(lab, bob, alice)
      const { actionId } = await alice.create(text('Hello'))
      const token = await lab.tokenOf(alice.tenant.tenantId, actionId as ActionId)
      lab.sent.length = 0
      await alice.remove(actionId)
      await lab.settle()
      expect(await lab.receive(bob.tenant, token)).toEqual({ kind: 'stored' })
      expect(await bob.list({ type: ['POST'] })).toEqual([])
    })

    test('stays away also when its issuer deletes the deletion', async () => {
      const { lab, alice, bob } = await start()
      await follow(lab, bob, alice)
      const { actionId } = await alice.create(text('Hello'))
      const token = await lab.tokenOf(alice.tenant.tenantId, actionId as ActionId)
      const deletion = await lab.forge(alice, { type: 'POST', subType: 'DEL', subject: actionId })
      const again = await lab.forge(alice, {
        type: 'POST',
        subType: 'DEL',
        subject: readToken(deletion).actionId,
      })
      for (const one of [deletion, again, token])
        expect(await lab.receive(bob.tenant, one)).toEqual({ kind: 'stored' })
      expect(await bob.list({ type: ['POST'] })).toEqual([])
      await expect(bob.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    })

    test('cannot be deleted by another issuer', async () => {
      const { lab, alice, bob } = await start()
      const mallory = await lab.makeTenant('mallory.example.com')
      await follow(lab, bob, alice)
      const { actionId } = await alice.create(text('Hello'))
      await lab.settle()
      const own = await mallory.create(text('mine'))
      await mallory.remove(own.actionId)
      const forged = await lab.forge(mallory, { type: 'POST', subType: 'DEL', subject: actionId })
      expect(await lab.receive(bob.tenant, forged)).toMatchObject({
        kind: 'refused',
        failure: { code: 'E-AUTH-FORBIDDEN' },
      })
      expect(await bob.get(actionId)).toMatchObject({ status: 'A' })
    })

    test('that breaks the rules of its type is kept as deleted', async () => {
      const { lab, alice, bob } = await start()
      const token = await lab.forge(alice, { type: 'POST', content: { text: 5 } })
      expect(await lab.receive(bob.tenant, token)).toMatchObject({
        kind: 'refused',
        failure: { code: 'E-VALIDATION' },
      })
      expect(await lab.receive(bob.tenant, token)).toEqual({ kind: 'known' })
      expect(await bob.list({ status: ['A', 'C', 'N', 'P', 'D'] })).toEqual([])
    })

    test('of an unknown type is not kept', async () => {
      const { lab, alice, bob } = await start()
      const token = await lab.forge(alice, { type: 'STAT' })
      expect(await lab.receive(bob.tenant, token)).toMatchObject({ kind: 'refused' })
      expect(await lab.receive(bob.tenant, token)).toMatchObject({ kind: 'refused' })
    })

    test('from the future is not listed before newer ones', async () => {
      const { lab, alice, bob } = await start()
      const token = await lab.forge(alice, {
        ...text('Hello'),
        visibility: 'P',
        createdAt: 99_999_999_998,
      })
      await lab.receive(bob.tenant, token)
      expect(await bob.list()).toMatchObject([{ createdAt: '2026-01-01T00:00:00.000Z' }])
    })
  })
})
