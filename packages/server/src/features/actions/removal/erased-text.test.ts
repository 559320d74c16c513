import type { ActionId } from '@kith/protocol'
import { expect, test } from 'vitest'
import { changeRelation } from '#features/relations/index.ts'
import { type ActionLab, type Actor, actionLab, readToken } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { findText } from '#harness/find-text.ts'
import { planStatements } from '#harness/recorded-statements.ts'
import { labBytes } from '#harness/test-seed.ts'
import { serverTenant } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { compactSearch } from '../search/reindex-actions.ts'
import { eraseAction } from './erase-store.ts'
import { sweepSpentTokens } from './sweep-memory.ts'
import { withdrawSignedLater } from './withdraw-signed.ts'

const daySecs = 86_400

interface Scene {
  readonly lab: ActionLab
  readonly alice: Actor
  readonly bob: Actor
  /** One word that stands nowhere else. */
  readonly word: string
}

interface Ending {
  /** Says the word, and answers how that is ended. */
  readonly say: (scene: Scene) => Promise<() => Promise<unknown>>
  /** Those at whom nothing of it is left. */
  readonly gone: (scene: Scene) => readonly Actor[]
}

const bothOf = ({ alice, bob }: Scene) => [alice, bob]
const aliceOf = ({ alice }: Scene) => [alice]
const bobOf = ({ bob }: Scene) => [bob]

const saying = (word: string) => ({
  type: 'POST' as const,
  visibility: 'P' as const,
  subType: `T-${word}`,
  subject: `about ${word}`,
  flags: word,
  content: { text: `Says ${word} and #${word}`, tags: [word] },
  x: { note: word },
})

const follow = ({ bob, word }: Scene, members: object = {}) => ({
  type: 'FLLW' as const,
  audienceTag: bob.idTag,
  subject: word,
  ...members,
})

const share = (to: Actor, message: string) => ({
  type: 'FSHR' as const,
  audienceTag: to.idTag,
  subject: `b1~${'A'.repeat(43)}`,
  content: { permission: 'READ', message },
})

async function issued({ lab }: Scene, who: Actor, body: Parameters<Actor['create']>[0]): Promise<ActionId> {
  lab.tick()
  const { actionId } = await who.create({ ...body, idempotencyKey: labBytes(12).toString('hex') })
  await lab.settle()
  return actionId as ActionId
}

const endings: Readonly<Record<string, Ending>> = {
  'a post that its issuer deletes': {
    async say(scene) {
      const actionId = await issued(scene, scene.alice, saying(scene.word))
      return () => scene.alice.remove(actionId)
    },
    gone: bothOf,
  },
  'a draft': {
    async say(scene) {
      const actionId = await issued(scene, scene.alice, { ...saying(scene.word), draft: true })
      return () => scene.alice.remove(actionId)
    },
    gone: bothOf,
  },
  'a scheduled post': {
    async say(scene) {
      const publishAt = nowSecs(scene.lab.clock) + daySecs
      const actionId = await issued(scene, scene.alice, { ...saying(scene.word), publishAt })
      return () => scene.alice.remove(actionId)
    },
    gone: bothOf,
  },
  'a message': {
    async say(scene) {
      const { alice, bob, word } = scene
      const content = { text: word, subject: word }
      const actionId = await issued(scene, alice, { type: 'MSG', audienceTag: bob.idTag, content })
      return () => alice.remove(actionId)
    },
    gone: bothOf,
  },
  'a comment that the owner of its thread removes': {
    async say(scene) {
      const { alice, bob, word } = scene
      const parentId = await issued(scene, alice, { ...saying('root'), subject: 'root' })
      const actionId = await issued(scene, bob, { type: 'CMNT', parentId, content: { text: word } })
      return () => alice.remove(actionId)
    },
    gone: aliceOf,
  },
  'what has expired': {
    async say(scene) {
      const expiresAt = nowSecs(scene.lab.clock) + 3600
      await issued(scene, scene.alice, { ...saying(scene.word), expiresAt })
      return async () => scene.lab.tick(3600)
    },
    gone: bothOf,
  },
  'a request that is refused': {
    async say(scene) {
      const { alice, bob, word } = scene
      const actionId = await issued(scene, alice, {
        type: 'CONN',
        audienceTag: bob.idTag,
        content: { message: word },
      })
      return () => bob.reject(actionId)
    },
    gone: bobOf,
  },
  'a request whose connection ends': {
    async say(scene) {
      const { alice, bob, word } = scene
      const request = { type: 'CONN', audienceTag: bob.idTag, content: { message: word } } as const
      await bob.accept(await issued(scene, alice, request))
      await scene.lab.settle()
      return () => issued(scene, bob, { type: 'CONN', audienceTag: alice.idTag, subType: 'DEL' })
    },
    gone: bobOf,
  },
  'a follow that is taken back': {
    async say(scene) {
      const actionId = await issued(scene, scene.alice, follow(scene))
      return () => scene.alice.remove(actionId)
    },
    gone: bothOf,
  },
  'a follow that ends': {
    async say(scene) {
      await issued(scene, scene.alice, follow(scene))
      return () => issued(scene, scene.alice, follow(scene, { subject: undefined, subType: 'DEL' }))
    },
    gone: bobOf,
  },
  'a request that nobody answers': {
    async say(scene) {
      const { alice, bob, word } = scene
      await issued(scene, alice, share(bob, word))
      return async () => scene.lab.tick(91 * daySecs)
    },
    gone: bobOf,
  },
  'a share that is withdrawn': {
    async say(scene) {
      const { alice, bob, word } = scene
      const actionId = await issued(scene, alice, share(bob, word))
      return () => alice.remove(actionId)
    },
    gone: bothOf,
  },
  'what a revoked key has signed': {
    async say(scene) {
      const { lab, alice, word } = scene
      await issued(scene, alice, saying(word))
      const [key] = await lab.keys.list(alice.tenant.tenantId)
      const revoked = { issuerTag: alice.idTag, kid: key?.kid ?? '', since: 0 }
      return () => lab.db.transact(serverTenant, (tx) => withdrawSignedLater(lab, tx, revoked))
    },
    gone: bobOf,
  },
}

eachDialect('the text of what has ended', (open) => {
  const openLab = actionLab(open)

  async function start(): Promise<Scene> {
    const lab = await openLab()
    const alice = await lab.makeTenant('alice.example.com')
    const bob = await lab.makeTenant('bob.example.com')
    for (const [one, other] of [
      [alice, bob],
      [bob, alice],
    ] as const)
      await lab.db.transact(one.tenant.tenantId, (tx) =>
        changeRelation(tx, other.idTag, { isFollowing: true, isFollower: true, at: 1 }),
      )
    return { lab, alice, bob, word: `gone${labBytes(10).toString('hex')}` }
  }

  const traces = ({ lab, word }: Scene, { tenant }: Actor) => findText(lab.db, tenant.tenantId, word)

  /** SQLite has one search index for all tenants, which keeps words until it is compacted. */
  const leftAt = async (scene: Scene, actor: Actor) =>
    (await traces(scene, actor)).filter((place) => !place.startsWith('action_texts_'))

  test.each(Object.entries(endings))('goes: %s', async (_, { say, gone }) => {
    const scene = await start()
    const end = await say(scene)
    expect(await traces(scene, gone(scene)[0] as Actor)).toContainEqual(
      expect.stringMatching(/^actions\.(content|subject)$/),
    )
    scene.lab.tick()
    await end()
    await scene.lab.settle()
    for (const actor of gone(scene)) expect(await leftAt(scene, actor)).toEqual([])
    if (gone(scene).length === 2) {
      await compactSearch(scene.lab)
      expect(await traces(scene, scene.alice)).toEqual([])
    }
  })

  test.each(['a deletion', 'an end of its kind'])('does not come where %s has come before', async (end) => {
    const scene = await start()
    const { lab, alice, bob, word } = scene
    const body = end === 'a deletion' ? saying(word) : share(bob, word)
    const members = { ...body, tags: undefined, iat: nowSecs(lab.clock) - 10 }
    const token = await lab.forge(alice, members)
    const { actionId, type, subject, audienceTag } = readToken(token).payload
    const ending = { type, subType: 'DEL', subject: end === 'a deletion' ? actionId : subject, audienceTag }
    await lab.receive(bob.tenant, await lab.forge(alice, JSON.parse(JSON.stringify(ending))))
    await lab.receive(bob.tenant, token)
    expect(await bob.stored(actionId)).toMatchObject({ status: 'D' })
    expect(await leftAt(scene, bob)).toEqual([])
  })

  test('does not come with a word as the kind of what is refused', async () => {
    const scene = await start()
    const { lab, alice, bob, word } = scene
    const token = await lab.forge(alice, { type: 'POST', subType: word, parentId: `a1~${'A'.repeat(43)}` })
    expect(await lab.receive(bob.tenant, token)).toMatchObject({ kind: 'refused' })
    expect(await leftAt(scene, bob)).toEqual([])
  })

  test('goes from the search index within a week', async () => {
    const scene = await start()
    const { lab, alice, word } = scene
    // What is in a part of the index of its own goes with it.
    for (let n = 0; n < 40; n += 1) await issued(scene, alice, saying(`kept${n}`))
    const actionId = await issued(scene, alice, saying(word))
    await alice.remove(actionId)
    lab.tick(7 * daySecs)
    await lab.settle()
    expect(await traces(scene, alice)).toEqual([])
  })

  test('goes from the end of a follow, but not that it is one', async () => {
    const scene = await start()
    const { alice, bob } = scene
    const endId = await issued(scene, alice, follow(scene, { subType: 'DEL' }))
    expect(await bob.stored(endId)).toMatchObject({ status: 'A', subType: 'DEL', subject: scene.word })
    await issued(scene, alice, follow(scene, { subject: undefined }))
    expect(await bob.stored(endId)).toMatchObject({ status: 'D', subType: 'DEL', subject: undefined })
  })

  const request = ({ bob, word }: Scene, members: object = {}) => ({
    type: 'CONN' as const,
    audienceTag: bob.idTag,
    content: { message: word },
    ...members,
  })

  test('stays in the token alone where that may still have to leave, for three weeks', async () => {
    const scene = await start()
    const { lab, alice, bob } = scene
    await issued(scene, alice, request(scene))
    await issued(scene, alice, request(scene, { subType: 'DEL', content: undefined }))
    expect(await leftAt(scene, alice)).toEqual(['actions.token'])
    // Nothing of it has to leave from its receiver.
    expect(await leftAt(scene, bob)).toEqual([])
    lab.tick(21 * daySecs - 3600)
    await lab.settle()
    expect(await leftAt(scene, alice)).toEqual(['actions.token'])
    lab.tick(2 * 3600)
    await lab.settle()
    expect(await leftAt(scene, alice)).toEqual([])
  })

  test('has left no doubt whether an action had taken the place of another, once the token of that is gone', async () => {
    const scene = await start()
    const { lab, alice, bob } = scene
    const about = await issued(scene, bob, saying('liked'))
    await alice.react(about, 'LIKE')
    await lab.settle()
    const [first] = await bob.list({ type: ['REACT'] })
    const firstId = first?.actionId ?? ''
    lab.tick(21 * daySecs - 3600)
    await lab.settle()
    await alice.react(about, 'LOVE')
    lab.tick()
    await alice.react(about, null)
    // Nothing of this has left before the sweep.
    for (let hour = 0; hour < 2; hour += 1) {
      lab.tick(3600)
      await lab.jobs.settle()
    }
    expect(await alice.stored(firstId)).toMatchObject({ status: 'D', token: undefined })
    expect(await bob.stored(firstId)).toMatchObject({ status: 'A' })
    await lab.settle()
    expect(await bob.stored(firstId)).toMatchObject({ status: 'D' })
    expect((await bob.get(about)).stat).toMatchObject({ reactions: 0 })
  })

  // The planner of PostgreSQL goes by what is in the tables.
  test.runIf(open.dialect === 'sqlite')('goes without a look at what else the tenant has said', async () => {
    const { lab, alice } = await start()
    const { actionId } = await alice.create(saying('word'))
    const steps = await planStatements(lab.db, async (recorded) => {
      await recorded.transact(alice.tenant.tenantId, (tx) => eraseAction(tx, actionId as ActionId))
      await sweepSpentTokens(recorded, nowSecs(lab.clock))
    })
    const used = steps.flatMap(
      (step) => step.match(/(?<=INDEX |using |Index Scan on )(?:action_|actions_t|idem)\w+/g) ?? [],
    )
    expect(new Set(used)).toEqual(
      new Set(['action_attachments_of', 'action_tags_of', 'actions_tokens_left', 'idempotency_keys_of']),
    )
  })

  test('is not in the answer to a request that is repeated', async () => {
    const scene = await start()
    const { alice, word } = scene
    const body = { ...saying(word), idempotencyKey: 'once' }
    const { actionId } = await alice.create(body)
    expect(await alice.create(body)).toMatchObject({ actionId, status: 'A', content: body.content })
    await alice.remove(actionId)
    const again = await alice.create(body)
    expect(again).toMatchObject({ actionId, status: 'D' })
    expect(JSON.stringify(again)).not.toContain(word)
  })
})
