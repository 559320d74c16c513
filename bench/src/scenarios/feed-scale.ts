import type { ActionId } from '@kith/protocol'
import { idTag, Kith, tempDir } from '../kith.ts'
import { boundedFigure, type Figure } from '../measure.ts'
import { peerTag, seed, seedActions, seedPeers } from '../seed.ts'
import { ownActionId, type StoredAction } from '../server-modules.ts'
import type { Settings } from '../settings.ts'

const few = 10_000
// A million when nothing is said of their number.
const manyTimes = 10
const peers = 100
const atMostTimes = 3

// Each is met by few actions, by a hundredth or by nearly all, in both sizes.
const lists = [
  ['feed', ''],
  ['feed, oldest first', '&sortDir=asc'],
  ['one type', '&type=CMNT'],
  ['two types', '&type=POST,CMNT'],
  ['one issuer', `&issuer=${peerTag(1)}`],
  ['one audience', `&audience=${idTag}`],
  ['one involved', `&involved=${peerTag(1)}`],
  ['comments on one', `&parentId=${encodeURIComponent(threadId(7))}`],
  ['one thread', `&rootId=${encodeURIComponent(threadId(7))}`],
  ['one subject', `&subject=${encodeURIComponent(threadId(8))}`],
  ['a frequent tag', '&tag=garden'],
  ['a rare tag', '&tag=rare7'],
  ['a frequent word', '&search=garden'],
  ['a rare word', '&search=rareword7'],
  ['a frequent word of nobody', '&search=garden&issuer=nobody.localhost'],
  ['a frequent word and a rare tag', '&search=garden&tag=rare7'],
  ['a frequent word of one type', '&search=garden&type=CMNT,POST'],
  ['new ones', '&status=N'],
  ['waiting ones', '&status=C'],
  ['new and waiting ones', '&status=C,N'],
  ['deleted ones', '&status=R,S,D'],
  ['types that are not there', '&type=MSG,FSHR'],
  ['nobody involved', '&involved=nobody.localhost'],
  ['nobody’s audience', '&audience=nobody.localhost'],
  ['page by offset', '&_offset=100'],
  ['what is older', `&createdBefore=${Math.floor(Date.now() / 1000) - few / 2}`],
  ['what is newer', `&createdAfter=${Math.floor(Date.now() / 1000) - few / 2}`],
  ...guestLists(),
] as const

/** What anybody may ask, however often. */
function guestLists() {
  return [
    ['guests: feed', ''],
    ['guests: two types', '&type=POST,CMNT'],
    ['guests: a frequent word', '&search=garden'],
    ['guests: types that are not public', '&type=MSG,ACK'],
    ['guests: one involved', `&involved=${peerTag(1)}`],
    ['guests: nobody involved', '&involved=nobody.localhost'],
    ['guests: one audience', `&audience=${idTag}`],
    ['guests: nobody’s audience', '&audience=nobody.localhost'],
    ['guests: the last page by offset', '&_offset=9900'],
  ] as const
}

/** Pages of every kind of list, on a tenant that has little and on one that has a hundred times as much. */
export async function feedScale(settings: Settings): Promise<Figure[]> {
  const many = manyTimes * settings.actions
  const small = await measure(few, settings)
  const large = await measure(many, settings)
  return lists.map(([name]) => {
    const [before, after] = [small.get(name), large.get(name)]
    const times = (after?.p95Ms ?? Number.NaN) / (before?.p95Ms ?? Number.NaN)
    const figure = boundedFigure(`p95 of ${many} to ${few}: ${name}`, '×', [times], atMostTimes)
    const { p50Ms = Number.NaN, p99Ms = Number.NaN, cpuMs = Number.NaN } = after ?? {}
    return { ...figure, p50Ms, p99Ms, cpuMs }
  })
}

async function measure(actions: number, settings: Settings) {
  await using data = await tempDir()
  await seed(data.path, async (db, tenantId) => {
    const inboxUrl = 'http://127.0.0.1:9/api/inbox'
    const known = Array.from({ length: peers }, (_, at) => ({ idTag: peerTag(at), inboxUrl }))
    await seedPeers(db, tenantId, known)
    await seedActions(db, tenantId, { actions, peers, vary: (number) => variety(number, actions) })
  })
  await using kith = await Kith.start(data.path, settings)
  const headers = { authorization: `Bearer ${await kith.signIn()}` }
  const results = new Map<string, Awaited<ReturnType<Kith['load']>>>()
  for (const [name, query] of lists) {
    const path = `/api/actions?limit=20${query}`
    const isGuest = name.startsWith('guests: ')
    const request = {
      path,
      method: 'GET',
      headers: isGuest ? {} : headers,
      manyAddresses: isGuest,
      connections: 1,
    } as const
    await kith.load({ ...request, seconds: settings.seconds / 8 })
    results.set(name, await kith.load({ ...request, seconds: settings.seconds / 2 }))
  }
  return results
}

function threadId(number: number): ActionId {
  return ownActionId(peerTag(0), `thread ${number}`)
}

/** One in ten is the tenant's own, a comment, an acknowledgment, or addressed to the tenant; visitors are shown the tenant's own alone.
 * Threads and rare words have the same size at any scale. */
function variety(number: number, actions: number): Partial<StoredAction> {
  const kind = number % 10
  const isFeedOnly = kind !== 0 && kind !== 5
  return { ...said(number, actions), isFeedOnly, ...(kind === 0 ? { issuerTag: idTag } : {}) }
}

function said(number: number, actions: number): Partial<StoredAction> {
  const content = {
    title: `Number ${number}`,
    text: 'the quick brown fox hums in the garden',
    tags: ['garden'],
  }
  const kind = number % 10
  const thread = Math.floor(number / 10) % (actions / 500)
  if (kind === 3) {
    const within = { parentId: threadId(thread), rootId: threadId(thread), withinId: threadId(thread) }
    return { type: 'CMNT', content: { text: 'I think so too' }, visibility: null, ...within }
  }
  if (kind === 4) return { type: 'ACK', content: undefined, subject: threadId(thread) }
  if (kind === 5) return { audienceTag: idTag, content, isMarked: number % 1000 === 5 }
  const rare = Math.floor(number / 10) % (actions / 200)
  if (kind === 6)
    return { content: { ...content, text: `A rareword${rare} here`, tags: ['garden', `rare${rare}`] } }
  return { content }
}
