import { Kith, tempDir } from '../kith.ts'
import { boundedFigure, type Figure, median, repeat } from '../measure.ts'
import { seed } from '../seed.ts'
import { seedFolder } from '../seed-files.ts'
import type { Settings } from '../settings.ts'

const privateFiles = 30_000
const listAtMostMs = 10
const ownAtMostMs = 50

/** Lists of an owner's files for a visitor who may read almost none of them, and what these lists cost the owner. */
export async function visitors(settings: Settings): Promise<Figure[]> {
  await using data = await tempDir()
  await seed(data.path, async (db, tenantId) => {
    await seedFolder(db, tenantId, { name: 'private', photos: privateFiles })
  })
  await using kith = await Kith.start(data.path, settings)
  const headers = { authorization: `Bearer ${await kith.signIn()}` }
  await shareWithReaders(kith, headers)
  // Fewer requests than strangers from one address may send in a minute.
  await repeat(20, () => list(kith, {}))
  const alone = await repeat(settings.runs, () => repeat(40, () => list(kith, {})))
  const beside = await repeat(settings.runs, () =>
    repeat(20, async () => {
      const crowd = Promise.all(Array.from({ length: 6 }, () => list(kith, {})))
      const tookMs = await list(kith, headers)
      await crowd
      return tookMs
    }),
  )
  return [
    boundedFigure(`list for nobody of ${privateFiles} private files`, 'ms', alone.map(median), listAtMostMs),
    boundedFigure('the owner’s list beside six of these', 'ms', beside.map(median), ownAtMostMs),
  ]
}

async function list(kith: Kith, headers: Readonly<Record<string, string>>): Promise<number> {
  const startedAt = performance.now()
  const response = await fetch(`${kith.url}/api/files`, { headers })
  if (!response.ok) throw new Error(`a list answered ${response.status}`)
  await response.arrayBuffer()
  return performance.now() - startedAt
}

/** One file shared with the readers of another, so that access by shares is looked up for every visitor. */
async function shareWithReaders(kith: Kith, headers: Readonly<Record<string, string>>): Promise<void> {
  const post = async (path: string, body: object): Promise<{ fileId: string }> => {
    const response = await fetch(kith.url + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status}`)
    return ((await response.json()) as { data: { fileId: string } }).data
  }
  const [one, other] = [
    await post('/api/files', { fileTp: 'CRDT' }),
    await post('/api/files', { fileTp: 'CRDT' }),
  ]
  const share = { subjectType: 'F', subjectId: other.fileId, permission: 'R' }
  await post(`/api/files/${one.fileId}/shares`, share)
}
