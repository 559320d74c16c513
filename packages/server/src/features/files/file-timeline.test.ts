import type { FileSort, MonthCount } from '@kith/protocol'
import { expect, test } from 'vitest'
import { viewerOf } from '#features/relations/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { alice, aliceTag, bobTag, type FilesLab, filesLab, identity, type Sent } from '#harness/files-lab.ts'
import { guest } from '#infra/caller/index.ts'
import { countByMonth } from './file-timeline-store.ts'

const owner = identity(aliceTag, alice)
const visitor = identity(bobTag, alice)
const secs = (iso: string) => Date.parse(iso) / 1000

eachDialect('Files by when they were taken', (open) => {
  const openLab = filesLab(open)

  /** Uploads files, each named for when it was taken, or for when it was created where its camera noted nothing. */
  async function put(lab: FilesLab, iso: string, { query = '', isTaken = false } = {}) {
    const created = isTaken ? '2026-06-01T00:00:00Z' : iso
    const answer = await lab.upload(iso, iso, {
      query: `?createdAt=${created}${query}`,
      headers: { 'content-type': 'text/plain' },
    })
    expect(answer.status).toBe(201)
    const { fileId } = answer.json.data as { fileId: string }
    if (isTaken)
      await lab.db.transact(alice.tenantId, (tx) =>
        tx
          .tables<{ files: { file_id: string; taken_at: number } }>()
          .updateTable('files')
          .set({ taken_at: secs(iso) })
          .where('file_id', '=', fileId)
          .execute(),
      )
    return fileId
  }
  const get = async (lab: FilesLab, path: string, sent: Sent = {}) => {
    const answer = await lab.send('GET', path, { as: owner, ...sent })
    expect(answer.status).toBe(200)
    return answer.json
  }
  const names = async (lab: FilesLab, query: string, sent?: Sent): Promise<string[]> =>
    (await get(lab, `/api/files${query}`, sent)).data.map((file: { fileName: string }) => file.fileName)
  const months = async (lab: FilesLab, query = '', sent?: Sent): Promise<[string, number][]> =>
    (await get(lab, `/api/files/timeline${query}`, sent)).data.map(({ month, count }: MonthCount) => [
      month,
      count,
    ])

  test('may be older than 1970', async () => {
    const lab = await openLab()
    const times = [
      '1970-01-01T00:00:00Z',
      '1969-12-31T23:59:59Z',
      '1954-07-04T15:30:00Z',
      '1899-12-31T23:00:00Z',
    ]
    for (const iso of times) await put(lab, iso)
    expect(await names(lab, '?sort=taken')).toEqual(times)
    const { cursorPagination } = await get(lab, '/api/files?sort=taken&limit=2')
    expect(await names(lab, `?sort=taken&limit=2&cursor=${cursorPagination.nextCursor}`)).toEqual(
      times.slice(2),
    )
    expect(await months(lab)).toEqual([
      ['1970-01', 1],
      ['1969-12', 1],
      ['1954-07', 1],
      ['1899-12', 1],
    ])
    const year = '?takenAfter=1954-01-01T00:00:00Z&takenBefore=-473385600'
    expect(await names(lab, year)).toEqual(['1954-07-04T15:30:00Z'])
  })

  test('are listed, the newest first, and page by page', async () => {
    const lab = await openLab()
    const times = [
      '2026-03-01T00:00:00Z',
      '2026-02-28T23:59:59Z',
      '2026-02-01T00:00:00Z',
      '2025-12-24T18:00:00Z',
    ]
    for (const [at, iso] of [times[2], times[0], times[3], times[1]].entries())
      await put(lab, iso as string, { isTaken: at % 2 === 0 })
    expect(await names(lab, '?sort=taken')).toEqual(times)
    expect(await names(lab, '?sort=taken&sortDir=asc')).toEqual(times.toReversed())
    expect(await names(lab, '?sort=taken&offset=1&limit=2')).toEqual(times.slice(1, 3))
    const found: string[] = []
    let cursor = ''
    do {
      const page = await get(lab, `/api/files?sort=taken&limit=1${cursor}`)
      found.push(page.data[0].fileName)
      cursor = page.cursorPagination.hasMore ? `&cursor=${page.cursorPagination.nextCursor}` : ''
    } while (cursor !== '')
    expect(found).toEqual(times)
    const february = '?takenAfter=2026-02-01T00:00:00Z&takenBefore=2026-03-01T00:00:00Z'
    for (const sort of ['taken', 'created', 'name'] satisfies FileSort[])
      expect((await names(lab, `${february}&sort=${sort}`)).toSorted()).toEqual([times[2], times[1]])
    expect(await months(lab, february)).toEqual([['2026-02', 2]])
    expect((await lab.send('GET', '/api/files?takenAfter=yesterday', { as: owner })).status).toBe(400)
  })

  test('are counted by month, as the list with the same filter shows them', async () => {
    const lab = await openLab()
    expect(await months(lab)).toEqual([])
    const folder = await lab.send('POST', '/api/files', {
      as: owner,
      json: { fileTp: 'FLDR', fileName: 'box' },
    })
    const { fileId } = folder.json.data
    await put(lab, '2026-01-31T23:59:59Z', { isTaken: true, query: `&parentId=${fileId}&tags=sea` })
    await put(lab, '2026-02-01T00:00:00Z', { query: `&parentId=${fileId}` })
    await put(lab, '2026-01-01T00:00:00Z', { query: '&tags=sea' })
    const inTrash = await put(lab, '2026-01-02T00:00:00Z')
    await lab.send('DELETE', `/api/files/${inTrash}`, { as: owner })
    const all = [
      ['2026-02', 1],
      ['2026-01', 2],
    ]
    expect(await months(lab, '?fileTp=BLOB')).toEqual(all)
    expect(await months(lab, `?parentId=${fileId}`)).toEqual([
      ['2026-02', 1],
      ['2026-01', 1],
    ])
    expect(await months(lab, '?tags=sea')).toEqual([['2026-01', 2]])
    expect(await months(lab, '?search=02-01')).toEqual([['2026-02', 1]])
    expect(await months(lab, '?contentType=text/*')).toEqual(all)
    expect(await months(lab, '?contentType=image/*')).toEqual([])
    expect(await months(lab, '?parentId=__trash__')).toEqual([['2026-01', 1]])
    expect(await months(lab, '?status=D')).toEqual([['2026-01', 1]])
    expect(await months(lab, '?parentId=nonsense')).toEqual([])
  })

  test('count only for those who may read them', async () => {
    const lab = await openLab()
    await put(lab, '2026-01-10T00:00:00Z', { query: '&visibility=P' })
    await put(lab, '2026-01-11T00:00:00Z', { query: '&visibility=V' })
    const secret = await put(lab, '2026-02-01T00:00:00Z')
    expect(await months(lab, '', { as: visitor })).toEqual([['2026-01', 2]])
    expect(await months(lab, '', { as: guest })).toEqual([['2026-01', 1]])
    const json = { permission: 'R', subjectType: 'U', subjectId: bobTag }
    expect((await lab.send('POST', `/api/files/${secret}/shares`, { as: owner, json })).status).toBe(201)
    const shared = [
      ['2026-02', 1],
      ['2026-01', 2],
    ]
    expect(await months(lab, '', { as: visitor })).toEqual(shared)
    // With more candidates than are looked at one by one.
    const reader = lab.db.reader(alice.tenantId)
    for (const [caller, expected] of [
      [visitor, shared],
      [guest, [['2026-01', 1]]],
    ] as const) {
      const who = {
        viewer: viewerOf(alice, caller, { hasBlocksOrMutes: false }),
        held: [],
        limits: undefined,
      }
      const counts = await countByMonth(reader, who, { filter: {}, now: 1, maxCandidates: 0, portion: 2 })
      expect(counts.map(({ month, count }) => [month, count])).toEqual(expected)
    }
  })

  test('are looked at in portions, up to a bound', async () => {
    const lab = await openLab()
    for (const day of ['2026-03-01', '2026-02-02', '2026-02-01', '2026-02-01', '2026-01-01'])
      await put(lab, `${day}T00:00:00Z`)
    const who = { viewer: viewerOf(alice, owner, { hasBlocksOrMutes: false }), held: [], limits: undefined }
    const count = async (more: object) => {
      const request = { filter: {}, now: secs('2026-07-01T00:00:00Z'), ...more }
      return (await countByMonth(lab.db.reader(alice.tenantId), who, request)).map(({ count }) => count)
    }
    for (const portion of [1, 2, 3, 5, 9]) expect(await count({ portion })).toEqual([1, 3, 1])
    expect(await count({ portion: 2, maxFiles: 3 })).toEqual([1, 2])
    let turns = 0
    let next = setImmediate(function turn() {
      turns += 1
      next = setImmediate(turn)
    })
    await count({ portion: 1 })
    clearImmediate(next)
    // Other requests have their turns meanwhile.
    expect(turns).toBeGreaterThanOrEqual(4)
    expect(
      await count({ portion: 2, maxFiles: 3, filter: { takenBefore: secs('2026-02-02T00:00:00Z') } }),
    ).toEqual([2, 1])
  })
})
