import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { crowdedUpdate, slowUpdate } from '#harness/slow-updates.ts'
import type { TenantId } from '#infra/db/index.ts'
import { firstUpdate } from '../log/first-update.ts'
import { DocumentThreads, type Opening, type ThreadsOptions } from './document-threads.ts'

const opened: DocumentThreads[] = []
afterEach(async () => {
  for (const threads of opened.splice(0)) await threads.close()
})

function openThreads(options: Partial<ThreadsOptions> = {}) {
  const warnings: string[] = []
  const logger = { warn: (_: object, message: string) => warnings.push(message) }
  const threads = new DocumentThreads({ logger: logger as never, maxThreads: 1, ...options })
  opened.push(threads)
  return { threads, warnings }
}

const [tenantId, otherTenant] = [1, 2] as [TenantId, TenantId]
const opening = (pieces: readonly Uint8Array[], over: Partial<Opening> = {}): Opening => ({
  ...{ tenantId, pieces, expectedMs: 0, isSlow: false },
  ...over,
})

/** A program that opens documents, lets go of them and ends the threads. */
const program = `
  const { DocumentThreads } = await import(process.argv[1])
  const threads = new DocumentThreads({ logger: { warn: console.error } })
  const opened = await Promise.all(Array.from({ length: 200 }, () => threads.open({ tenantId: 1, pieces: [], expectedMs: 0, isSlow: false })))
  for (const { held } of opened) held.release()
  const until = performance.now() + 5
  while (performance.now() < until);
  await threads.close()
  console.log('closed')`

test('a process waits for the end of its threads, and for nothing else', async () => {
  const source = new URL('document-threads.ts', import.meta.url).href
  const args = ['--input-type=module', '--eval', program, source]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toBe('closed\n')
})

/** So many updates that each insert at the beginning: nothing of them is joined. */
function scattered(count: number): Uint8Array {
  const doc = new Y.Doc()
  const text = doc.getText('t')
  doc.transact(() => {
    for (let at = 0; at < count; at += 1) text.insert(0, 'x')
  })
  return Y.encodeStateAsUpdate(doc)
}

test('a document in a thread answers like one that is here', async () => {
  const { threads } = openThreads()
  const { held, damaged } = await threads.open(opening([firstUpdate, Uint8Array.of(9)]))
  expect(damaged).toEqual([1])
  const state = await held.ask({ kind: 'state' })
  const doc = new Y.Doc()
  Y.applyUpdate(doc, state)
  expect(doc.getMap('meta').toJSON()).toEqual({ i: true })
  held.release()
  expect(held.isAlive).toBe(false)
})

const apply = (...updates: Uint8Array[]) => ({ kind: 'apply', updates, room: 1e9 }) as const

test('a thread that does not answer in time ends; what it was at is suspect, and what waited is not', async () => {
  const { threads, warnings } = openThreads({ limits: { sharedMs: 10 } })
  const { held } = await threads.open(opening([crowdedUpdate]))
  const { held: other } = await threads.open(opening([firstUpdate], { tenantId: otherTenant }))
  const results = await Promise.allSettled([
    held.ask(apply(slowUpdate(2, 300))),
    other.ask({ kind: 'vector' }),
  ])
  expect(results).toMatchObject([
    { reason: { isSuspect: true, isTooLong: true, wasSlow: false } },
    { reason: { isSuspect: false, isTooLong: false } },
  ])
  expect(warnings).toEqual(['a thread of documents has ended'])
})

test('what is thrown in a thread is an answer, and the thread goes on', async () => {
  const { threads, warnings } = openThreads()
  const { held } = await threads.open(opening([firstUpdate]))
  const { held: other } = await threads.open(opening([firstUpdate], { tenantId: otherTenant }))
  held.release()
  await expect(held.ask({ kind: 'vector' })).rejects.toThrow('not open here')
  expect(await other.ask({ kind: 'vector' })).toBeInstanceOf(Uint8Array)
  expect(warnings).toEqual([])
})

describe('a document that takes long', () => {
  test('is moved to a thread apart, with the others of its tenant, and nobody else waits for it', async () => {
    const { threads } = openThreads({ limits: { sharedMs: 60_000 } })
    const { held: other } = await threads.open(opening([firstUpdate], { tenantId: otherTenant }))
    const { held } = await threads.open(opening([crowdedUpdate]))
    expect([held.isSlow, held.isToMove]).toEqual([false, false])
    await held.ask(apply(slowUpdate(2, 2000)))
    expect([held.isToMove, other.isToMove]).toEqual([true, false])
    held.release()
    const { held: apart } = await threads.open(opening([crowdedUpdate]))
    expect(apart.isSlow).toBe(true)
    const answered: string[] = []
    const note = (name: string) => () => void answered.push(name)
    await Promise.all([
      apart.ask(apply(slowUpdate(2, 800))).then(note('slow')),
      other.ask({ kind: 'vector' }).then(note('other')),
    ])
    expect(answered).toEqual(['other', 'slow'])
  })

  test('is opened apart where that is known before', async () => {
    const { threads } = openThreads()
    const { held: known } = await threads.open(opening([firstUpdate], { expectedMs: 300 }))
    const { held: large } = await threads.open(opening([new Uint8Array(5 * 1024 ** 2)]))
    const { held: usual } = await threads.open(opening([firstUpdate]))
    expect([known, large, usual].map(({ isSlow }) => isSlow)).toEqual([true, true, false])
  })

  test('waits for those of tenants that have used less', async () => {
    const { threads } = openThreads()
    const { held } = await threads.open(opening([crowdedUpdate], { isSlow: true }))
    const { held: other } = await threads.open(
      opening([firstUpdate], { isSlow: true, tenantId: otherTenant }),
    )
    const answered: string[] = []
    const note = (name: string) => () => void answered.push(name)
    await Promise.all([
      held.ask(apply(slowUpdate(2))).then(note('first')),
      held.ask({ kind: 'vector' }).then(note('second')),
      other.ask({ kind: 'vector' }).then(note('other')),
    ])
    expect(answered).toEqual(['first', 'other', 'second'])
  })

  test('has its updates refused by a lower limit than its opening', async () => {
    const { threads } = openThreads({ limits: { applyMs: 60 } })
    const pieces = [crowdedUpdate, slowUpdate(2, 400)]
    const { held } = await threads.open(opening(pieces, { isSlow: true }))
    expect(held.openMs).toBeGreaterThan(60)
    await expect(held.ask(apply(slowUpdate(3, 400)))).rejects.toMatchObject({
      ...{ isSuspect: true, isTooLong: true, wasSlow: true },
    })
  })
})

test('a thread that needs too much memory ends, and the process does not', async () => {
  const { threads } = openThreads({ limits: { sharedHeapMegabytes: 16 } })
  const large = scattered(200_000)
  await expect(threads.open(opening([large]))).rejects.toMatchObject({ isSuspect: true })
  const { held } = await threads.open(opening([firstUpdate]))
  expect(await held.ask({ kind: 'vector' })).toBeInstanceOf(Uint8Array)
})
