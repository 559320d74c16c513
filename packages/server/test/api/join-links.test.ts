import type { Client } from '@kith/client'
import {
  createAction,
  createJoinLink,
  createReference,
  deleteReference,
  endJoinLink,
  findReference,
  getProfile,
  type IdTag,
  type JoinLink,
  listJoinLinks,
  listReferences,
  maxJoinLinks,
  type RefId,
  redeemJoinLink,
} from '@kith/protocol'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { RecordedLog } from '#harness/recorded-log.ts'
import { TestServer } from '#harness/test-server.ts'

const [club, lea, mo, bob, carol, dan] = ['club', 'lea', 'mo', 'bob', 'carol', 'dan'].map(
  (name) => `${name}.localhost`,
) as [IdTag, IdTag, IdTag, IdTag, IdTag, IdTag]
const unknown = '0123456789ABCDEFabcdefgh' as RefId
const absent = expect.objectContaining({ status: 404, code: 'E-NOTFOUND' })
const forbidden = expect.objectContaining({ status: 403, code: 'E-AUTH-FORBIDDEN' })

eachDialect('a link into a community', (open) => {
  let log: RecordedLog
  let server: TestServer
  let guests = 0
  beforeEach(async () => {
    const { url } = await open.place()
    log = new RecordedLog({ level: 'debug' })
    server = await TestServer.start({ env: { DATABASE_URL: url, LOG_LEVEL: 'debug' }, logger: log.logger })
    await server.createTenant(club, { type: 'community', name: 'Club' })
    for (const name of [lea, mo, bob, carol, dan]) await server.createTenant(name)
    await server.relate(club, lea, { connection: 'connected', role: 'leader' })
    await server.relate(club, mo, { connection: 'connected', role: 'moderator' })
    await server.relate(club, bob, { connection: 'connected', role: 'contributor' })
  })
  afterEach(() => server?.stop())

  const at = async (idTag: string): Promise<Client> => (await server.as(idTag)).at(club)
  const make = async (body: object = {}, by: string = mo): Promise<JoinLink & { code: RefId }> =>
    (await (await at(by)).call(createJoinLink, { body })).data as never
  const redeem = async (by: string, code: string) =>
    (await (await at(by)).call(redeemJoinLink, { body: { code: code as RefId } })).data.standing
  const list = async (by: string = mo) => (await (await at(by)).call(listJoinLinks, {})).data
  const usesOf = async ({ linkId }: JoinLink) => (await list()).find((link) => link.linkId === linkId)?.count
  const roleOf = async (idTag: string) =>
    (await (await at(lea)).call(getProfile, { params: { idTag } })).data.role ?? 'public'
  const guest = async () => {
    guests += 1
    return (await server.createTenant(`guest${guests}.localhost`)).idTag
  }
  const ask = async (by: string) =>
    (await server.as(by)).call(createAction, { body: { type: 'CONN', audienceTag: club } })

  test('is made, listed and ended by moderators and leaders, whoever made it', async () => {
    const expiresAt = Math.floor(server.clock.now() / 1000) + 600
    const link = await make({ description: 'Notice board', count: 20, expiresAt })
    expect(link).toEqual({
      linkId: expect.stringMatching(/^[\w-]{43}$/),
      code: expect.stringMatching(/^[0-9A-Za-z]{24}$/),
      description: 'Notice board',
      createdBy: mo,
      createdAt: expect.any(Number),
      expiresAt,
      count: 20,
    })
    expect(await list(lea)).toEqual([link])
    for (const other of [bob, carol]) {
      const client = await at(other)
      await expect(client.call(listJoinLinks, {})).rejects.toEqual(forbidden)
      await expect(client.call(createJoinLink, { body: {} })).rejects.toEqual(forbidden)
      const { linkId } = link
      await expect(client.call(endJoinLink, { params: { linkId } })).rejects.toEqual(forbidden)
    }
    await (await at(lea)).call(endJoinLink, { params: { linkId: link.linkId } })
    expect(await list()).toEqual([])
    const again = (await at(lea)).call(endJoinLink, { params: { linkId: link.linkId } })
    await expect(again).rejects.toEqual(absent)
  })

  test('belongs to communities, and is made at no other place', async () => {
    const own = await server.as(mo)
    await expect(own.call(createJoinLink, { body: {} })).rejects.toEqual(absent)
    await expect(own.call(redeemJoinLink, { body: { code: unknown } })).rejects.toEqual(absent)
    await expect(own.call(createReference, { body: { type: 'community.join' } })).rejects.toEqual(forbidden)
    const past = make({ expiresAt: Math.floor(server.clock.now() / 1000) - 1 })
    await expect(past).rejects.toMatchObject({ code: 'E-VALIDATION' })
  })

  test('lets in who redeems it, at once and without a moderator', async () => {
    const link = await make({ count: 2 })
    const [before, later] = [await guest(), await guest()]
    await ask(before)
    await server.settle()
    expect(await roleOf(before)).toBe('public')
    expect([await redeem(before, link.code), await redeem(later, link.code)]).toEqual(['invited', 'invited'])
    await ask(later)
    await server.settle()
    expect([await roleOf(before), await roleOf(later)]).toEqual(['contributor', 'contributor'])
    expect(await usesOf(link)).toBeUndefined()
    expect(await redeem(later, link.code)).toBe('member')
  })

  test('takes one use of an identity, however often and at the same time', async () => {
    const link = await make({ count: 5 })
    const who = await guest()
    const standings = await Promise.all([1, 2, 3].map(() => redeem(who, link.code)))
    expect([...standings, await redeem(who, link.code)]).toEqual(Array(4).fill('invited'))
    expect(await usesOf(link)).toBe(4)
    expect(await redeem(bob, link.code)).toBe('member')
    expect(await usesOf(link)).toBe(4)
  })

  test('gives its last use to one of those who race for it', async () => {
    const link = await make({ count: 1 })
    const racers = await Promise.all([1, 2, 3, 4].map(guest))
    const settled = await Promise.allSettled(racers.map((who) => redeem(who, link.code)))
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of settled) if (outcome.status === 'rejected') expect(outcome.reason).toEqual(absent)
    for (const who of racers) await ask(who)
    await server.settle()
    const roles = await Promise.all(racers.map(roleOf))
    expect(roles.filter((role) => role === 'contributor')).toHaveLength(1)
    const winner = settled.findIndex(({ status }) => status === 'fulfilled')
    expect(roles[winner]).toBe('contributor')
  })

  test('invites nobody but who redeemed it', async () => {
    const link = await make({ count: 1 })
    const [invited, other] = [await guest(), await guest()]
    await redeem(invited, link.code)
    await ask(other)
    await server.settle()
    expect(await roleOf(other)).toBe('public')
  })

  test('is answered like an unknown code when it serves no more, and so is who is kept out', async () => {
    const who = await guest()
    const answerOf = (by: string, code: string) =>
      redeem(by, code).catch(({ status, code, message, details }) => ({ status, code, message, details }))
    const refused = await answerOf(who, unknown)
    expect(refused).toMatchObject({ status: 404, code: 'E-NOTFOUND' })
    const used = await make({ count: 1 })
    await redeem(carol, used.code)
    const over = await make({ expiresAt: Math.floor(server.clock.now() / 1000) + 60 })
    const ended = await make()
    await (await at(mo)).call(endJoinLink, { params: { linkId: ended.linkId } })
    const ofFormer = await make({ count: null }, lea)
    await server.relate(club, lea, { role: 'contributor' })
    server.clock.advance(61_000)
    for (const { code } of [used, over, ended, ofFormer]) {
      expect(await answerOf(who, code)).toEqual(refused)
    }
    for (const { code } of [used, over, ended]) {
      const found = server.client(club).call(findReference, { body: { refId: code } })
      await expect(found).rejects.toEqual(absent)
    }
    expect((await list()).map(({ code }) => code)).not.toContain(ofFormer.code)
    await server.relate(club, lea, { role: 'leader' })
    const { data } = await server.client(club).call(findReference, { body: { refId: ofFormer.code } })
    expect(data).toEqual({ refId: ofFormer.code, type: 'community.join', state: 'active' })
    await server.relate(club, dan, { isBlocked: true, isMuted: true, standing: 'Banned' })
    expect(await answerOf(dan, ofFormer.code)).toEqual(refused)
    expect(await answerOf(who, ofFormer.code)).toBe('invited')
  })

  test('stands for a month after it was redeemed, whatever becomes of the link, and not after leaving', async () => {
    const link = await make({ count: 3 })
    const [soon, late] = [await guest(), await guest()]
    await redeem(soon, link.code)
    await redeem(late, link.code)
    await (await at(mo)).call(endJoinLink, { params: { linkId: link.linkId } })
    await ask(soon)
    await server.settle()
    expect(await roleOf(soon)).toBe('contributor')
    server.clock.advance(5_000)
    const leave = { type: 'CONN', subType: 'DEL', audienceTag: club } as const
    await (await server.as(soon)).call(createAction, { body: leave })
    await server.settle()
    server.clock.advance(5_000)
    await ask(soon)
    await server.settle()
    expect(await roleOf(soon)).toBe('public')
    server.clock.advance(31 * 86_400_000)
    await ask(late)
    await server.settle()
    expect(await roleOf(late)).toBe('public')
  })

  test('is one of so many, and is its maker’s as other references are', async () => {
    const made: JoinLink[] = await list()
    while (made.length < maxJoinLinks) made.push(await make())
    await expect(make()).rejects.toMatchObject({ status: 409, code: 'E-STATE' })
    const [link] = made
    expect((await list()).length).toBe(maxJoinLinks)
    const { data: own } = await server
      .client(club, await server.tokenOfSession(club))
      .call(listReferences, {})
    expect(own.map(({ refId }) => refId)).not.toContain(link?.code)
    const refId = link?.code as RefId
    await expect(server.client(club).call(deleteReference, { params: { refId } })).rejects.toMatchObject({
      status: 401,
    })
  })

  test('of a former moderator serves nobody, and takes the room of no other', async () => {
    for (let made = (await list()).length; made < maxJoinLinks; made += 1) await make({ count: null })
    const [left] = await list()
    await server.relate(club, mo, { role: 'contributor' })
    expect(await list(lea)).toEqual([])
    const another = await make({}, lea)
    expect((await list(lea)).map(({ linkId }) => linkId)).toEqual([another.linkId])
    await server.relate(club, mo, { role: 'moderator' })
    await expect(redeem(await guest(), left?.code ?? '')).rejects.toEqual(absent)
  })

  test('has its code in no line of the log', async () => {
    const link = await make({ count: 1 })
    await redeem(await guest(), link.code)
    expect(log.lines.some((line) => line.includes('join-links/redeem'))).toBe(true)
    expect(log.lines.filter((line) => line.includes(link.code))).toEqual([])
  })
})
