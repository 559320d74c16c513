import { createHash } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chunksOf } from '#harness/blob-store-contract.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { alice, aliceTag, type FilesLab, filesLab, identity } from '#harness/files-lab.ts'
import type { BlobHash } from '#infra/blobs/index.ts'
import { endDeadUploads } from '../upload/end-dead-uploads.ts'
import { cancelReservation, keepBlobs, reserveUpload } from '../upload/reserve-storage.ts'
import { useBlobs } from '../upload/storage-store.ts'
import { findOrphans, sweepBlobs } from './sweep-blobs.ts'
import { verifyBlobs } from './verify-blobs.ts'

const owner = identity(aliceTag, alice)
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex') as BlobHash
const { tenantId } = alice

eachDialect('Unused bytes', (open) => {
  const openLab = filesLab(open)

  async function removed(lab: FilesLab, text: string): Promise<void> {
    const { fileId } = (await lab.upload('a', text)).json.data
    await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
    await lab.send('DELETE', `/api/files/${fileId}?permanent=true`, { as: owner })
  }
  async function onDisk(lab: FilesLab, text: string): Promise<boolean> {
    return (await lab.deps.blobs.size(tenantId, hashOf(text))) !== undefined
  }

  test('go after a while, those in use stay', async () => {
    const lab = await openLab()
    await removed(lab, 'gone')
    await lab.upload('b', 'kept')
    await sweepBlobs(lab.deps)
    expect(await onDisk(lab, 'gone')).toBe(true)
    lab.clock.advance(600_000)
    await sweepBlobs(lab.deps)
    expect([await onDisk(lab, 'gone'), await onDisk(lab, 'kept')]).toEqual([false, true])
    expect(await lab.remains()).toMatchObject({ blobs: 1, onDisk: 1 })
    expect(await lab.inconsistencies()).toEqual([])
  })

  test('of half-made pictures go when their process has been dead for less than a minute', async () => {
    const lab = await openLab()
    const { tempDir, freshPaths } = lab.deps
    const names = ['pictures-dead', 'pictures-alive']
    for (const name of names) await mkdir(join(tempDir, name))
    // The folders have the time of the system.
    lab.clock.advance(Date.now() - lab.clock.now())
    freshPaths.keep(join(tempDir, 'pictures-alive'))
    const left = async () => (await readdir(tempDir)).filter((name) => names.includes(name))
    for (const there of [names, ['pictures-alive']]) {
      await endDeadUploads(lab.deps)
      expect((await left()).sort()).toEqual([...there].sort())
      lab.clock.advance(55_000)
    }
    freshPaths.letGo(join(tempDir, 'pictures-alive'))
  })

  test('that are used again meanwhile stay', async () => {
    const lab = await openLab()
    await removed(lab, 'again')
    lab.clock.advance(600_000)
    await lab.upload('b', 'again')
    await sweepBlobs(lab.deps)
    expect(await onDisk(lab, 'again')).toBe(true)
    expect(await lab.usage()).toEqual({ used_bytes: 5, files: 1 })
    expect(await lab.inconsistencies()).toEqual([])
  })

  test('that somebody is about to use stay', async () => {
    const lab = await openLab()
    await removed(lab, 'twice')
    lab.clock.advance(600_000)
    const reservation = await reserveUpload(lab.deps, tenantId, { bytes: 5 })
    const staged = await lab.deps.blobs.stage(tenantId, chunksOf('twice'), { maxBytes: 5 })
    const kept = { ...staged, keep: () => staged.keep().then(() => sweepBlobs(lab.deps)) }
    await keepBlobs(lab.deps, tenantId, { reservation, blobs: [kept] }, (tx) =>
      useBlobs(tx, [{ hash: staged.hash, size: staged.size, kind: 'others' }]),
    )
    expect(await onDisk(lab, 'twice')).toBe(true)
    expect(await lab.remains()).toMatchObject({ reservations: 0, claims: 0 })
  })

  test('that are just leaving are not used: whoever wants them comes again', async () => {
    const lab = await openLab()
    await removed(lab, 'leaving')
    lab.clock.advance(600_000)
    let during: number | undefined
    const blobs = {
      list: lab.deps.blobs.list.bind(lab.deps.blobs),
      sweepStaged: async () => 0,
      async remove(...[tenant, hash]: [typeof tenantId, BlobHash]) {
        during = (await lab.upload('b', 'leaving')).status
        await lab.deps.blobs.remove(tenant, hash)
      },
    }
    await sweepBlobs({ ...lab.deps, blobs })
    expect(during).toBe(503)
    expect((await lab.upload('b', 'leaving')).status).toBe(201)
    expect(await onDisk(lab, 'leaving')).toBe(true)
    expect(await lab.inconsistencies()).toEqual([])
  })

  test('that a crash left half gone are taken up by the next sweep', async () => {
    const lab = await openLab()
    await removed(lab, 'half')
    lab.clock.advance(600_000)
    const blobs = {
      list: lab.deps.blobs.list.bind(lab.deps.blobs),
      sweepStaged: async () => 0,
      remove: () => Promise.reject(new Error('the process died')),
    }
    await expect(sweepBlobs({ ...lab.deps, blobs })).rejects.toThrow('died')
    await sweepBlobs(lab.deps)
    expect(await lab.remains()).toMatchObject({ blobs: 0, onDisk: 0 })
  })

  const dies = () => Promise.reject(new Error('died'))

  test('of an upload that died after its bytes had a name go within a minute', async () => {
    const lab = await openLab()
    await lab.upload('a', 'known')
    for (const text of ['orphan', 'known']) {
      const bytes = text.length
      const reservation = await reserveUpload(lab.deps, tenantId, { bytes })
      const staged = await lab.deps.blobs.stage(tenantId, chunksOf(text), { maxBytes: bytes })
      const keeping = { reservation, blobs: [staged] }
      await expect(keepBlobs(lab.deps, tenantId, keeping, dies)).rejects.toThrow('died')
    }
    lab.clock.advance(30_000)
    await endDeadUploads(lab.deps)
    expect([await onDisk(lab, 'orphan'), await onDisk(lab, 'known')]).toEqual([true, true])
    lab.clock.advance(15_000)
    await endDeadUploads(lab.deps)
    expect([await onDisk(lab, 'orphan'), await onDisk(lab, 'known')]).toEqual([false, true])
    expect(await lab.remains()).toMatchObject({ blobs: 1, onDisk: 1, reservations: 0, claims: 0 })
    await lab.upload('a', 'orphan')
    expect(await lab.inconsistencies()).toEqual([])
  })

  test('that no row ever named are found in a day', async () => {
    const lab = await openLab()
    await lab.upload('a', 'known')
    const staged = await lab.deps.blobs.stage(tenantId, chunksOf('orphan'), { maxBytes: 6 })
    await staged.keep()
    await findOrphans(lab.deps)
    lab.clock.advance(86_400_000)
    await findOrphans(lab.deps)
    await sweepBlobs(lab.deps)
    expect(await onDisk(lab, 'orphan')).toBe(true)
    lab.clock.advance(600_000)
    await sweepBlobs(lab.deps)
    expect([await onDisk(lab, 'orphan'), await onDisk(lab, 'known')]).toEqual([false, true])
    expect(await lab.remains()).toMatchObject({ blobs: 1, onDisk: 1, reservations: 0, claims: 0 })
  })

  test('that were staged and left are swept in a day', async () => {
    const lab = await openLab()
    const staging = join(lab.dir, 'blobs', 'staging')
    await writeFile(join(staging, 'left'), 'x')
    // The times of files have fractions of a millisecond.
    lab.clock.advance(Date.now() - lab.clock.now() + 86_401_000)
    await sweepBlobs(lab.deps)
    expect(await readdir(staging)).toEqual([])
  })

  test('an upload whose reservation has ended is not stored', async () => {
    const lab = await openLab()
    const reservation = await reserveUpload(lab.deps, tenantId, { bytes: 1 })
    await cancelReservation(lab.deps, tenantId, reservation)
    const staged = await lab.deps.blobs.stage(tenantId, chunksOf('x'), { maxBytes: 1 })
    const kept = keepBlobs(lab.deps, tenantId, { reservation, blobs: [staged] }, async () => {})
    await expect(kept).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
    await staged.discard()
    expect(await lab.remains()).toMatchObject({ onDisk: 0, claims: 0 })
  })
})

eachDialect('Verifying bytes', (open) => {
  const openLab = filesLab(open)

  async function problemsOf(lab: FilesLab, deep: boolean) {
    const found = await Array.fromAsync(verifyBlobs(lab.deps, tenantId, { deep }))
    return found.map(({ kind, hash }) => `${kind} ${hash}`).sort()
  }

  test('tells what is missing, damaged or known to nobody', async () => {
    const lab = await openLab()
    for (const text of ['sound', 'missing', 'short', 'changed']) await lab.upload(text, text)
    const orphan = await lab.deps.blobs.stage(tenantId, chunksOf('orphan'), { maxBytes: 6 })
    await orphan.keep()
    expect(await problemsOf(lab, true)).toEqual([])
    const pathOf = (text: string) =>
      join(lab.dir, 'blobs', `${tenantId}`, hashOf(text).slice(0, 2), hashOf(text).slice(2))
    await lab.deps.blobs.remove(tenantId, hashOf('missing'))
    await writeFile(pathOf('short'), 'sho')
    await writeFile(pathOf('changed'), 'chAnged')
    lab.clock.advance(3_600_000)
    const expected = [
      `missing ${hashOf('missing')}`,
      `damaged ${hashOf('short')}`,
      `orphaned ${hashOf('orphan')}`,
    ]
    expect(await problemsOf(lab, false)).toEqual(expected.sort())
    expect(await problemsOf(lab, true)).toEqual([...expected, `damaged ${hashOf('changed')}`].sort())
  })
})
