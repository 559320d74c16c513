import type { ActionId } from '@kith/protocol'
import { idTag } from '../kith.ts'
import { readInput } from '../processes.ts'
import { baseTenantId, openData } from '../seed.ts'
import { actionView, findShown, listFeed, type Viewer } from '../server-modules.ts'

/** The same statements and the same JSON as the server's, in a bare loop: no HTTP, no token, no validation. */
const { dataDir, seconds } = await readInput<{ dataDir: string; seconds: number }>()
const db = await openData(dataDir)
const reader = db.reader(await baseTenantId(db))
const viewer: Viewer = {
  tenantTag: idTag,
  idTag,
  facts: new Set(['identified', 'acts-as-tenant', 'follows', 'connected']),
}
const now = Math.floor(Date.now() / 1000)
const order = { direction: 'desc', limit: 20, after: undefined, offset: undefined } as const
const page = { viewer, filter: {}, now, order }

async function list(): Promise<void> {
  const rows = await listFeed(reader, page)
  const data = rows.slice(0, 20).map((row) => actionView(row, true))
  JSON.stringify({ data, time: new Date().toISOString(), reqId: 'bench' })
}

const [newest] = await listFeed(reader, page)
const actionId = newest?.action_id as ActionId

async function single(): Promise<void> {
  const row = await findShown(reader, { viewer, actionId, now })
  if (!row) throw new Error('the action is gone')
  JSON.stringify({ data: actionView(row, true), time: new Date().toISOString(), reqId: 'bench' })
}

async function rate(one: () => Promise<void>): Promise<number> {
  for (let warm = 0; warm < 500; warm += 1) await one()
  let done = 0
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1000
  while (performance.now() < endsAt) {
    await one()
    done += 1
  }
  return done / ((performance.now() - startedAt) / 1000)
}

const result = { listed: await rate(list), read: await rate(single), actionId }
await db.close()
process.stdout.write(JSON.stringify(result))
