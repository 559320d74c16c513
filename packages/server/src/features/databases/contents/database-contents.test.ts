import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type DatabaseLab, databaseId, openContentsLab } from '#harness/database-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import type { Writer } from '#infra/db/index.ts'
import { createIndex, listChanges } from '../index.ts'
import { insertPart } from './snapshot-store.ts'
import { takeSnapshot } from './take-snapshot.ts'
import { listThinned } from './thin-history.ts'

const hourMs = 3_600_000

async function textOf(pieces: AsyncIterable<Uint8Array> | undefined): Promise<string> {
  const parts = await Array.fromAsync(pieces ?? [])
  for (const part of parts) expect(part.length).toBeLessThanOrEqual(1024 ** 2)
  return Buffer.concat(parts).toString()
}

/** What the history does with a snapshot that it does not keep. */
async function deleteParts(tx: Writer): Promise<void> {
  await tx.tables<Record<'rtdb_snapshot_parts', object>>().deleteFrom('rtdb_snapshot_parts').execute()
}

const limits = { maxFileBytes: 2 ** 40, maxStorageBytes: 0 }
const put = (lab: DatabaseLab, path: string, data: object) => lab.write({ type: 'replace', path, data })

eachDialect('The contents of a database', (open) => {
  test('are shown as JSON lines', async () => {
    const { lab, contents } = await openContentsLab(open)
    expect(await textOf(contents.present(lab.tenantId, lab.fileId))).toBe('')
    await put(lab, 'b/\u{1F600}', { text: 'x\n' })
    await put(lab, 'a/1', { n: 1 })
    await put(lab, 'a/1/sub/"', {})
    expect(await textOf(contents.present(lab.tenantId, lab.fileId))).toBe(
      `{"path":"a/1","data":{"n":1}}\n{"path":"a/1/sub/\\"","data":{}}\n{"path":"b/\u{1F600}","data":{"text":"x\\n"}}\n`,
    )
  })

  test('come back as one change on top, and what was there is kept as well', async () => {
    const { lab, contents, told } = await openContentsLab(open)
    await createIndex(lab.deps, lab, { path: 'a', field: 'n' })
    await lab.write(
      ...['1', '2', '3'].map((id) => ({ type: 'replace', path: `a/${id}`, data: { n: Number(id) } })),
    )
    const then = await textOf(contents.present(lab.tenantId, lab.fileId))
    await takeSnapshot(lab.deps, lab)
    await lab.write(
      { type: 'delete', path: 'a/1' },
      { type: 'update', path: 'a/2', data: { n: 5 } },
      { type: 'replace', path: 'z/1', data: {} },
    )
    const by = 'bob.example.com' as never
    const seq = await contents.restore({ ...lab, seq: 1, by, limits })
    expect(seq).toBe(3)
    expect(await textOf(contents.present(lab.tenantId, lab.fileId))).toBe(then)
    const { changes } = await listChanges(lab.deps, lab, 2)
    expect(told).toEqual(changes)
    expect(changes[0]?.changes.map(({ action, path }) => `${action} ${path}`).toSorted()).toEqual([
      'create a/1',
      'delete z/1',
      'update a/2',
    ])
    expect(await lab.query('a', { filter: { equals: { n: 2 } } })).toEqual([{ id: '2', n: 2 }])
    const kept = await contents.listSnapshots(lab.db.reader(lab.tenantId), lab.fileId)
    expect(kept).toEqual([
      { seq: 2, createdAt: 1767225600, size: expect.any(Number), writers: ['alice.example.com'] },
      { seq: 1, createdAt: 1767225600, size: then.length, writers: ['alice.example.com'] },
    ])
    expect(await textOf(await contents.snapshot(lab.tenantId, lab.fileId, 1))).toBe(then)
    expect(await contents.snapshot(lab.tenantId, lab.fileId, 9)).toBeUndefined()
    await expect(contents.restore({ ...lab, seq: 9, by, limits })).rejects.toMatchObject({
      code: 'E-NOTFOUND',
    })
  })

  test('are not read from a part that an archive has blown up', async () => {
    const { lab, contents } = await openContentsLab(open)
    await put(lab, 'a/1', { n: 1 })
    await takeSnapshot(lab.deps, lab)
    const data = deflateSync(Buffer.alloc(17 * 1024 ** 2))
    await lab.db.transact(lab.tenantId, async (tx) => {
      await deleteParts(tx)
      await insertPart(tx, lab.fileId, { seq: 1, part: 0, data })
    })
    const pieces = await contents.snapshot(lab.tenantId, lab.fileId, 1)
    await expect(textOf(pieces)).rejects.toMatchObject({ code: 'ERR_BUFFER_TOO_LARGE' })
  })

  test('are not given in part where the history stops keeping them while somebody reads', async () => {
    const { lab, contents } = await openContentsLab(open)
    for (const id of ['1', '2', '3']) await put(lab, `a/${id}`, { text: 'x'.repeat(1_000_000) })
    const seq = (await takeSnapshot(lab.deps, lab)) ?? 0
    const pieces = (await contents.snapshot(lab.tenantId, lab.fileId, seq))?.[Symbol.asyncIterator]()
    expect((await pieces?.next())?.done).toBe(false)
    await lab.db.transact(lab.tenantId, deleteParts)
    const rest = { [Symbol.asyncIterator]: () => pieces as AsyncIterator<Uint8Array> }
    await expect(Array.fromAsync(rest)).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
    await expect(
      contents.restore({ ...lab, seq, by: 'bob.example.com' as never, limits }),
    ).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
    expect(await lab.query('a')).toHaveLength(3)
  })

  test('that are many come back in portions', async () => {
    const { lab, contents, told } = await openContentsLab(open)
    const fill = (collection: string, text: string) =>
      lab.write(
        ...Array.from({ length: 500 }, (_, index) => ({
          type: 'replace',
          path: `${collection}/${index}`,
          data: { text },
        })),
      )
    await fill('m', 'x'.repeat(9000))
    const then = await textOf(contents.present(lab.tenantId, lab.fileId))
    const seq = await takeSnapshot(lab.deps, lab)
    await fill('a', 'new')
    await fill('m', 'changed')
    await fill('z', 'new')
    const last = await contents.restore({ ...lab, seq: seq ?? 0, by: undefined, limits })
    expect(await textOf(contents.present(lab.tenantId, lab.fileId))).toBe(then)
    expect(told.at(-1)?.seq).toBe(last)
    expect(told.every(({ changes }) => changes.length <= 800)).toBe(true)
    expect(told.flatMap(({ changes }) => changes)).toHaveLength(1500)
  })

  test('are copied with their indexes, and removed row by row', async () => {
    const { lab, contents } = await openContentsLab(open)
    await createIndex(lab.deps, lab, { path: 'a', field: 'n' })
    for (let n = 0; n < 20; n += 1) await put(lab, `a/${n}`, { n })
    await takeSnapshot(lab.deps, lab)
    const copy = { ...lab, fileId: databaseId(2) }
    const inTransaction = <Result>(work: (tx: Writer) => Promise<Result>) =>
      lab.db.transact(lab.tenantId, work)
    const bytes = await inTransaction((tx) => contents.copy(tx, lab.fileId, copy.fileId))
    expect(bytes).toBeGreaterThan(20 * 7)
    const then = await textOf(contents.present(lab.tenantId, lab.fileId))
    expect(await textOf(contents.present(lab.tenantId, copy.fileId))).toBe(then)
    const ahead = { ...lab, fileId: databaseId(3) }
    const { tenantId } = lab
    expect(await contents.copyAhead?.({ tenantId, from: lab.fileId, to: ahead.fileId })).toBe(bytes)
    expect(await textOf(contents.present(tenantId, ahead.fileId))).toBe(then)
    for (const fileId of [lab.fileId, copy.fileId, ahead.fileId])
      expect(await contents.check?.(tenantId, fileId)).toBeUndefined()
    let portions = 1
    while (!(await inTransaction((tx) => contents.remove(tx, [lab.fileId], 7)))) portions += 1
    expect(portions).toBeGreaterThan(9)
    expect(await textOf(contents.present(lab.tenantId, lab.fileId))).toBe('')
    expect(await contents.listSnapshots(lab.db.reader(lab.tenantId), lab.fileId)).toEqual([])
    expect(await textOf(contents.present(lab.tenantId, copy.fileId))).toBe(then)
  })

  test('have one snapshot of each state', async () => {
    const { lab, contents } = await openContentsLab(open)
    await put(lab, 'a/1', {})
    expect(await takeSnapshot(lab.deps, lab)).toBe(1)
    expect(await takeSnapshot(lab.deps, lab)).toBe(1)
    lab.clock.advance(hourMs)
    await put(lab, 'a/2', {})
    expect(await takeSnapshot(lab.deps, lab)).toBe(2)
    const kept = await contents.listSnapshots(lab.db.reader(lab.tenantId), lab.fileId)
    expect(kept.map(({ seq }) => seq)).toEqual([2, 1])
  })
})

test('The history keeps the last of each hour for a day, and of each day for a month', () => {
  const now = 1767225600 + 40 * 86_400
  const every20Minutes = Array.from({ length: 40 * 72 }, (_, index) => ({
    seq: 10_000 - index,
    createdAt: now - 60 - index * 1200,
    size: 1,
    storedBytes: 1,
    writers: [],
  }))
  const thinned = new Set(listThinned(every20Minutes, now))
  const kept = every20Minutes.filter((it) => !thinned.has(it))
  // Two more of the last hour, which somebody may still be reading; today is among the hours.
  expect(kept.length).toBe(24 + 29 + 2)
  expect(kept[0]?.seq).toBe(10_000)
  expect(listThinned([{ ...every20Minutes[2000]!, storedBytes: 2 ** 40 }], now)).toEqual([])
  const unfinished = { ...every20Minutes[2]!, storedBytes: null }
  expect(listThinned([unfinished, { ...unfinished, createdAt: now - 3601 }], now)).toHaveLength(1)
})
