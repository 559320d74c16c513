import { type ActionTypeName, actionTypeNames, type IdTag, type StrangerSetting } from '@kith/protocol'
import { expect, test } from 'vitest'
import { changeRelation, noRelation, type Relation } from '#features/relations/index.ts'
import { type Actor, actionLab } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'

const fails = (code: string) => expect.objectContaining({ code })
const fileId = `b1~${'A'.repeat(43)}`
const unknownId = `a1~${'A'.repeat(43)}`

const toPersons: [string, Partial<Relation>, boolean][] = [
  ['a stranger', {}, false],
  ['a follower', { isFollower: true }, false],
  ['who asked for a connection', { connection: 'asked' }, false],
  ['who is followed', { isFollowing: true }, true],
  ['a connection', { connection: 'connected' }, true],
]
const toCommunities: typeof toPersons = [
  ['a stranger', {}, false],
  ['who was turned out', { role: 'public' }, false],
  ['a follower', { role: 'follower', isFollower: true }, false],
  ['a supporter', { role: 'supporter' }, false],
  ['a contributor', { role: 'contributor' }, true],
  ['a moderator', { role: 'moderator' }, true],
]
const receivers = [
  ...toPersons.map((row) => ['person', ...row] as const),
  ...toCommunities.map((row) => ['community', ...row] as const),
]
const settings: (StrangerSetting | undefined)[] = [undefined, 'privacy.open_messages', 'privacy.open_wall']
const places = ['addressed', 'among the audience', 'named', 'with an own action named'] as const
type Place = (typeof places)[number]

interface Case {
  readonly type: ActionTypeName
  readonly receiver: 'person' | 'community'
  readonly isKnown: boolean
  readonly setting: StrangerSetting | undefined
  readonly place: Place
}

/** The same table, written independently of the data of the types. */
function isTaken({ type, receiver, isKnown, setting, place }: Case): boolean {
  const isAddressed = place === 'addressed' || place === 'among the audience'
  switch (type) {
    case 'APKG':
      return isKnown
    case 'MSG':
      return isAddressed && (isKnown || setting === 'privacy.open_messages')
    case 'POST':
    case 'SHRE':
    case 'REPOST':
      return isKnown || !isAddressed || (receiver === 'person' && setting === 'privacy.open_wall')
    default:
      return true
  }
}

eachDialect('for each type and each kind of issuer a receiver accepts what the table says:', (open) => {
  const openLab = actionLab(open)

  async function start() {
    const lab = await openLab()
    const eve = await lab.makeTenant('eve.example.com')
    const person = await lab.makeTenant('alice.example.com')
    const community = await lab.makeTenant('club.example.com', 'community')
    const relate = (to: Actor, relation: Partial<Relation>) =>
      lab.db.transact(to.tenant.tenantId, (tx) =>
        changeRelation(tx, eve.idTag, { ...noRelation(eve.idTag), ...relation, at: 1 }),
      )
    const own = async (of: Actor) => ({
      postId: (await of.create({ type: 'POST', content: { text: 'Mine' }, visibility: 'P' })).actionId,
      letterId: (
        await of.create({ type: 'MSG', content: { text: 'You' }, audienceTag: 'far.example.com' as IdTag })
      ).actionId,
    })
    const ownIds = { person: await own(person), community: await own(community) }
    return { ...lab, eve, person, community, relate, ownIds }
  }
  type Lab = Awaited<ReturnType<typeof start>>

  function membersOf({ ownIds }: Lab, { type, receiver, place }: Case, idTag: IdTag) {
    const { postId } = ownIds[receiver]
    const at = {
      addressed: { audienceTag: idTag, subject: unknownId },
      'among the audience': { audience: ['somebody.example.com', idTag], subject: unknownId },
      named: { subject: idTag },
      'with an own action named': { subject: postId },
    }[place]
    const said = { type, visibility: 'P', content: { text: 'Hello' }, ...at }
    switch (type) {
      case 'CMNT':
        return { ...said, parentId: postId, subject: undefined }
      case 'REPOST':
        return place === 'named' ? { ...said, subject: postId } : said
      case 'REACT':
        return { ...said, subType: 'LIKE', subject: postId }
      case 'INVT':
        return { ...said, audienceTag: idTag, subject: 'club.elsewhere.example', visibility: undefined }
      case 'FSHR':
        return { ...said, audienceTag: idTag, subject: fileId, content: { permission: 'READ' } }
      case 'FLLW':
      case 'CONN':
        return { ...said, audienceTag: idTag, subject: undefined, visibility: undefined }
      case 'MSG':
        return place === 'named' || place === 'with an own action named'
          ? { ...said, audienceTag: 'somebody.example.com' }
          : { ...said, visibility: undefined }
      case 'APKG':
        return { ...said, content: { name: 'Chess', version: '1' }, attachments: [fileId] }
      case 'SHRE':
        return { ...said, content: { url: 'https://example.com' } }
      default:
        return said
    }
  }

  const walked = actionTypeNames.filter((type) => type !== 'ACK')
  test.each(walked)('%s', async (type) => {
    const lab = await start()
    for (const [receiver, who, relation, isKnown] of receivers)
      for (const setting of settings)
        for (const place of places) {
          const at: Case = { type, receiver, isKnown, setting, place }
          const to = lab[receiver]
          lab.settings.open.clear()
          if (setting) lab.settings.open.add(setting)
          await lab.relate(to, relation)
          lab.tick()
          const token = await lab.forge(lab.eve, membersOf(lab, at, to.idTag))
          const { kind } = await lab.receive(to.tenant, token)
          const expected = isTaken(at)
          expect({ ...at, who, isTaken: kind === 'stored' }).toEqual({ ...at, who, isTaken: expected })
        }
  })

  test('ACK, of a message that the stranger received', async () => {
    const { person, eve, settings, settle, forge, receive } = await start()
    settings.open.add('privacy.open_messages')
    const sent = await person.create({ type: 'MSG', content: { text: 'Hi' }, audienceTag: eve.idTag })
    await settle()
    const ack = await forge(eve, { type: 'ACK', subject: sent.actionId, audienceTag: person.idTag })
    expect(await receive(person.tenant, ack)).toEqual({ kind: 'stored' })
  })

  test.each(['CMNT', 'REACT'])(
    'not %s about what is not held here, or what the stranger may not read',
    async (type) => {
      const { person, eve, ownIds, forge, receive } = await start()
      for (const actionId of [unknownId, ownIds.person.letterId]) {
        const about = type === 'CMNT' ? { parentId: actionId } : { subject: actionId, subType: 'LIKE' }
        const members = { type, audienceTag: person.idTag, content: { text: 'Hello' }, ...about }
        expect(await receive(person.tenant, await forge(eve, members))).toEqual({ kind: 'stranger' })
      }
    },
  )

  test.each([
    ['POST', {}],
    ['CMNT', { parentId: unknownId }],
  ])('a %s that is not accepted leaves nothing behind, and may come again', async (type, about) => {
    const { person, eve, relate, forge, receive } = await start()
    const token = await forge(eve, {
      type,
      content: { text: 'Buy' },
      audienceTag: person.idTag,
      visibility: 'P',
      ...about,
    })
    expect(await receive(person.tenant, token)).toEqual({ kind: 'stranger' })
    expect(await person.list({ issuer: eve.idTag, status: ['A', 'C', 'N', 'P', 'D'] })).toEqual([])
    await relate(person, { isFollowing: true })
    expect(await receive(person.tenant, token)).toEqual({ kind: 'stored' })
  })

  test('the same between tenants of one server, which refuses before anything is made', async () => {
    const { person, community, eve, relate, settings } = await start()
    const post = { type: 'POST', content: { text: 'Hello' } } as const
    const ways = [
      (to: Actor) => eve.create({ ...post, audienceTag: to.idTag }),
      (to: Actor) => eve.create({ ...post, audience: [to.idTag] }),
      (to: Actor) => eve.create({ ...post, audienceTag: to.idTag, draft: true }),
      (to: Actor) =>
        eve.create({ type: 'SHRE', content: { url: 'https://a.example' }, audienceTag: to.idTag }),
      (to: Actor) => eve.create({ type: 'MSG', content: { text: 'Hello' }, audienceTag: to.idTag }),
    ]
    for (const to of [person, community])
      for (const way of ways) await expect(way(to)).rejects.toEqual(fails('E-AUTH-FORBIDDEN'))
    await eve.create({ type: 'CONN', audienceTag: person.idTag })
    await eve.create({ type: 'FLLW', audienceTag: community.idTag })
    settings.open.add('privacy.open_wall')
    await eve.create({ ...post, audienceTag: person.idTag })
    await expect(eve.create({ ...post, audienceTag: community.idTag })).rejects.toEqual(
      fails('E-AUTH-FORBIDDEN'),
    )
    await relate(community, { role: 'contributor' })
    await eve.create({ ...post, audienceTag: community.idTag })
  })

  test('no announcement by a community that it does not know', async () => {
    const { person, community, forge, receive, db } = await start()
    const rows = () =>
      db
        .reader(person.tenant.tenantId)
        .tables<{ actions: { tenant_id: number; type: string; action_id: string } }>()
        .selectFrom('actions')
        .select('action_id')
        .where('tenant_id', '=', person.tenant.tenantId)
        .where('type', '=', 'ANNC')
        .execute()
    const word = { type: 'ANNC', subject: unknownId, audienceTag: person.idTag }
    expect(await receive(person.tenant, await forge(community, word))).toEqual({ kind: 'stranger' })
    await receive(person.tenant, await forge(community, { ...word, subType: 'DEL' }))
    expect(await rows()).toEqual([])
  })
})
