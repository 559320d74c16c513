import type { FileId } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { alice, aliceTag, type FilesLab, filesLab, identity } from '#harness/files-lab.ts'
import { findFile } from '../file-store.ts'
import { ModifiedNotes } from './modified-notes.ts'

const owner = identity(aliceTag, alice)

eachDialect('Notes of when open files were changed', (open) => {
  const openLab = filesLab(open)

  async function openNotes(lab: FilesLab) {
    const made = await lab.send('POST', '/api/files', { as: owner, json: { fileTp: 'CRDT' } })
    const fileId: FileId = made.json.data.fileId
    const logger = { error: (fields: object) => expect(fields).toBeUndefined() }
    const { db, clock } = lab
    let count = 0
    const emit = async () => {
      count += 1
    }
    const notes = new ModifiedNotes({ db, clock, logger, emit })
    return {
      fileId,
      open: () => notes.open(alice.tenantId, fileId),
      /** How many notes there were since the last time. */
      async written() {
        await notes.settled()
        const written = count
        count = 0
        return written
      },
      modifiedAt: async () => (await findFile(db.reader(alice.tenantId), fileId))?.modifiedAt,
    }
  }

  test('are written at once, then once a minute for all connections, and when the last one goes', async () => {
    const lab = await openLab()
    const { open: connect, written, modifiedAt } = await openNotes(lab)
    const [one, two] = [connect(), connect()]
    lab.clock.advance(5000)
    one.noteWritten()
    expect([await written(), await modifiedAt()]).toEqual([1, lab.clock.now() / 1000])
    for (const { noteWritten } of [one, two, one]) noteWritten()
    lab.clock.advance(59_000)
    expect(await written()).toBe(0)
    lab.clock.advance(1000)
    expect([await written(), await modifiedAt()]).toEqual([1, lab.clock.now() / 1000])
    lab.clock.advance(60_000)
    expect(await written()).toBe(0)
    two.noteWritten()
    two.noteWritten()
    expect(await written()).toBe(1)
    two.close()
    expect(await written()).toBe(0)
    lab.clock.advance(1000)
    one.close()
    expect([await written(), await modifiedAt()]).toEqual([1, lab.clock.now() / 1000])
    lab.clock.advance(120_000)
    expect(await written()).toBe(0)
  })

  test('say nothing of what nobody has changed, or is gone', async () => {
    const lab = await openLab()
    const { fileId, open: connect, written, modifiedAt } = await openNotes(lab)
    const before = await modifiedAt()
    lab.clock.advance(5000)
    connect().close()
    expect(await written()).toBe(0)
    await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
    const late = connect()
    late.noteWritten()
    late.close()
    expect([await written(), await modifiedAt()]).toEqual([0, before])
  })
})
