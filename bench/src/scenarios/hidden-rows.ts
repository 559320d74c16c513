import type { IdTag } from '@kith/protocol'
import { idTag, tempDir } from '../kith.ts'
import { boundedFigure, type Figure, repeat } from '../measure.ts'
import { baseTenantId, openData, seed, seedActions } from '../seed.ts'
import { type Database, listFeed, ownActionId, type StoredAction, viewerOf } from '../server-modules.ts'
import type { Settings } from '../settings.ts'

const runs = 3
const listsPerRun = 5
const atMostMs = 10
// One row in a hundred is shown to visitors.
const shownEvery = 100
const stranger = 'stranger.localhost' as IdTag
const club = 'club.localhost' as IdTag
const rootId = ownActionId(stranger, 'thread')

const filters = {
  everything: {},
  'one type': { types: ['POST'] },
  'one tag': { tag: 'spam' },
  'one issuer': { issuer: stranger },
  'one audience': { audience: club },
  'one involved': { involved: club },
  'one subject': { subject: club },
  'one thread': { rootId },
  'a word': { search: 'spam' },
  'a word of one issuer': { search: 'spam', issuer: stranger },
} as const

/** Lists for guests and visitors of a person who holds many posts of strangers, which these lists do not show. */
export async function hiddenRows({ actions }: Settings): Promise<Figure[]> {
  await using data = await tempDir()
  await seed(data.path, async (db, tenantId) => {
    await seedActions(db, tenantId, { actions, peers: 1, vary })
  })
  const db = await openData(data.path)
  const figures: Figure[] = []
  for (const who of ['guest', 'visitor'] as const)
    for (const [name, filter] of Object.entries(filters)) {
      const took = await repeat(runs, () => processorMs(db, who, filter))
      figures.push(boundedFigure(`${who}: ${name}, beside ${actions} hidden rows`, 'ms', took, atMostMs))
    }
  await db.close()
  return figures
}

async function processorMs(db: Database, who: 'guest' | 'visitor', filter: object): Promise<number> {
  const tenantId = await baseTenantId(db)
  const tenant = { tenantId, idTag, type: 'person' } as Parameters<typeof viewerOf>[0]
  const caller = who === 'guest' ? { kind: 'guest' } : { kind: 'identity', idTag: 'visitor.localhost' }
  const viewer = viewerOf(tenant, caller as Parameters<typeof viewerOf>[1], {})
  const order = { direction: 'desc', limit: 20 } as const
  const list = () =>
    listFeed(db.reader(tenantId), { viewer, filter, order, now: Math.floor(Date.now() / 1000) })
  await list()
  const before = process.cpuUsage()
  await repeat(listsPerRun, list)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / listsPerRun
}

function vary(number: number): Partial<StoredAction> {
  if (number % shownEvery === 0) return { issuerTag: idTag, visibility: 'P' }
  return {
    ...{ issuerTag: stranger, audienceTag: club, subject: club, rootId, visibility: 'P', isFeedOnly: true },
    content: { title: `Number ${number}`, text: 'buy spam for the garden', tags: ['spam', 'garden'] },
  }
}
