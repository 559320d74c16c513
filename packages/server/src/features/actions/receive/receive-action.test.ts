import { describe, expect, test } from 'vitest'
import { changeRelation, findRelation } from '#features/relations/index.ts'
import { type Actor, actionLab, identity } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { readActionToken } from '../read-action-token.ts'

const fileId = `b1~${'A'.repeat(43)}`
const fails = (code: string) => expect.objectContaining({ code })
const refused = (code: string) => ({ kind: 'refused', failure: fails(code) })

eachDialect('an action from elsewhere', (open) => {
  const openLab = actionLab(open)

  async function start() {
    const lab = await openLab()
    const alice = await lab.makeTenant('alice.example.com')
    const bob = await lab.makeTenant('bob.example.com')
    const club = await lab.makeTenant('club.example.com', 'community')
    const put = (of: Actor, other: Actor, role: 'follower' | 'contributor') =>
      lab.db.transact(of.tenant.tenantId, (tx) => changeRelation(tx, other.idTag, { role, at: 1 }))
    const send = async (by: Actor, to: Actor, members: Record<string, unknown>) =>
      lab.receive(to.tenant, await lab.forge(by, { audienceTag: to.idTag, visibility: 'P', ...members }))
    const know = (of: Actor, other: Actor) =>
      lab.db.transact(of.tenant.tenantId, (tx) =>
        changeRelation(tx, other.idTag, { isFollowing: true, at: 1 }),
      )
    return { ...lab, alice, bob, club, put, know, send }
  }

  describe('in x', () => {
    const post = { type: 'POST', content: { text: 'Hello' } }
    const said = { mood: 'glad', refused: 'E-STATE', ackedAt: 5, author: 'eve.example.com' }

    test('has no members that only the receiver or a community may set', async () => {
      const { alice, bob, club, know, send } = await start()
      for (const issuer of [alice, club]) await know(bob, issuer)
      await send(alice, bob, { ...post, x: said })
      await send(club, bob, { ...post, x: said })
      const [byClub, byAlice] = await bob.list()
      expect(byAlice?.x).toEqual({ mood: 'glad' })
      expect(byClub?.x).toEqual({ mood: 'glad', author: 'eve.example.com' })
    })

    test('has no author that is no identity', async () => {
      const { bob, club, know, send } = await start()
      await know(bob, club)
      for (const author of ['nobody', 7, null]) await send(club, bob, { ...post, x: { author } })
      for (const { x } of await bob.list()) expect(x).toBeUndefined()
    })
  })

  test('is shown at once when it is an app package, which is fetched by who installs it', async () => {
    const { alice, bob, know, send } = await start()
    const offer = { type: 'APKG', content: { name: 'Chess', version: '1' }, attachments: [fileId] }
    expect(await send(alice, bob, offer)).toEqual({ kind: 'stranger' })
    await know(bob, alice)
    expect(await send(alice, bob, { ...offer, attachments: [] })).toEqual(refused('E-VALIDATION'))
    expect(await send(alice, bob, offer)).toEqual({ kind: 'stored' })
    expect(await bob.list()).toMatchObject([{ type: 'APKG', status: 'A' }])
  })

  describe('that deletes another', () => {
    const subject = `a1~${'A'.repeat(43)}`
    const bare = { audienceTag: undefined, visibility: undefined, subType: 'DEL' }

    test.each(['POST', 'CMNT', 'REPOST', 'SHRE', 'REACT', 'MSG', 'ACK', 'INVT', 'APKG'])(
      'needs its id alone, for %s',
      async (type) => {
        const { alice, bob, know, send } = await start()
        await know(bob, alice)
        expect(await send(alice, bob, { ...bare, type, subject })).toEqual({ kind: 'stored' })
        for (const other of [undefined, 'free words', fileId])
          expect(await send(alice, bob, { ...bare, type, subject: other })).toMatchObject({ kind: 'refused' })
      },
    )

    test('ends a relation instead, where the type has ends and nothing of that id is held', async () => {
      const { alice, bob, know, send } = await start()
      await know(bob, alice)
      const of = { ...bare, type: 'FLLW' }
      for (const members of [{}, { subject }])
        expect(await send(alice, bob, { ...of, ...members })).toEqual(refused('E-VALIDATION'))
      for (const type of ['FLLW', 'CONN'])
        expect(await send(alice, bob, { ...bare, type, audienceTag: bob.idTag })).toEqual({ kind: 'stored' })
      const share = { ...bare, type: 'FSHR', audienceTag: bob.idTag }
      expect(await send(alice, bob, share)).toEqual(refused('E-VALIDATION'))
      expect(await send(alice, bob, { ...share, subject: fileId })).toEqual({ kind: 'stored' })
    })

    test('is a file share that has not come yet', async () => {
      const { alice, bob, know, send, forge, receive } = await start()
      await know(bob, alice)
      const offer = await forge(alice, {
        type: 'FSHR',
        audienceTag: bob.idTag,
        subject: fileId,
        content: { permission: 'READ' },
      })
      const deletion = {
        ...bare,
        type: 'FSHR',
        audienceTag: bob.idTag,
        subject: readActionToken(offer).actionId,
      }
      expect(await send(alice, bob, deletion)).toEqual({ kind: 'stored' })
      await receive(bob.tenant, offer)
      expect(await bob.list({ type: ['FSHR'], status: ['A', 'C', 'N'] })).toEqual([])
    })

    test('needs no audience either where its own action of the type is held', async () => {
      const { alice, bob, send, settle } = await start()
      const follows = async () => (await findRelation(bob.reader, alice.idTag))?.isFollower
      const { actionId } = await alice.create({ type: 'FLLW', audienceTag: bob.idTag })
      await settle()
      expect(await follows()).toBe(true)
      expect(await send(alice, bob, { ...bare, type: 'FLLW', subject: actionId })).toEqual({ kind: 'stored' })
      expect(await follows()).toBe(false)
    })
  })

  test.each([
    ['STAT', { content: { views: 1 } }],
    ['ANNC', { subType: 'DEL' }],
  ])('that servers alone make has the members of its type: %s', async (type, members) => {
    const { alice, bob, know, send } = await start()
    await know(bob, alice)
    const subject = `a1~${'A'.repeat(43)}`
    const said = { type, subject, audienceTag: undefined, visibility: undefined, ...members }
    expect(await send(alice, bob, said)).toEqual({ kind: 'known' })
    const faults = [
      { subject: undefined },
      { subject: 'free words' },
      { subject: fileId },
      { parentId: subject },
      { attachments: [fileId] },
      { subType: 'FOO' },
      { content: { views: 'one', hash: 'short' }, subType: undefined },
      { flags: 'a\u0007' },
      { x: { a: 'x'.repeat(16_384) } },
    ]
    for (const fault of faults)
      expect(await send(alice, bob, { ...said, ...fault })).toMatchObject({ kind: 'refused' })
    const ending = await send(alice, bob, { ...said, subType: 'DEL' })
    expect(ending.kind).toBe(type === 'STAT' ? 'refused' : 'known')
  })

  test.each([
    ['a control character', 'a\u0085b', false],
    ['a line feed', 'a\nb', false],
    ['a mark of direction', '\u202e a\u2028', true],
    ['nothing', '', true],
    ['300 characters of two halves', '😀'.repeat(300), true],
  ])('has a subject with %s: %s', async (_, subject, isTaken) => {
    const { alice, bob, know, send } = await start()
    await know(bob, alice)
    const outcome = await send(alice, bob, { type: 'POST', content: { text: 'Hello' }, subject })
    expect(outcome).toEqual(isTaken ? { kind: 'stored' } : refused('E-VALIDATION'))
  })

  test('answers a request only if the request was addressed to its issuer', async () => {
    const { alice, bob, send, makeTenant, settle } = await start()
    const eve = await makeTenant('eve.example.com')
    const { actionId } = await alice.create({ type: 'CONN', audienceTag: bob.idTag })
    await settle()
    await send(eve, alice, { type: 'CONN', subject: actionId, visibility: undefined })
    const [request] = await alice.list({ issuer: eve.idTag, status: ['C'] })
    expect(request).toMatchObject({ type: 'CONN', status: 'C' })
    await alice.accept(request?.actionId ?? '')
    await settle()
    expect((await findRelation(alice.reader, eve.idTag))?.connection).toBe('connected')
  })

  test('to a community in a thread that it does not hold is accepted from contributors only', async () => {
    const { alice, club, put, send } = await start()
    const comment = { type: 'CMNT', parentId: `a1~${'A'.repeat(43)}`, content: { text: 'Hello' } }
    const beside = { ...comment, audienceTag: undefined, subject: club.idTag }
    for (const members of [comment, beside])
      expect(await send(alice, club, members)).toEqual({ kind: 'stranger' })
    await put(club, alice, 'contributor')
    for (const members of [comment, beside])
      expect(await send(alice, club, members)).toEqual({ kind: 'stored' })
  })

  describe('that is an invitation', () => {
    const invite = (guest: Actor, subject: string) =>
      ({ type: 'INVT', audienceTag: guest.idTag, subject }) as never

    test('is made for communities only', async () => {
      const { alice, bob, club, unknown, unreachable } = await start()
      unknown.add('nobody.example.com')
      unreachable.add('far.example.com')
      await expect(alice.create(invite(bob, 'nobody.example.com'))).rejects.toEqual(
        fails('E-PROFILE-NOTFOUND'),
      )
      for (const person of [bob, alice])
        await expect(alice.create(invite(bob, person.idTag))).rejects.toEqual(fails('E-VALIDATION'))
      for (const subject of [club.idTag, 'far.example.com'])
        expect(await alice.create(invite(bob, subject))).toMatchObject({ status: 'A' })
    })

    test('reaches the guest when its subject may be a community, from members of it', async () => {
      const { alice, bob, club, put, send } = await start()
      const into = (subject: string) => ({ type: 'INVT', subject, visibility: undefined })
      expect(await send(alice, bob, into(alice.idTag))).toEqual(refused('E-VALIDATION'))
      expect(await send(alice, bob, into(club.idTag))).toEqual(refused('E-AUTH-FORBIDDEN'))
      await put(club, alice, 'follower')
      expect(await send(alice, bob, into(club.idTag))).toEqual(refused('E-AUTH-FORBIDDEN'))
      await put(club, alice, 'contributor')
      for (const subject of [club.idTag, 'club.elsewhere.example'])
        expect(await send(alice, bob, into(subject))).toEqual({ kind: 'stored' })
      expect(await send(club, bob, into(club.idTag))).toEqual({ kind: 'stored' })
      expect(await bob.list({ status: ['C'] })).toHaveLength(3)
    })

    test('cannot be accepted once its subject is known to be no community', async () => {
      const { alice, bob, send, makeTenant, unknown } = await start()
      await send(alice, bob, { type: 'INVT', subject: 'carol.example.com', visibility: undefined })
      await send(alice, bob, { type: 'INVT', subject: 'nobody.example.com', visibility: undefined })
      const [second, first] = await bob.list({ status: ['C'] })
      await makeTenant('carol.example.com')
      unknown.add('nobody.example.com')
      await expect(bob.accept(first?.actionId ?? '')).rejects.toEqual(fails('E-VALIDATION'))
      await expect(bob.accept(second?.actionId ?? '')).rejects.toEqual(fails('E-PROFILE-NOTFOUND'))
      for (const it of [first, second])
        expect(await bob.reject(it?.actionId ?? '')).toMatchObject({ status: 'D' })
      expect(await findRelation(bob.reader, identity('carol.example.com').idTag)).toBeUndefined()
    })
  })
})
