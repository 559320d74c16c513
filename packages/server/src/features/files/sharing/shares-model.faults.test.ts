import type { FileId, IdTag, SharePermission } from '@kith/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { alice, aliceTag, bobTag, type FilesLab, filesLab, identity } from '#harness/files-lab.ts'
import { findAccessibleFile } from '../access/file-access-store.ts'
import { findViewerNamed } from '../access/find-file-viewer.ts'
import { levelOf, neededFor } from './share.ts'
import { shareActions } from './share-actions.ts'
import { ShareSweep } from './sweep-shares.ts'

const caraTag = 'cara.example' as IdTag
const dinaTag = 'dina.example' as IdTag
const people = [bobTag, caraTag, dinaTag]
const everybody = [aliceTag, ...people]
const callerOf = (idTag: IdTag) => identity(idTag, alice)

/** A box with a document in it, and a document by itself. */
const parents = [undefined, 0, undefined]
const inside = 1

const person = fc.constantFrom(...people)
const file = fc.nat(parents.length - 1)
const permission = fc.constantFrom<SharePermission>('R', 'W', 'W', 'A')
const seconds = fc.option(fc.constantFrom(30, 60, 90), { nil: undefined, freq: 3 })
const step = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constant('grant' as const),
      by: fc.constantFrom(aliceTag, ...everybody),
      file,
      to: fc.oneof(
        { weight: 4, arbitrary: fc.record({ person }) },
        { weight: 1, arbitrary: fc.record({ readersOf: file }) },
      ),
      permission,
      seconds,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      by: fc.constantFrom(...everybody),
      at: fc.nat(5),
      file,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('act' as const),
      what: fc.constantFrom('grant' as const, 'withdraw' as const, 'decline' as const),
      file,
      person,
      permission: fc.constantFrom('READ', 'WRITE'),
      seconds,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.constantFrom(30, 60) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('block' as const), person, isBlocked: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), isIn: fc.boolean() }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

const to = (person: IdTag) => ({ person })
/** Something is given, and given on: from there on it becomes interesting. */
const beginning: fc.Arbitrary<Step[]> = fc
  .tuple(seconds, seconds, fc.constantFrom<SharePermission>('W', 'A'))
  .map(([first, second, permission]) => [
    { kind: 'grant', by: aliceTag, file: 0, to: to(bobTag), permission, seconds: first },
    { kind: 'grant', by: bobTag, file: inside, to: to(caraTag), permission: 'W', seconds: second },
    { kind: 'grant', by: caraTag, file: inside, to: to(dinaTag), permission: 'W', seconds: undefined },
  ])

interface Given {
  readonly permission: SharePermission
  readonly expiresAt: number
}

/** What the owner has given, as far as nobody has taken it away. */
class Gifts {
  readonly #given = new Map<string, Given & { readonly file: number; readonly subject: string }>()
  readonly blocked = new Set<IdTag>()
  isInside = true

  chainOf(at: number): number[] {
    const parent = at === inside && !this.isInside ? undefined : parents[at]
    return parent === undefined ? [at] : [at, ...this.chainOf(parent)]
  }

  give(at: number, subject: string, given: Given): void {
    this.#given.set(`${at} ${subject}`, { ...given, file: at, subject })
  }

  take(at: number, subject: string): void {
    this.#given.delete(`${at} ${subject}`)
  }

  find(at: number, subject: string): Given | undefined {
    return this.#given.get(`${at} ${subject}`)
  }

  /** The most that somebody can have: what they were given, or others may have given on. */
  most(who: IdTag, at: number, now: number): number {
    if (this.blocked.has(who)) return 0
    const above = this.chainOf(at)
    const live = [...this.#given.values()].filter(
      ({ file, expiresAt }) => above.includes(file) && expiresAt > now,
    )
    const levels = live.map(({ permission, subject }) => {
      if (this.blocked.has(subject as IdTag)) return 0
      // The readers of a file may be anybody.
      if (subject === who || !people.includes(subject as IdTag)) return levelOf(permission)
      return permission === 'R' ? 0 : levelOf(permission)
    })
    return Math.max(0, ...levels)
  }

  /** The least that they have. */
  least(who: IdTag, at: number, now: number): number {
    if (this.blocked.has(who)) return 0
    const given = this.chainOf(at).map((above) => this.find(above, who))
    return Math.max(0, ...given.map((gift) => (gift && gift.expiresAt > now ? levelOf(gift.permission) : 0)))
  }
}

// Each run takes other steps; SHARES_SEED takes those of a run that failed.

eachDialect('Shares', (open) => {
  const openLab = filesLab(open)

  test(`never give anybody more than the owner gave, whatever is done in which order`, async () => {
    const lab = await openLab()
    await fc.assert(
      fc.asyncProperty(beginning, fc.array(step, { minLength: 3, maxLength: 9 }), async (first, steps) => {
        const world = await begin(lab)
        for (const each of [...first, ...steps]) {
          await world.take(each)
          await world.assertBounds(each)
        }
        await world.assertLists()
        await world.close()
      }),
      { numRuns: open.runs(4) },
    )
    expect(lab.errors).toEqual([])
  })
})

async function begin(lab: FilesLab) {
  const ids: FileId[] = []
  for (const parent of parents) {
    const parentId = parent === undefined ? {} : { parentId: ids[parent] }
    const json = { fileTp: ids.length < 1 ? 'FLDR' : 'CRDT', tags: 'secret', ...parentId }
    ids.push((await lab.send('POST', '/api/files', { as: callerOf(aliceTag), json })).json.data.fileId)
  }
  const gifts = new Gifts()
  const now = () => lab.clock.now() / 1000
  const idOf = (at: number) => ids[at] as FileId
  const actions = shareActions({ ...lab.shareDeps, jobs: lab.jobs, beforeRemoval: lab.deps.beforeRemoval })
  const sharesOf = async (at: number) =>
    (await lab.send('GET', `/api/files/${idOf(at)}/shares`, { as: callerOf(aliceTag) })).json.data
  const levelNow = async (who: IdTag, at: number) => {
    const reader = lab.db.reader(alice.tenantId)
    const viewer = await findViewerNamed(reader, alice, who)
    return (await findAccessibleFile(reader, viewer, { fileId: idOf(at), now: now() }))?.level ?? 0
  }
  const ending = (after: number | undefined) =>
    after === undefined ? Number.POSITIVE_INFINITY : now() + after

  async function grant({ by, file: at, to, permission: asked, seconds: after }: Step & { kind: 'grant' }) {
    const subjectId = 'person' in to ? to.person : idOf(to.readersOf)
    const expiresAt = ending(after)
    const json = {
      subjectType: 'person' in to ? 'U' : 'F',
      subjectId,
      permission: asked,
      ...(after === undefined ? {} : { expiresAt }),
    }
    const before = await levelNow(by, at)
    const answer = await lab.send('POST', `/api/files/${idOf(at)}/shares`, { as: callerOf(by), json })
    if (answer.status >= 400) return
    if (by === aliceTag) return gifts.give(at, subjectId, { permission: asked, expiresAt })
    expect(before).toBeGreaterThanOrEqual(neededFor(asked))
    expect(subjectId).not.toBe(by)
    const known = gifts.find(at, subjectId)
    if (!known) return
    if (known.expiresAt > now()) expect(before).toBeGreaterThanOrEqual(levelOf(known.permission))
    const made = { permission: asked, expiresAt: endOf(answer.json.data.expiresAt) }
    const isNarrower = levelOf(asked) <= levelOf(known.permission) && made.expiresAt <= known.expiresAt
    if (isNarrower) gifts.give(at, subjectId, made)
    else gifts.take(at, subjectId)
  }

  async function end({ by, at, file: of }: Step & { kind: 'end' }) {
    const shares = await sharesOf(of)
    const chosen = shares[at % Math.max(1, shares.length)]
    if (!chosen) return
    const path = `/api/files/${idOf(of)}/shares/${chosen.id}`
    const { status } = await lab.send('DELETE', path, { as: callerOf(by) })
    if (status === 200) gifts.take(of, chosen.subjectId)
  }

  async function act({
    what,
    file: at,
    person: who,
    permission: word,
    seconds: after,
  }: Step & { kind: 'act' }) {
    const expiresAt = ending(after)
    const content = { permission: word, ...(after === undefined ? {} : { expiresAt }) }
    const action = { issuerTag: aliceTag, audienceTag: who, subject: idOf(at), content }
    await lab.db.transact(alice.tenantId, async (tx) => {
      if (what === 'grant') await actions.grant(tx, alice, action)
      else if (what === 'withdraw') await actions.withdraw(tx, alice, action)
      else await actions.decline(tx, alice, { subject: idOf(at), issuerTag: who })
    })
    if (what !== 'grant') return gifts.take(at, who)
    const keepsA =
      word === 'WRITE' &&
      (await sharesOf(at)).some(
        (share: { subjectId: string; permission: string }) =>
          share.subjectId === who && share.permission === 'A',
      )
    gifts.give(at, who, { permission: keepsA ? 'A' : word === 'WRITE' ? 'W' : 'R', expiresAt })
  }

  return {
    async take(each: Step) {
      switch (each.kind) {
        case 'grant':
          return grant(each)
        case 'end':
          return end(each)
        case 'act':
          return act(each)
        case 'pass':
          return lab.clock.advance(each.seconds * 1000)
        case 'block':
          await lab.relate(alice, each.person, { isBlocked: each.isBlocked, at: 1 })
          if (each.isBlocked) gifts.blocked.add(each.person)
          else gifts.blocked.delete(each.person)
          return new ShareSweep(lab.shareDeps).run()
        case 'move': {
          const json = { parentId: each.isIn ? idOf(0) : null }
          await lab.send('PATCH', `/api/files/${idOf(inside)}`, { as: callerOf(aliceTag), json })
          gifts.isInside = each.isIn
          return new ShareSweep(lab.shareDeps).run()
        }
      }
    },
    async assertBounds(after: Step) {
      for (const who of people)
        for (const at of parents.keys()) {
          const level = await levelNow(who, at)
          expect([after, who, at, level <= gifts.most(who, at, now())]).toEqual([after, who, at, true])
          expect([after, who, at, level >= gifts.least(who, at, now())]).toEqual([after, who, at, true])
        }
    },
    /** Lists show no more than the getter does. */
    async assertLists() {
      for (const who of people) {
        const as = callerOf(who)
        const readable: FileId[] = []
        const writable: FileId[] = []
        for (const at of parents.keys()) {
          const level = await levelNow(who, at)
          if (level > 0) readable.push(idOf(at))
          if (level > 1) writable.push(idOf(at))
          const starred = await lab.send('POST', `/api/collections/FAVR/${idOf(at)}`, { as })
          expect([who, at, starred.status < 400]).toEqual([who, at, level > 0])
        }
        const listed = async (path: string) => (await lab.send('GET', path, { as })).json.data
        const own = (fileId: FileId) => ids.includes(fileId)
        const files = await listed('/api/files?limit=200')
        expect(
          files
            .map(({ fileId }: { fileId: FileId }) => fileId)
            .filter(own)
            .sort(),
        ).toEqual(readable.sort())
        const items = await listed('/api/collections/FAVR?limit=200')
        expect(
          items
            .map(({ itemId }: { itemId: FileId }) => itemId)
            .filter(own)
            .sort(),
        ).toEqual(readable.sort())
        expect(await listed('/api/tags')).toEqual([])
        for (const subjectId of people)
          for (const shown of await listed(`/api/shares?limit=200&subjectId=${subjectId}`)) {
            expect(endOf(shown.expiresAt)).toBeGreaterThan(now())
            if (own(shown.resourceId) && subjectId !== who) expect(writable).toContain(shown.resourceId)
          }
      }
    },
    async close() {
      for (const who of people) await lab.relate(alice, who, { isBlocked: false, at: 1 })
      for (const fileId of ids) await lab.send('DELETE', `/api/files/${fileId}`, { as: callerOf(aliceTag) })
      await lab.send('DELETE', '/api/trash', { as: callerOf(aliceTag) })
    },
  }
}

function endOf(text: string | null): number {
  return text === null ? Number.POSITIVE_INFINITY : Date.parse(text) / 1000
}
