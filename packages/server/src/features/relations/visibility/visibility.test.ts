import {
  type CommunityRole,
  communityRoles,
  type IdTag,
  profileStatuses,
  type Visibility,
} from '@kith/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { actionsMigrations } from '#features/actions/index.ts'
import { federationMigrations } from '#features/federation/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { TestClock } from '#harness/test-clock.ts'
import { type Caller, guest, type Identified, identified, type Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { noRelation, type Relation, roleOf, withServerStatus, withStatus } from '../relation.ts'
import { changeRelation } from '../relation-store.ts'
import { relationsMigrations } from '../relations-migrations.ts'
import { type ActionAudience, type BoundedAudience, canRead } from './can-read.ts'
import { findViewer } from './find-viewer.ts'
import { isReadableBy, type ReadableTables } from './readable-predicate.ts'
import { viewerOf } from './viewer.ts'

const alice = 'alice.example.com' as IdTag
const bob = 'bob.example.com' as IdTag
const carol = 'carol.example.com' as IdTag
const dora = 'dora.example.com' as IdTag
const people = [alice, bob, carol, dora]

function caller(idTag: IdTag, role: CommunityRole = 'public', isOwner = false): Identified {
  return identified(idTag, { tokenUse: 'login', role, isOwner })
}

function action(change: Partial<BoundedAudience> = {}): BoundedAudience {
  return {
    issuerTag: alice,
    authorTag: undefined,
    audienceTag: undefined,
    audience: [],
    subject: undefined,
    visibility: 'P',
    isIssuerBlocked: false,
    ...change,
  }
}

const person: Tenant = { tenantId: 1 as TenantId, idTag: alice, type: 'person' }
const community: Tenant = { ...person, type: 'community' }

describe('an action may be read by', () => {
  const follower: Partial<Relation> = { isFollower: true }
  const connected: Partial<Relation> = { connection: 'connected' }
  const owner = caller(alice, 'leader', true)
  const cases: [string, Partial<BoundedAudience>, Caller, Partial<Relation> | undefined, boolean][] = [
    ['P: anyone', {}, guest, undefined, true],
    ['P: the blocked', {}, caller(bob), { isBlocked: true }, true],
    ['V: nobody without an identity', { visibility: 'V' }, guest, undefined, false],
    ['V: any identity', { visibility: 'V' }, caller(bob), undefined, true],
    ['V: not the blocked', { visibility: 'V' }, caller(bob), { isBlocked: true }, false],
    ['F: followers', { visibility: 'F' }, caller(bob), follower, true],
    ['F: connections', { visibility: 'F' }, caller(bob), connected, true],
    ['F: no others', { visibility: 'F' }, caller(bob), { isFollowing: true }, false],
    ['F: no blocked follower', { visibility: 'F' }, caller(bob), { ...follower, isBlocked: true }, false],
    ['C: connections', { visibility: 'C' }, caller(bob), connected, true],
    ['C: no mere followers', { visibility: 'C' }, caller(bob), follower, false],
    ['C: nobody who only asked', { visibility: 'C' }, caller(bob), { connection: 'asked' }, false],
    ['P, unverified: the tenant', { issuerTag: carol, isUnverified: true }, owner, undefined, true],
    [
      'P, unverified: no friend',
      { issuerTag: carol, isReposted: true, isUnverified: true },
      caller(bob),
      connected,
      false,
    ],
    [
      'P, unverified: no guest',
      { issuerTag: carol, isReposted: true, isUnverified: true },
      guest,
      undefined,
      false,
    ],
    [
      'null, unverified: not its audience',
      { issuerTag: carol, visibility: null, audienceTag: bob, isUnverified: true },
      caller(bob),
      undefined,
      false,
    ],
    [
      'null, unverified: not its issuer',
      { issuerTag: carol, visibility: null, isUnverified: true },
      caller(carol),
      undefined,
      false,
    ],
    [
      'P of a silenced issuer: the tenant',
      { issuerTag: carol, isIssuerSilenced: true },
      owner,
      undefined,
      true,
    ],
    [
      'P of a silenced issuer: no friend, though the tenant reposted it',
      { issuerTag: carol, isReposted: true, isIssuerSilenced: true },
      caller(bob),
      connected,
      false,
    ],
    [
      'P of a silenced issuer: no guest, though the tenant reposted it',
      { issuerTag: carol, isReposted: true, isIssuerSilenced: true },
      guest,
      undefined,
      false,
    ],
    [
      'P of a silenced issuer: not its audience',
      { issuerTag: carol, audienceTag: bob, isIssuerSilenced: true },
      caller(bob),
      undefined,
      false,
    ],
    ['P of the tenant that is silenced: the tenant', { isIssuerSilenced: true }, owner, undefined, true],
    ['P of the tenant that is silenced: nobody else', { isIssuerSilenced: true }, guest, undefined, false],
    ['null: its audience tag', { visibility: null, audienceTag: bob }, caller(bob), undefined, true],
    ['null: its audience', { visibility: null, audience: [carol, bob] }, caller(bob), undefined, true],
    ['null: its subject', { visibility: null, subject: bob }, caller(bob), undefined, true],
    ['null: no connection', { visibility: null }, caller(bob), connected, false],
    [
      'null: no blocked audience',
      { visibility: null, audienceTag: bob },
      caller(bob),
      { isBlocked: true },
      false,
    ],
    ['C: its audience', { visibility: 'C', audienceTag: bob }, caller(bob), undefined, true],
    [
      'C: its subject has no right of its own',
      { visibility: 'C', subject: bob },
      caller(bob),
      undefined,
      false,
    ],
    ['null: its issuer', { visibility: null }, owner, undefined, true],
    ['F of a third party: the tenant', { issuerTag: carol, visibility: 'F' }, owner, undefined, true],
    [
      'F of a third party: no follower of the tenant',
      { issuerTag: carol, visibility: 'F' },
      caller(bob),
      follower,
      false,
    ],
    [
      'F from a friend to the tenant: no follower of the tenant',
      { issuerTag: carol, audienceTag: alice, visibility: 'F', isIssuerConnected: true },
      caller(bob),
      follower,
      false,
    ],
    ['C of a third party: its issuer', { issuerTag: carol, visibility: 'C' }, caller(carol), undefined, true],
    [
      'F of a blocked issuer: not the tenant',
      { issuerTag: carol, visibility: 'F', isIssuerBlocked: true },
      owner,
      undefined,
      false,
    ],
    [
      'P of a blocked issuer: the tenant',
      { issuerTag: carol, isIssuerBlocked: true },
      owner,
      undefined,
      true,
    ],
    ['P of a third party: the tenant', { issuerTag: carol }, owner, undefined, true],
    ['P of a third party: no guest', { issuerTag: carol }, guest, undefined, false],
    ['P of a third party: no friend of the tenant', { issuerTag: carol }, caller(bob), connected, false],
    ['V of a third party: no visitor', { issuerTag: carol, visibility: 'V' }, caller(bob), connected, false],
    ['P of a third party: its issuer', { issuerTag: carol }, caller(carol), undefined, true],
    ['P of a third party: its audience', { issuerTag: carol, audience: [bob] }, caller(bob), undefined, true],
    [
      'P from a friend to the tenant: anyone',
      { issuerTag: carol, audienceTag: alice, isIssuerConnected: true },
      guest,
      undefined,
      true,
    ],
    [
      'P from a stranger to the tenant: nobody else',
      { issuerTag: carol, audienceTag: alice },
      caller(bob),
      connected,
      false,
    ],
    [
      'P from a friend to others: nobody else',
      { issuerTag: carol, audienceTag: dora, isIssuerConnected: true },
      guest,
      undefined,
      false,
    ],
    ['P that the tenant reposted: anyone', { issuerTag: carol, isReposted: true }, guest, undefined, true],
    [
      'V that the tenant reposted: nobody else',
      { issuerTag: carol, isReposted: true, visibility: 'V' },
      caller(bob),
      connected,
      false,
    ],
    [
      'null to others: not the tenant',
      { issuerTag: carol, visibility: null, audienceTag: bob },
      owner,
      undefined,
      false,
    ],
  ]
  test.each(cases)('%s', (_, change, who, relation, expected) => {
    const viewer = viewerOf(person, who, {
      relation: relation && { ...noRelation(bob), ...relation },
      hasBlocksOrMutes: true,
    })
    expect(canRead(viewer, action(change))).toBe(expected)
  })

  const inCommunity: [string, Partial<BoundedAudience>, CommunityRole, boolean][] = [
    [
      'F to the community: a follower',
      { issuerTag: carol, audienceTag: alice, visibility: 'F' },
      'follower',
      true,
    ],
    [
      'F to the community: no visitor',
      { issuerTag: carol, audienceTag: alice, visibility: 'F' },
      'public',
      false,
    ],
    [
      'C to the community: a contributor',
      { issuerTag: carol, audienceTag: alice, visibility: 'C' },
      'contributor',
      true,
    ],
    [
      'C to the community: no supporter',
      { issuerTag: carol, audienceTag: alice, visibility: 'C' },
      'supporter',
      false,
    ],
    ['C of the community: a contributor', { visibility: 'C' }, 'contributor', true],
    ['F elsewhere: no member', { issuerTag: carol, visibility: 'F' }, 'contributor', false],
    ['F elsewhere: a moderator', { issuerTag: carol, visibility: 'F' }, 'moderator', true],
    ['null of the community: its author', { visibility: null, authorTag: bob }, 'public', true],
    ['null of the community: a moderator', { visibility: null }, 'moderator', true],
    ['null of the community: no contributor', { visibility: null }, 'contributor', false],
    [
      'null to the community: a moderator',
      { issuerTag: carol, audience: [alice], visibility: null },
      'moderator',
      true,
    ],
    [
      'null to the community: no contributor',
      { issuerTag: carol, audience: [alice], visibility: null },
      'contributor',
      false,
    ],
    [
      'null about the community: a moderator',
      { issuerTag: carol, subject: alice, visibility: null },
      'moderator',
      true,
    ],
    [
      'null about the community: no contributor',
      { issuerTag: carol, subject: alice, visibility: null },
      'contributor',
      false,
    ],
    [
      'F of a banned member: no other member',
      { issuerTag: carol, audienceTag: alice, visibility: 'F', isIssuerBlocked: true },
      'contributor',
      false,
    ],
    [
      'V of a banned member: nobody who only has an identity',
      { issuerTag: carol, audienceTag: alice, visibility: 'V', isIssuerBlocked: true },
      'public',
      false,
    ],
    [
      'F of a banned member: a moderator, who clears it away',
      { issuerTag: carol, audienceTag: alice, visibility: 'F', isIssuerBlocked: true },
      'moderator',
      true,
    ],
    [
      'P of a banned member: anyone',
      { issuerTag: carol, audienceTag: alice, isIssuerBlocked: true },
      'public',
      true,
    ],
    [
      'P of an issuer that the server silences: a moderator, who clears it away',
      { issuerTag: carol, audienceTag: alice, isIssuerBlocked: true, isIssuerSilenced: true },
      'moderator',
      true,
    ],
    [
      'P of an issuer that the server silences: no contributor',
      { issuerTag: carol, audienceTag: alice, isIssuerBlocked: true, isIssuerSilenced: true },
      'contributor',
      false,
    ],
  ]
  test.each(inCommunity)('%s', (_, change, role, expected) => {
    const viewer = viewerOf(community, caller(bob, role), { hasBlocksOrMutes: true })
    expect(canRead(viewer, action(change))).toBe(expected)
  })

  test('F of the community: the banned, whatever their role, read only what is public', () => {
    for (const role of communityRoles) {
      const relation = { ...noRelation(bob), role, ...withStatus('Banned') }
      const viewer = viewerOf(community, caller(bob, roleOf(relation)), { relation })
      expect(
        ['P', 'V', 'F', 'C'].map((code) => canRead(viewer, action({ visibility: code as 'P' }))),
      ).toEqual([true, false, false, false])
    }
  })

  test.each([
    ['public', [true, false, false]],
    ['follower', [true, true, false]],
    ['contributor', [true, true, true]],
    [undefined, [true, true, true]],
  ] as const)('of the community: a connection with the role %s', (role, readable) => {
    const relation: Relation = { ...noRelation(bob), connection: 'connected', isFollower: true, role }
    const viewer = viewerOf(community, caller(bob, roleOf(relation)), { relation })
    expect((['V', 'F', 'C'] as const).map((visibility) => canRead(viewer, action({ visibility })))).toEqual(
      readable,
    )
  })

  const friend: Partial<Relation> = { connection: 'connected' }
  const children: [
    string,
    BoundedAudience['within'],
    Partial<BoundedAudience>,
    Partial<Relation>,
    boolean,
  ][] = [
    [
      'like its root: its readers',
      action({ visibility: 'F' }),
      { issuerTag: carol, visibility: 'F' },
      friend,
      true,
    ],
    [
      'like its root: no others',
      action({ visibility: 'F' }),
      { issuerTag: carol, visibility: 'F' },
      {},
      false,
    ],
    ['wider than its root: no others', action({ visibility: 'C' }), { issuerTag: carol }, {}, false],
    ['wider than its root: its readers', action({ visibility: 'C' }), { issuerTag: carol }, friend, true],
    ['narrower than its root', action(), { issuerTag: carol, visibility: null }, friend, false],
    ['narrower than its root: its audience', action(), { visibility: null, audienceTag: bob }, {}, true],
    ['under a hidden root: not its audience', action({ visibility: null }), { audienceTag: bob }, {}, false],
    ['under a hidden root: its issuer', action({ visibility: null }), { issuerTag: bob }, {}, true],
    ['of a stranger under the tenant’s own: its readers', action(), { issuerTag: carol }, {}, true],
    [
      'of a stranger under a third party’s: nobody else',
      action({ issuerTag: dora }),
      { issuerTag: carol },
      friend,
      false,
    ],
    [
      'of a stranger under a third party’s: its audience',
      action({ issuerTag: dora }),
      { issuerTag: carol, audience: [bob] },
      {},
      true,
    ],
    ['of the tenant under a third party’s: anyone', action({ issuerTag: dora }), {}, {}, true],
    ['that is unverified: not its issuer', action(), { issuerTag: bob, isUnverified: true }, {}, false],
    ['under an unverified root: nobody', action({ isUnverified: true }), { issuerTag: carol }, friend, false],
    ['of a silenced issuer: nobody', action(), { issuerTag: carol, isIssuerSilenced: true }, friend, false],
    [
      'under that of a silenced issuer: nobody',
      action({ isIssuerSilenced: true }),
      { issuerTag: carol },
      friend,
      false,
    ],
    ['without its root: not even if P', 'absent', { issuerTag: carol }, {}, false],
    ['without its root: its audience', 'absent', { audienceTag: bob }, {}, true],
    ['without its root: its issuer', 'absent', { issuerTag: bob }, {}, true],
  ]
  test.each(children)('a comment %s', (_, within, change, relation, expected) => {
    const viewer = viewerOf(person, caller(bob), { relation: { ...noRelation(bob), ...relation } })
    expect(canRead(viewer, action({ ...change, ...(within === undefined ? {} : { within }) }))).toBe(expected)
  })

  const blocked = { issuerTag: carol, visibility: 'F', isIssuerBlocked: true } as const
  const ofTenant: [string, BoundedAudience['within'], Partial<BoundedAudience>, boolean][] = [
    ['under that of a blocked issuer', action(blocked), { issuerTag: dora, visibility: 'F' }, false],
    ['of a blocked issuer', action({ visibility: 'F' }), blocked, false],
    ['of a blocked issuer, P', action({ visibility: 'F' }), { ...blocked, visibility: 'P' }, true],
    ['of another', action({ issuerTag: dora, visibility: 'F' }), { issuerTag: carol, visibility: 'F' }, true],
    ['without its root', 'absent', { issuerTag: carol }, true],
    [
      'of a silenced issuer',
      action({ issuerTag: dora, isIssuerSilenced: true }),
      { issuerTag: carol, isIssuerSilenced: true },
      true,
    ],
    [
      'that is unverified, under such a root',
      action({ issuerTag: dora, isUnverified: true }),
      { issuerTag: carol, isUnverified: true },
      true,
    ],
  ]
  test.each(ofTenant)('a comment %s: the tenant, or not', (_, within, change, expected) => {
    const viewer = viewerOf(person, owner, { hasBlocksOrMutes: true })
    expect(canRead(viewer, action({ ...change, ...(within === undefined ? {} : { within }) }))).toBe(expected)
  })

  test('without a check of blocks where nobody is blocked', () => {
    expect(viewerOf(person, owner, {}).facts).not.toContain('has-blocks-or-mutes')
  })
})

const meantCases: [string, readonly ActionAudience[], Caller, boolean][] = [
  ['of a silenced issuer: no guest', [action({ issuerTag: carol, isIssuerSilenced: true })], guest, false],
  [
    'of a silenced issuer: the tenant',
    [action({ issuerTag: carol, isIssuerSilenced: true })],
    caller(alice, 'leader', true),
    true,
  ],
  ['of another issuer: anyone', [action({ issuerTag: carol })], guest, true],
]
test.each(meantCases)('what answers or passes on words %s', (_, meant, who, expected) => {
  const comment = action({ within: action(), meant })
  expect(canRead(viewerOf(person, who, {}), comment)).toBe(expected)
  expect(canRead(viewerOf(person, who, {}), action({ meant }))).toBe(expected)
})

interface StoredAction extends ActionAudience {
  readonly actionId: string
  readonly withinId: string | undefined
  readonly parentId: string | undefined
}
interface World {
  readonly type: Tenant['type']
  readonly relations: readonly Relation[]
  /** The server's decisions for all its tenants. */
  readonly decisions: readonly Relation[]
  readonly blockedDomain: string | undefined
  readonly actions: readonly StoredAction[]
  readonly callers: readonly Caller[]
}

const anybody = fc.constantFrom(...people)
const anyVisibility = fc.constantFrom<Visibility[]>('P', 'V', 'F', 'C', null)
const anyAudience = fc.record({
  issuerTag: fc.oneof(fc.constant(alice), anybody),
  authorTag: fc.option(anybody, { nil: undefined, freq: 4 }),
  audienceTag: fc.option(anybody, { nil: undefined }),
  audience: fc.uniqueArray(anybody, { maxLength: 2 }),
  subject: fc.option(fc.oneof(anybody, fc.constant('a1~something')), { nil: undefined }),
  visibility: anyVisibility,
  isUnverified: fc.oneof(
    { weight: 3, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.boolean() },
  ),
})
const mostlyActive = fc.oneof(
  { weight: 2, arbitrary: fc.constant('Active' as const) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...profileStatuses),
  },
)
const anyRelation = (idTag: IdTag): fc.Arbitrary<Relation> =>
  fc
    .record({
      isFollowing: fc.boolean(),
      isFollower: fc.boolean(),
      connection: fc.constantFrom<Relation['connection'][]>(
        'disconnected',
        'requested',
        'asked',
        'connected',
      ),
      role: fc.option(fc.constantFrom(...communityRoles), { nil: undefined }),
      status: mostlyActive,
    })
    .map(({ status, ...bonds }) => ({ ...noRelation(idTag), ...bonds, ...withStatus(status), updatedAt: 1 }))
const anyDecision = (idTag: IdTag): fc.Arbitrary<Relation> =>
  mostlyActive.map((status) => ({ ...noRelation(idTag), ...withStatus(status), updatedAt: 1 }))
const nobody = { authorTag: undefined, audienceTag: undefined, audience: [] }
const anyWho = fc.constantFrom('guest' as const, 'owner' as const, bob, carol, dora)
const anyWorld: fc.Arbitrary<World> = fc
  .record({
    type: fc.constantFrom<Tenant['type'][]>('person', 'community'),
    relations: fc.tuple(anyRelation(bob), anyRelation(carol)),
    decisions: fc.tuple(anyDecision(alice), anyDecision(carol), anyDecision(dora)),
    // The last two are no domains of these people.
    blockedDomain: fc.option(
      fc.constantFrom('com', 'example.com', dora, 'ra.example.com', 'a.dora.example.com'),
      {
        nil: undefined,
        freq: 2,
      },
    ),
    roots: fc.array(anyAudience, { minLength: 1, maxLength: 6 }),
    children: fc.array(
      fc.tuple(anyAudience, fc.nat({ max: 7 }), fc.option(fc.nat({ max: 10 }), { nil: undefined })),
      {
        maxLength: 10,
      },
    ),
    reposts: fc.array(fc.tuple(fc.nat({ max: 7 }), fc.boolean(), anyVisibility), { maxLength: 4 }),
    callers: fc.array(anyWho, { minLength: 1, maxLength: 5 }),
  })
  .map(({ type, relations, decisions, blockedDomain, roots, children, reposts, callers }) => {
    const inEffect = (idTag: IdTag) => {
      const own = relations.find((relation) => relation.idTag === idTag) ?? noRelation(idTag)
      return withServerStatus(
        own,
        decisions.find((decision) => decision.idTag === idTag),
      )
    }
    const isBlocked = (tag: string) => relations.some((own) => own.idTag === tag && own.isBlocked)
    const isSilenced = (tag: string) =>
      decisions.some(({ idTag, isBlocked: isDecided }) => idTag === tag && isDecided) ||
      (blockedDomain !== undefined && (tag === blockedDomain || tag.endsWith(`.${blockedDomain}`)))
    const callerNamed = (who: typeof anyWho extends fc.Arbitrary<infer Who> ? Who : never): Caller => {
      if (who === 'guest') return guest
      if (who === 'owner') return caller(alice, 'leader', true)
      return caller(who, type === 'community' ? roleOf(inEffect(who)) : 'public')
    }
    const shown = [...new Map(reposts.map((it) => [`${it[0]} ${it[1]}`, it])).values()].map(
      ([at, isOfChild, visibility]) => ({
        subject: `${isOfChild ? 'child' : 'root'}${at}`,
        visibility,
      }),
    )
    const stored = (
      audience: Omit<ActionAudience, 'isIssuerBlocked' | 'isIssuerSilenced'>,
      actionId: string,
      { withinId, parentId }: { withinId?: string; parentId?: string } = {},
    ) => ({
      ...audience,
      isIssuerBlocked: isBlocked(audience.issuerTag),
      isIssuerSilenced: isSilenced(audience.issuerTag),
      isIssuerConnected: relations.some(
        (it) => it.idTag === audience.issuerTag && it.connection === 'connected' && !it.isBlocked,
      ),
      isReposted: shown.some(({ subject, visibility }) => subject === actionId && visibility === 'P'),
      actionId,
      withinId,
      parentId,
    })
    return {
      type,
      relations: type === 'community' ? relations : relations.map((it) => ({ ...it, role: undefined })),
      decisions,
      blockedDomain,
      callers: callers.map(callerNamed),
      actions: [
        ...shown.map((repost, at) => stored({ ...nobody, ...repost, issuerTag: alice }, `repost${at}`)),
        ...roots.map((root, at) => stored(root, `root${at}`)),
        ...children.map(([child, root, parent], at) =>
          stored(child, `child${at}`, {
            withinId: `root${root}`,
            parentId: parent === undefined ? `root${root}` : `child${parent}`,
          }),
        ),
      ],
    }
  })

async function store(
  db: Database,
  tenantId: TenantId,
  { relations, decisions, blockedDomain, actions }: World,
): Promise<void> {
  await db.transact(tenantId, async (tx) => {
    for (const { idTag, updatedAt: at = 1, ...relation } of relations)
      await changeRelation(tx, idTag, { ...relation, at })
    for (const { idTag, updatedAt: at = 1, ...decision } of decisions)
      await changeRelation(tx.as(serverTenant), idTag, { ...decision, at })
    const tables = tx.tables<{
      actions: Record<string, unknown>
      action_recipients: Record<string, unknown>
      domain_blocks: Record<string, unknown>
    }>()
    await tables.deleteFrom('domain_blocks').execute()
    if (blockedDomain !== undefined)
      await tables
        .insertInto('domain_blocks')
        .values({ tenant_id: serverTenant, domain: blockedDomain, created_by: alice, created_at: 1 })
        .execute()
    for (const it of actions) {
      const names = { tenant_id: tenantId, action_id: it.actionId }
      await tables
        .insertInto('actions')
        .values({
          ...names,
          type: 'POST',
          issuer_tag: it.issuerTag,
          author_tag: it.authorTag ?? null,
          audience_tag: it.audienceTag ?? null,
          audience: it.audience.length > 0 ? JSON.stringify(it.audience) : null,
          within_id: it.withinId ?? null,
          parent_id: it.parentId ?? null,
          subject: it.subject ?? null,
          visibility: it.visibility,
          unique_key: it.actionId.startsWith('repost') ? `REPOST ${it.subject}` : null,
          unverified: Number(it.isUnverified === true),
          status: 'A',
          created_at: 1,
          issued_at: 1,
        })
        .execute()
      for (const idTag of it.audience)
        await tables
          .insertInto('action_recipients')
          .values({ ...names, id_tag: idTag })
          .execute()
    }
  })
}

function bounded(world: World, { withinId, parentId, ...audience }: StoredAction): BoundedAudience {
  const meant = world.actions.filter(({ actionId }) => actionId === parentId || actionId === audience.subject)
  if (withinId === undefined) return { ...audience, meant }
  return {
    ...audience,
    meant,
    within: world.actions.find(({ actionId }) => actionId === withinId) ?? 'absent',
  }
}

eachDialect('the predicate', (open) => {
  test('reads exactly what the function allows, over random graphs', async () => {
    const db = await open({
      migrations: [...federationMigrations, ...relationsMigrations, ...actionsMigrations],
      clock: new TestClock(),
    })
    let tenants = 0
    await fc.assert(
      fc.asyncProperty(anyWorld, async (world) => {
        tenants += 1
        const tenant: Tenant = { tenantId: tenants as TenantId, idTag: alice, type: world.type }
        await store(db, tenant.tenantId, world)
        const reader = db.reader(tenant.tenantId)
        for (const who of world.callers) {
          const viewer = await findViewer(reader, tenant, who)
          const rows = await reader
            .tables<ReadableTables>()
            .selectFrom('actions as a')
            .select('a.action_id')
            .where('a.tenant_id', '=', tenant.tenantId)
            .where(isReadableBy(viewer, 'a'))
            .orderBy('a.action_id')
            .execute()
          const allowed = world.actions.filter((it) => canRead(viewer, bounded(world, it)))
          expect(rows.map((row) => row.action_id)).toEqual(allowed.map(({ actionId }) => actionId).sort())
        }
      }),
      { numRuns: open.runs(38), verbose: true },
    )
  })
})
