import type { ActionId, IdTag } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { changeRelation, findRelation } from '#features/relations/index.ts'
import { type Actor, actionLab, guest, identity } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { nowSecs } from '#lib/clock.ts'

const fileId = `b1~${'A'.repeat(43)}`
const fails = (code: string) => expect.objectContaining({ code })
const connectionOf = async (one: Actor, other: Actor) =>
  (await findRelation(one.reader, other.idTag))?.connection ?? 'disconnected'

eachDialect('requests', (open) => {
  const openLab = actionLab(open)

  async function start() {
    const lab = await openLab()
    const alice = await lab.makeTenant('alice.example.com')
    const bob = await lab.makeTenant('bob.example.com')
    const connections = async () => [await connectionOf(alice, bob), await connectionOf(bob, alice)]
    /** Alice sends Bob a request, and it arrives. */
    const ask = async () => {
      const { actionId } = await alice.create({
        type: 'CONN',
        audienceTag: bob.idTag,
        content: { message: 'Hi' },
      })
      await lab.settle()
      return actionId
    }
    return { ...lab, alice, bob, connections, ask }
  }

  describe('CONN', () => {
    test('is A at its issuer and awaits the target', async () => {
      const { alice, bob, ask, connections } = await start()
      const actionId = await ask()
      expect(await alice.get(actionId)).toMatchObject({ status: 'A', content: { message: 'Hi' } })
      expect(await bob.list({ status: ['C'] })).toMatchObject([
        { actionId, status: 'C', issuer: { name: 'alice' } },
      ])
      expect(await bob.list()).toHaveLength(1)
      expect(await connections()).toEqual(['requested', 'asked'])
    })

    test('accepted connects both, by a request in return', async () => {
      const { alice, bob, ask, connections, settle } = await start()
      const actionId = await ask()
      expect(await bob.accept(actionId)).toEqual({ actionId, status: 'A', type: 'CONN' })
      expect(await connections()).toEqual(['requested', 'connected'])
      await settle()
      expect(await connections()).toEqual(['connected', 'connected'])
      const [answer] = await alice.list({ issuer: bob.idTag })
      expect(answer).toMatchObject({ type: 'CONN', status: 'A', subject: actionId, audienceTag: alice.idTag })
      expect(await bob.get(actionId)).toMatchObject({ status: 'A' })
    })

    test('refused disconnects, and its issuer is told', async () => {
      const { alice, bob, ask, connections, settle } = await start()
      const actionId = await ask()
      expect(await bob.reject(actionId)).toMatchObject({ actionId, status: 'D' })
      await settle()
      expect(await connections()).toEqual(['disconnected', 'disconnected'])
      for (const who of [alice, bob])
        await expect(who.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      expect(await alice.list({ issuer: bob.idTag })).toMatchObject([
        { type: 'CONN', subType: 'DEL', subject: actionId },
      ])
    })

    test.each([
      ['the one who asked', 'refused'],
      ['the one who was asked', 'withdrawn'],
    ])('ends at %s when it is %s without a subject', async (who) => {
      const { alice, bob, ask, connections, settle, tick, forge, receive } = await start()
      await ask()
      tick()
      const [ending, told] = who === 'the one who asked' ? [bob, alice] : [alice, bob]
      const members = { type: 'CONN', subType: 'DEL', audienceTag: told.idTag }
      expect(await receive(told.tenant, await forge(ending, members))).toEqual({ kind: 'stored' })
      expect((await connections())[told === alice ? 0 : 1]).toBe('disconnected')
      expect(await told.list({ status: ['C'] })).toEqual([])
      await settle()
    })

    test.each([
      ['before', 1, 'disconnected'],
      ['in the same second as', 0, 'disconnected'],
      ['after', -1, 'requested'],
    ])('made %s an end without a subject is %s then', async (_, later, connection) => {
      const { alice, bob, connections, forge, receive, clock } = await start()
      await alice.create({ type: 'CONN', audienceTag: bob.idTag })
      const at = Math.floor(clock.now() / 1000) + later
      const end = { type: 'CONN', subType: 'DEL', audienceTag: alice.idTag, iat: at, createdAt: at }
      await receive(alice.tenant, await forge(bob, end))
      expect((await connections())[0]).toBe(connection)
    })

    test('is not ended by the refusal of an earlier one that it crosses', async () => {
      const { alice, bob, ask, connections, settle } = await start()
      const first = await ask()
      await alice.remove(first)
      await bob.reject(first)
      const second = await alice.create({ type: 'CONN', audienceTag: bob.idTag })
      await settle()
      expect(await connections()).toEqual(['requested', 'asked'])
      expect(await alice.get(second.actionId)).toMatchObject({ status: 'A' })
      expect(await bob.get(second.actionId)).toMatchObject({ status: 'C' })
    })

    test.each(['before', 'after'])(
      'made %s an end that was sent without knowing of it survives that end',
      async (when) => {
        const { alice, bob, ask, connections, settle, tick } = await start()
        await ask()
        const end = () => alice.create({ type: 'CONN', audienceTag: bob.idTag, subType: 'DEL' })
        if (when === 'after') await end()
        const { actionId } = await bob.create({ type: 'CONN', audienceTag: alice.idTag })
        tick()
        if (when === 'before') await end()
        await settle()
        expect(await connections()).toEqual(['asked', 'requested'])
        await alice.accept(actionId)
        await settle()
        expect(await connections()).toEqual(['connected', 'connected'])
      },
    )

    test('made again survives the end of the former one', async () => {
      const { alice, bob, ask, connections, settle } = await start()
      await bob.accept(await ask())
      await settle()
      const end = await alice.create({ type: 'CONN', audienceTag: bob.idTag, subType: 'DEL' })
      const anew = await bob.create({ type: 'CONN', audienceTag: alice.idTag })
      expect((await alice.stored(end.actionId))?.subject).toMatch(/^a1~/)
      await settle()
      expect(await connections()).toEqual(['asked', 'requested'])
      expect(await alice.get(anew.actionId)).toMatchObject({ status: 'C' })
    })

    test('accepted after it was withdrawn becomes a request of the other side', async () => {
      const { alice, bob, ask, connections, settle } = await start()
      const actionId = await ask()
      await alice.create({ type: 'CONN', audienceTag: bob.idTag, subType: 'DEL' })
      await bob.accept(actionId)
      await settle()
      expect(await connections()).toEqual(['asked', 'requested'])
      expect(await alice.list({ status: ['C'] })).toHaveLength(1)
    })

    test('answered by another request connects as well', async () => {
      const { alice, bob, ask, connections, settle } = await start()
      const actionId = await ask()
      await bob.create({ type: 'CONN', audience: [alice.idTag], subject: actionId })
      await settle()
      expect(await connections()).toEqual(['connected', 'connected'])
      expect(await bob.get(actionId)).toMatchObject({ status: 'A' })
    })

    test('that crosses another connects at once', async () => {
      const { alice, bob, connections, settle } = await start()
      await alice.create({ type: 'CONN', audienceTag: bob.idTag })
      await bob.create({ type: 'CONN', audienceTag: alice.idTag })
      await settle()
      expect(await connections()).toEqual(['connected', 'connected'])
      for (const who of [alice, bob]) expect(await who.list({ status: ['C'] })).toEqual([])
    })

    test.each([
      ['the one', 'DEL'],
      ['the other', 'DEL'],
      ['the one', 'DELETE'],
    ])('ends for both when %s ends it by %s', async (who, how) => {
      const { alice, bob, ask, connections, settle } = await start()
      const actionId = await ask()
      await bob.accept(actionId)
      await settle()
      if (how === 'DELETE') await alice.remove(actionId)
      else {
        const [ending, other] = who === 'the one' ? [alice, bob] : [bob, alice]
        await ending.create({ type: 'CONN', audienceTag: other.idTag, subType: 'DEL' })
      }
      await settle()
      expect(await connections()).toEqual(['disconnected', 'disconnected'])
    })

    test.each([
      [301, 'asked for anew'],
      [300, 'connected'],
    ])(
      'that was signed %s s before the tenant came to this server, and crosses one of it, is %s',
      async (seconds, outcome) => {
        const { alice, bob, forge, receive, clock } = await start()
        const iat = nowSecs(clock) - seconds
        const times = { createdAt: iat, iat, exp: iat + 86_400 }
        const old = await forge(alice, { type: 'CONN', audienceTag: bob.idTag, ...times })
        await bob.create({ type: 'CONN', audienceTag: alice.idTag })
        expect(await receive(bob.tenant, old)).toEqual({ kind: 'stored' })
        expect(await connectionOf(bob, alice)).toBe(outcome === 'connected' ? 'connected' : 'requested')
      },
    )

    test('withdrawn before it was answered no longer awaits an answer', async () => {
      const { alice, bob, ask, connections, settle } = await start()
      const actionId = await ask()
      await alice.remove(actionId)
      await settle()
      expect(await connections()).toEqual(['disconnected', 'disconnected'])
      await expect(bob.accept(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    })

    test('accepted twice at the same time makes one connection', async () => {
      const { alice, bob, ask, settle } = await start()
      const actionId = await ask()
      const outcomes = await Promise.allSettled([bob.accept(actionId), bob.accept(actionId)])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      await settle()
      expect(await alice.list({ issuer: bob.idTag })).toHaveLength(1)
    })
  })

  describe('a community', () => {
    async function club() {
      const lab = await start()
      const community = await lab.makeTenant('club.example.com', 'community')
      const roleOf = async (who: Actor) => (await findRelation(community.reader, who.idTag))?.role
      const give = (who: Actor, role: 'moderator' | 'contributor') =>
        lab.db.transact(community.tenant.tenantId, (tx) => changeRelation(tx, who.idTag, { role, at: 1 }))
      return { ...lab, community, roleOf, give }
    }

    test('takes members in through a moderator, as contributors', async () => {
      const { community, alice, bob, roleOf, settle } = await club()
      const { actionId } = await alice.create({ type: 'CONN', audienceTag: community.idTag })
      await settle()
      const contributor = community.as(identity(bob.idTag, { role: 'contributor' }))
      await expect(contributor.accept(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
      await community.as(identity(bob.idTag, { role: 'moderator' })).accept(actionId)
      expect(await roleOf(alice)).toBe('contributor')
      await settle()
      expect(await connectionOf(alice, community)).toBe('connected')
      await alice.create({ type: 'CONN', audienceTag: community.idTag, subType: 'DEL' })
      await settle()
      expect(await roleOf(alice)).toBeUndefined()
    })

    test('accepts by itself identities that a moderator invited', async () => {
      const { community, alice, bob, give, roleOf, settle } = await club()
      await give(bob, 'moderator')
      const made = await bob.create({ type: 'INVT', audienceTag: alice.idTag, subject: community.idTag })
      await settle()
      expect(await alice.list({ type: ['INVT'] })).toMatchObject([{ actionId: made.actionId, status: 'C' }])
      expect(await alice.accept(made.actionId)).toMatchObject({ status: 'A' })
      await settle()
      expect([await connectionOf(alice, community), await roleOf(alice)]).toEqual([
        'connected',
        'contributor',
      ])
    })

    test('asks about identities that others invited', async () => {
      const { community, alice, bob, give, roleOf, settle } = await club()
      await give(bob, 'contributor')
      const made = await bob.create({ type: 'INVT', audienceTag: alice.idTag, subject: community.idTag })
      await settle()
      await alice.accept(made.actionId)
      await settle()
      expect([await connectionOf(alice, community), await roleOf(alice)]).toEqual(['requested', undefined])
      expect(await community.list({ status: ['C'] })).toMatchObject([{ type: 'CONN' }])
      expect(await community.list({ type: ['INVT'] })).toEqual([])
    })

    test('lets only moderators invite in its name', async () => {
      const { community, alice, bob } = await club()
      const invite = { type: 'INVT' as const, audienceTag: alice.idTag, subject: community.idTag }
      const contributor = community.as(identity(bob.idTag, { role: 'contributor' }))
      await expect(contributor.create(invite)).rejects.toEqual(fails('E-AUTH-FORBIDDEN'))
      expect(await community.as(identity(bob.idTag, { role: 'moderator' })).create(invite)).toMatchObject({
        status: 'A',
      })
    })

    test('is not joined by an invitation that was refused', async () => {
      const { community, alice, bob, give, settle } = await club()
      await give(bob, 'moderator')
      const made = await bob.create({ type: 'INVT', audienceTag: alice.idTag, subject: community.idTag })
      await settle()
      expect(await alice.reject(made.actionId)).toMatchObject({ status: 'D' })
      await settle()
      expect(await connectionOf(alice, community)).toBe('disconnected')
    })
  })

  describe('FSHR', () => {
    const share = { type: 'FSHR' as const, subject: fileId, content: { permission: 'READ', message: 'Look' } }

    test('tells the target about the file, and shows it there once accepted', async () => {
      const { alice, bob, files, settle } = await start()
      const { actionId } = await alice.create({ ...share, audienceTag: bob.idTag })
      expect(files).toEqual({ described: ['READ'], told: [`grant ${fileId} ${bob.idTag}`] })
      await settle()
      expect(await bob.get(actionId)).toMatchObject({
        status: 'C',
        content: {
          permission: 'READ',
          message: 'Look',
          fileName: 'plan.pdf',
          contentType: 'application/pdf',
          fileTp: 'BLOB',
        },
      })
      await bob.accept(actionId)
      expect(files.told.at(-1)).toBe(`accept ${fileId} ${alice.idTag}`)
    })

    test('is refused, and its issuer is told', async () => {
      const { alice, bob, files, settle } = await start()
      const { actionId } = await alice.create({ ...share, audienceTag: bob.idTag })
      await settle()
      await bob.reject(actionId)
      await settle()
      expect(files.told).toContain(`drop ${fileId} ${alice.idTag}`)
      expect(files.told.at(-1)).toBe(`decline ${fileId} ${bob.idTag}`)
      await expect(alice.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    })

    test('is not ended by the refusal of an older offer', async () => {
      const { alice, bob, files, settle, clock } = await start()
      await alice.create({ ...share, audienceTag: bob.idTag })
      await settle()
      const [offer] = await bob.list()
      clock.advance(1000)
      const newer = await alice.create({ ...share, audienceTag: bob.idTag })
      await bob.create({
        type: 'FSHR',
        subType: 'DEL',
        subject: fileId,
        audienceTag: alice.idTag,
        x: { offer: offer?.actionId },
      })
      files.told.length = 0
      await settle()
      expect(files.told).not.toContain(`decline ${fileId} ${bob.idTag}`)
      expect((await alice.get(newer.actionId)).status).toBe('A')
    })

    test.each(['DEL', 'DELETE'])('is withdrawn on both sides by %s', async (how) => {
      const { alice, bob, files, settle } = await start()
      const { actionId } = await alice.create({ ...share, audienceTag: bob.idTag })
      await settle()
      await bob.accept(actionId)
      files.told.length = 0
      if (how === 'DELETE') await alice.remove(actionId)
      else await alice.create({ type: 'FSHR', subject: fileId, audienceTag: bob.idTag, subType: 'DEL' })
      await settle()
      expect(files.told.slice(0, 2)).toEqual([
        `withdraw ${fileId} ${bob.idTag}`,
        `drop ${fileId} ${alice.idTag}`,
      ])
      await expect(bob.get(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    })

    test('exists once for a file and a receiver', async () => {
      const { alice, bob, settle } = await start()
      await alice.create({ ...share, audienceTag: bob.idTag })
      await alice.create({ ...share, audienceTag: bob.idTag, content: { permission: 'WRITE' } })
      await alice.create({ ...share, audienceTag: 'zoe.example.org' as IdTag })
      await settle()
      expect(await alice.list()).toHaveLength(2)
      expect(await bob.list()).toMatchObject([{ content: { permission: 'WRITE' } }])
    })

    test('is refused for a file that is not the caller’s, and for a wrong permission', async () => {
      const { alice, bob, forbiddenFiles } = await start()
      const bad = { ...share, audienceTag: bob.idTag }
      forbiddenFiles.add(fileId)
      await expect(alice.create(bad)).rejects.toEqual(fails('E-FILE-NOTFOUND'))
      await expect(alice.create({ ...bad, subject: 'x' })).rejects.toEqual(fails('E-FILE-NOTFOUND'))
      for (const content of [
        { permission: 'ADMIN' },
        {},
        { permission: 'READ', expiresAt: 1_767_225_600_000 },
      ])
        await expect(alice.create({ ...bad, content })).rejects.toEqual(fails('E-VALIDATION'))
    })
  })

  test('are answered by the target alone, and only while they wait', async () => {
    const { alice, bob, ask } = await start()
    const actionId = await ask()
    for (const caller of [identity('eve.example.org'), guest])
      await expect(bob.as(caller).accept(actionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
    await expect(bob.as(identity(alice.idTag)).accept(actionId)).rejects.toEqual(fails('E-AUTH-FORBIDDEN'))
    await expect(alice.accept(actionId)).rejects.toEqual(fails('E-STATE'))
    await bob.accept(actionId)
    await expect(bob.accept(actionId)).rejects.toEqual(fails('E-STATE'))
    await expect(bob.reject(actionId)).rejects.toEqual(fails('E-STATE'))
    const post = await bob.create({ type: 'POST', content: { text: 'a' } })
    await expect(bob.accept(post.actionId)).rejects.toEqual(fails('E-STATE'))
    await expect(bob.reject(`a1~${'A'.repeat(43)}` as ActionId)).rejects.toEqual(fails('E-ACTION-NOTFOUND'))
  })
})
