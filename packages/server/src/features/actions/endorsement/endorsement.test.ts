import type { ActionId, NewAction } from '@kith/protocol'
import { expect, test } from 'vitest'
import { type Actor, actionLab, guest, readToken } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { planStatements, recordTransactions } from '#harness/recorded-statements.ts'
import type { Database } from '#infra/db/index.ts'
import { hashOfToken } from '../action-id.ts'
import { compareEndorsements } from './endorsement-store.ts'
import { hashesOfToken } from './token-hashes.ts'

const say = (text: string) => ({ content: { text }, visibility: 'P' as const })

eachDialect('an action about another', (open) => {
  const openLab = actionLab(open)

  /** Mallory gives Alice and Bob, who follow each other, two texts under one id. */
  async function start(members: Readonly<Record<string, unknown>> = { type: 'POST', visibility: 'P' }) {
    const lab = await openLab()
    const alice = await lab.makeTenant('alice.example.com')
    const [bob, mallory] = [
      await lab.makeTenant('bob.example.com'),
      await lab.makeTenant('mallory.example.com'),
    ]
    for (const [one, other] of [
      [alice, bob],
      [bob, alice],
      [alice, mallory],
      [bob, mallory],
    ] as const) {
      await one.create({ type: 'FLLW', audienceTag: other.idTag })
      await lab.settle()
    }
    const kittens = await lab.forge(mallory, { ...members, content: { text: 'kittens' } })
    const { actionId, nonce } = readToken(kittens).payload
    const poison = await lab.forge(mallory, { ...members, actionId, nonce, content: { text: 'poison' } })
    const tokenOf = (who: Actor, id: string) => lab.tokenOf(who.tenant.tenantId, id as ActionId)
    /** Bob hears of what somebody has said; of a comment from Mallory, who decides in the thread. */
    const hearOf = async (token: string) => {
      const { type, subType, actionId: subject } = readToken(token).payload
      if (type !== 'CMNT' || subType !== undefined) return await lab.receive(bob.tenant, token)
      const content = { hash: hashOfToken(token) }
      return await lab.receive(
        bob.tenant,
        await lab.forge(mallory, { type: 'ANNC', subject, content }),
        token,
      )
    }
    /** Alice, who holds the kittens, says something about them, and Bob hears of it before or after `other`. */
    const hear = async (body: NewAction, order: string, other = poison) => {
      await lab.receive(alice.tenant, kittens)
      const { actionId: saidId } = await alice.create(body)
      const said = await tokenOf(alice, saidId)
      for (const token of order === 'before' ? [said, other] : [other, said]) await hearOf(token)
      return saidId
    }
    return { ...lab, alice, bob, mallory, kittens, poison, actionId, tokenOf, hear, hearOf }
  }

  const about: Record<string, (actionId: string) => NewAction> = {
    REPOST: (subject) => ({ type: 'REPOST', subject }),
    SHRE: (subject) => ({ type: 'SHRE', subject, ...say('Look, @bob.example.com') }),
    REACT: (subject) => ({ type: 'REACT', subType: 'LOVE', subject }),
    CMNT: (parentId) => ({ type: 'CMNT', parentId, content: { text: 'See, @bob.example.com' } }),
  }
  // A comment cannot be announced before its root.
  const orders = Object.keys(about).flatMap((type) =>
    type === 'CMNT'
      ? [[type, 'after']]
      : [
          [type, 'before'],
          [type, 'after'],
        ],
  ) as [string, string][]

  test.each(Object.keys(about))('carries the hash of the token that its issuer holds: %s', async (type) => {
    const { alice, kittens, actionId, receive, tokenOf } = await start()
    await receive(alice.tenant, kittens)
    const body = { ...about[type]?.(actionId), subjectHash: 'x', parentHash: 'x' } as unknown as NewAction
    const said = await alice.create(body)
    const { subjectHash, parentHash } = readToken(await tokenOf(alice, said.actionId)).payload
    const hash = hashOfToken(kittens)
    expect({ subjectHash, parentHash }).toEqual(
      type === 'CMNT'
        ? { subjectHash: undefined, parentHash: hash }
        : { subjectHash: hash, parentHash: undefined },
    )
  })

  test.each(orders)('is kept apart from another text of that id: %s that came %s it', async (type, order) => {
    const { bob, actionId, hear } = await start()
    const aboutId = await hear(about[type]?.(actionId) as NewAction, order)
    const shown = await bob.get(aboutId)
    expect(shown).toMatchObject({ type, mismatched: true, status: 'A' })
    for (const member of ['subject', 'parentId', 'rootId']) expect(shown).not.toHaveProperty(member)
    expect(await bob.list({ actionId: [aboutId] })).toEqual([expect.objectContaining({ mismatched: true })])
    for (const name of ['subject', 'parentId', 'rootId'] as const)
      expect(await bob.list({ [name]: actionId })).toEqual([])
    expect((await bob.get(actionId)).stat).toMatchObject({ comments: 0, reactions: 0, shares: 0 })
  })

  test.each(orders)('belongs to it where the text is the same: %s that came %s it', async (type, order) => {
    const { bob, actionId, hear, kittens } = await start()
    const aboutId = await hear(about[type]?.(actionId) as NewAction, order, kittens)
    const name = type === 'CMNT' ? 'parentId' : 'subject'
    const [listed] = await bob.list({ [name]: actionId })
    expect(listed).toMatchObject({ actionId: aboutId, [name]: actionId })
    expect(listed).not.toHaveProperty('mismatched')
  })

  test('is kept where the other text is not public', async () => {
    const { bob, mallory, actionId, kittens, hear, forge } = await start()
    const { nonce } = readToken(kittens).payload
    const narrow = await forge(mallory, { type: 'POST', actionId, nonce, ...say('poison'), visibility: 'F' })
    const repostId = await hear({ type: 'REPOST', subject: actionId }, 'after', narrow)
    expect(await bob.get(repostId)).toMatchObject({ mismatched: true })
  })

  test('belongs to it whichever form of its signature was named', async () => {
    const { alice, bob, actionId, kittens, receive, forge } = await start()
    const [, twin] = hashesOfToken(kittens)
    const repost = await forge(alice, {
      type: 'REPOST',
      subject: actionId,
      subjectHash: twin,
      visibility: 'P',
    })
    const reaction = await forge(alice, {
      type: 'REACT',
      subType: 'LOVE',
      subject: actionId,
      subjectHash: twin,
    })
    for (const token of [repost, kittens, reaction]) await receive(bob.tenant, token)
    expect(await bob.list({ subject: actionId })).toHaveLength(2)
  })

  test('has not the readers of the other text', async () => {
    const { alice, bob, mallory, actionId, poison, receive, forge, hearOf } = await start()
    const other = { subjectHash: hashOfToken('another'), parentHash: hashOfToken('another') }
    const reaction = { type: 'REACT', subType: 'LOVE', subject: actionId, ...other }
    const [early, late] = [
      await forge(alice, { ...reaction, visibility: 'P' }),
      await forge(mallory, reaction),
    ]
    for (const token of [early, poison, late]) await receive(bob.tenant, token)
    const comment = await forge(alice, { type: 'CMNT', parentId: actionId, ...other, ...say('A secret') })
    await hearOf(comment)
    for (const token of [early, late, comment]) {
      const id = readToken(token).actionId
      expect(await bob.get(id)).toMatchObject({ mismatched: true, visibility: 'C' })
      await expect(bob.as(guest).get(id)).rejects.toMatchObject({ code: 'E-ACTION-NOTFOUND' })
    }
  })

  test('that answers a comment means the root of the thread too', async () => {
    const { alice, bob, mallory, actionId, kittens, poison, receive, forge, hearOf, tokenOf } = await start()
    await receive(alice.tenant, kittens)
    // Without a hash, as of an older server.
    const said = await forge(mallory, { type: 'CMNT', parentId: actionId, rootId: actionId, ...say('Hm') })
    await receive(alice.tenant, said)
    const first = readToken(said).actionId
    await receive(bob.tenant, poison)
    await hearOf(await tokenOf(alice, first))
    const { actionId: second } = await alice.create({
      type: 'CMNT',
      parentId: first,
      content: { text: 'I agree' },
    })
    const answer = await tokenOf(alice, second)
    expect(readToken(answer).payload).toMatchObject({
      parentHash: hashOfToken(await tokenOf(alice, first)),
      rootHash: hashOfToken(kittens),
    })
    await hearOf(answer)
    expect(await bob.list({ rootId: actionId })).toMatchObject([{ actionId: first }])
    expect(await bob.get(second)).toMatchObject({ mismatched: true })
  })

  test('is looked for by an index when that arrives, and no more is done where there is none', async () => {
    const { db, bob, actionId, poison } = await start()
    const compare = async (on: Database) =>
      on.transact(bob.tenant.tenantId, (tx) =>
        compareEndorsements(tx, { actionId: actionId as ActionId, token: poison }),
      )
    const recorded = recordTransactions(db)
    await compare(recorded)
    expect(recorded.committed[0]?.statements).toEqual([expect.stringMatching(/^select /)])
    const steps = await planStatements(db, compare)
    expect(steps).toContainEqual(expect.stringContaining('actions_targets'))
  })

  test('is not compared where its issuer’s server names no token', async () => {
    const { alice, bob, actionId, poison, receive, forge } = await start()
    await receive(bob.tenant, poison)
    const token = await forge(alice, { type: 'REPOST', subject: actionId, visibility: 'P' })
    await receive(bob.tenant, token)
    const [listed] = await bob.list({ subject: actionId })
    expect(listed).toMatchObject({ subject: actionId })
    expect((await bob.get(actionId)).stat).toMatchObject({ shares: 1 })
  })

  test.each<[string, Readonly<Record<string, string>>]>([
    [
      'a reaction that names its subject as its parent',
      { type: 'REACT', subType: 'LOVE', parentHash: 'A'.repeat(43) },
    ],
    [
      'a comment with its parent, and not with its subject',
      { type: 'CMNT', parentHash: hashOfToken('else') },
    ],
  ])('is compared: %s', async (_, members) => {
    const { alice, bob, mallory, actionId, poison, receive, forge } = await start()
    const other = await forge(mallory, { type: 'POST', ...say('Something else') })
    const named = {
      parentId: actionId,
      ...(members.type === 'CMNT' ? { subject: readToken(other).actionId } : {}),
    }
    // Anybody else's comment would be dropped when its root arrives.
    const issuer = members.type === 'CMNT' ? mallory : alice
    const token = await forge(issuer, { ...members, ...named, ...say('Hm') })
    await receive(bob.tenant, token)
    const isMismatched = async () => (await bob.stored(readToken(token).actionId))?.isMismatched === true
    await receive(bob.tenant, other)
    expect(await isMismatched()).toBe(false)
    await receive(bob.tenant, poison)
    expect(await isMismatched()).toBe(true)
  })

  test('is counted when it takes the place of one that meant something else, and the other way round', async () => {
    const { alice, bob, actionId, poison, receive, forge, tick } = await start()
    await receive(bob.tenant, poison)
    const react = async (subjectHash: string) => {
      tick()
      const token = await forge(alice, { type: 'REACT', subType: 'LOVE', subject: actionId, subjectHash })
      await receive(bob.tenant, token)
      return (await bob.get(actionId)).stat.reactions
    }
    const [held, other] = [hashOfToken(poison), hashOfToken('another')]
    expect(await react(other)).toBe(0)
    expect(await react(held)).toBe(1)
    expect(await react(held)).toBe(1)
    expect(await react(other)).toBe(0)
  })

  test('takes nothing off a count when it is deleted', async () => {
    const { alice, bob, actionId, hear, hearOf, forge, poison } = await start()
    const commentId = await hear(about.CMNT?.(actionId) as NewAction, 'after')
    const parentHash = hashOfToken(poison)
    await hearOf(await forge(alice, { type: 'CMNT', parentId: actionId, parentHash, ...say('Hm') }))
    expect((await bob.get(actionId)).stat).toMatchObject({ comments: 1 })
    await hearOf(await forge(alice, { type: 'CMNT', subType: 'DEL', subject: commentId }))
    await expect(bob.get(commentId)).rejects.toMatchObject({ code: 'E-ACTION-NOTFOUND' })
    expect((await bob.get(actionId)).stat).toMatchObject({ comments: 1 })
  })

  test('that is a message stays in its conversation, without what it answers', async () => {
    const members = { type: 'MSG', audience: ['alice.example.com', 'bob.example.com'] }
    const { bob, actionId, hear } = await start(members)
    const answerId = await hear({ type: 'MSG', parentId: actionId, content: { text: 'Gladly' } }, 'after')
    const answer = await bob.get(answerId)
    expect(answer).toMatchObject({ mismatched: true, rootId: actionId, status: 'N' })
    expect(answer).not.toHaveProperty('parentId')
    expect(await bob.list({ parentId: actionId })).toEqual([])
    expect(await bob.list({ rootId: actionId })).toMatchObject([{ actionId: answerId }])
  })

  test('is not passed on by whoever decides in the thread', async () => {
    const { alice, bob, mallory, settle, forge, receive, tokenOf, sent } = await start()
    await mallory.create({ type: 'FLLW', audienceTag: bob.idTag })
    await settle()
    const { actionId: rootId } = await bob.create({ type: 'POST', ...say('A question') })
    await settle()
    const comment = { type: 'CMNT', parentId: rootId, rootId }
    const kind = await forge(mallory, { ...comment, content: { text: 'kittens' } })
    const { actionId: parentId, nonce } = readToken(kind).payload
    await receive(
      bob.tenant,
      await forge(mallory, { ...comment, actionId: parentId, nonce, content: { text: 'poison' } }),
    )
    const answer = async (hash: string) => {
      sent.length = 0
      const said = { type: 'CMNT', parentId, rootId, parentHash: hash, content: { text: 'Yes' } }
      await receive(bob.tenant, await forge(alice, said))
      await settle()
      return (await bob.list({ type: ['CMNT'], rootId })).length
    }
    const { stored } = mallory
    expect(await stored(parentId)).toBeUndefined()
    expect(await answer(hashOfToken(kind))).toBe(1)
    expect(await mallory.list({ type: ['CMNT'], issuer: alice.idTag })).toEqual([])
    expect(await answer(hashOfToken(await tokenOf(bob, parentId)))).toBe(2)
    expect(await mallory.list({ type: ['CMNT'], issuer: alice.idTag })).toHaveLength(1)
  })
})
