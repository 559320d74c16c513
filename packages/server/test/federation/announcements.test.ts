import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hashOfToken } from '#features/actions/index.ts'
import type { ForeignServer } from '#harness/foreign-server.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { feedOf } from './acts.ts'

const club = 'club.foreign.localhost'
const dora = 'dora.foreign.localhost'
const lonely = 'lonely.foreign.localhost'
const fay = 'fay.late.localhost'
const written = ['actions', 'relations', 'jobs', 'files', 'blobs'] as const

describe('an announcement of a community on a server of another make', () => {
  let network: TestNetwork
  let foreign: ForeignServer
  let late: ForeignServer
  let bob: Person

  beforeAll(async () => {
    network = await TestNetwork.start(1)
    foreign = await network.addForeign(club, dora, lonely)
    late = await network.addForeign(fay)
  })
  afterAll(() => network[Symbol.asyncDispose]())
  beforeEach(async () => {
    ;({ bob } = await network.cast('bob'))
    await network.server(0).relate(bob.idTag, club, { connection: 'connected' })
  })

  const given = (members: object = {}, by = dora) =>
    foreign.sign(dora, { audienceTag: club, visibility: 'F', content: { text: 'Hello' }, ...members }, { by })
  const announcing = (token: string, members: object = {}, by = club) =>
    foreign.sign(by, {
      type: 'ANNC',
      subject: idOf(token),
      content: { hash: hashOfToken(token) },
      ...members,
    })
  const announced = (token: string, members: object = {}, by = club) =>
    [announcing(token, members, by), token] as const
  const deliver = async (token: string, beside?: string) => {
    const { status, body } = await network.server(0).deliver(token, '/api/inbox', beside)
    await network.settle()
    return { status, issues: body.error?.details?.issues?.map(({ path }) => path) }
  }

  test('is taken for who is a member there, and the action is its author’s', async () => {
    expect(await deliver(...announced(given()))).toEqual({ status: 200, issues: undefined })
    expect(await feedOf(bob)).toEqual(['Hello'])
    const { actionId } = payloadOf(given())
    expect(actionId).toMatch(/^a1~/)
  })

  test('is needed: what its member sends by itself is nobody’s here', async () => {
    expect(await deliver(given())).toMatchObject({ status: 404 })
    expect(await feedOf(bob)).toEqual([])
  })

  test('takes its post away again', async () => {
    const token = given()
    await deliver(...announced(token))
    await deliver(foreign.sign(club, { type: 'ANNC', subType: 'DEL', subject: idOf(token) }))
    expect(await feedOf(bob)).toEqual([])
    await deliver(...announced(token))
    expect(await feedOf(bob)).toEqual([])
  })

  test('that nobody here follows concerns nobody', async () => {
    const token = given({ audienceTag: lonely })
    expect(await deliver(...announced(token, {}, lonely))).toMatchObject({ status: 404 })
  })

  test('is refused whole when anything about it is wrong, and nothing of it remains', async () => {
    await deliver(...announced(given()))
    const before = await network.server(0).countRows(...written)
    const other = given()
    const bad: [string, string, number][] = [
      ['signed by somebody else', given({}, club), 401],
      ['given to another community', given({ audienceTag: 'other.foreign.localhost' }), 400],
      ['given to nobody', given({ audienceTag: undefined }), 400],
      ['an announcement itself', announcing(given(), { audienceTag: club }), 400],
      ['expired', given({ exp: 1 }), 400],
    ]
    for (const [what, token, status] of bad)
      expect({ what, ...(await deliver(...announced(token))) }).toMatchObject({ what, status })
    for (const members of [
      { subject: idOf(other) },
      { content: { hash: 1 } },
      { content: { hash: hashOfToken(other) } },
      { content: undefined },
    ])
      expect(await deliver(...announced(given(), members))).toMatchObject({ status: 400 })
    // What is inside needs no hash, and is held to the same rules.
    const inner = given()
    const nested = announcing(inner, { audienceTag: club, content: { token: inner } })
    expect(await deliver(announcing(nested, { content: { token: nested } }))).toMatchObject({ status: 400 })
    expect(await deliver(announcing(given()))).toEqual({ status: 400, issues: ['/announced'] })
    expect(await deliver(announcing(given()), 'hello')).toMatchObject({ status: 400 })
    expect(await deliver(announcing(given()), other)).toMatchObject({ status: 400 })
    expect(await network.server(0).countRows(...written)).toEqual(before)
    expect(await feedOf(bob)).toEqual(['Hello'])
  })

  test('of what is for connections is nothing to a mere follower', async () => {
    await network.server(0).relate(bob.idTag, club, { connection: 'disconnected', isFollowing: true })
    await deliver(...announced(given({ visibility: 'C', content: { text: 'Inner' } })))
    await deliver(...announced(given({ content: { text: 'Outer' } })))
    expect(await feedOf(bob)).toEqual(['Outer'])
  })

  test('waits, unseen, while its author’s key cannot be had', async () => {
    late.fault = 503
    const token = late.sign(fay, { audienceTag: club, visibility: 'F', content: { text: 'Late' } })
    expect(await deliver(...announced(token))).toMatchObject({ status: 200 })
    expect(await feedOf(bob)).toEqual([])
    late.fault = undefined
    await network.pass(3_600_000, 600_000)
    expect(await feedOf(bob)).toEqual(['Late'])
  })
})

function payloadOf(token: string): { actionId: string } {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { actionId: string }
}

function idOf(token: string): string {
  return payloadOf(token).actionId
}
