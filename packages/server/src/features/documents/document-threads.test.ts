import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import * as Y from 'yjs'
import { DocumentThreads, ThreadDied, type ThreadOptions } from './document-threads.ts'
import { firstUpdate } from './first-update.ts'

const opened: DocumentThreads[] = []
afterEach(async () => {
  for (const threads of opened.splice(0)) await threads.close()
})

function openThreads(options: Partial<ThreadOptions> = {}) {
  const warnings: string[] = []
  const logger = { warn: (_: object, message: string) => warnings.push(message) }
  const threads = new DocumentThreads({ logger: logger as never, maxThreads: 1, ...options })
  opened.push(threads)
  return { threads, warnings }
}

/** A program that opens documents, lets go of them and ends the threads. */
const program = `
  const { DocumentThreads } = await import(process.argv[1])
  const threads = new DocumentThreads({ logger: { warn: console.error } })
  const opened = await Promise.all(Array.from({ length: 200 }, () => threads.open([])))
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
  const { held, damaged } = await threads.open([firstUpdate, Uint8Array.of(9)])
  expect(damaged).toEqual([1])
  const state = await held.ask({ kind: 'state' })
  const doc = new Y.Doc()
  Y.applyUpdate(doc, state)
  expect(doc.getMap('meta').toJSON()).toEqual({ i: true })
  held.release()
  expect(held.isAlive).toBe(false)
})

test('a thread that does not answer in time ends; what it was at is suspect, and what waited is not', async () => {
  const { threads, warnings } = openThreads({ timeLimitMs: 1 })
  const large = scattered(20_000)
  const results = await Promise.allSettled([threads.open([large]), threads.open([firstUpdate])])
  const [first, second] = results.map((result) => (result.status === 'rejected' ? result.reason : undefined))
  expect([first, second]).toEqual([expect.any(ThreadDied), expect.any(ThreadDied)])
  expect([first.isSuspect, second.isSuspect]).toEqual([true, false])
  expect(warnings).toEqual(['a thread of documents has ended'])
})

test('a thread that needs too much memory ends, and the process does not', async () => {
  const { threads } = openThreads({ heapMegabytes: 16 })
  const large = scattered(200_000)
  await expect(threads.open([large])).rejects.toMatchObject({ isSuspect: true })
  const { held } = await threads.open([firstUpdate])
  expect(await held.ask({ kind: 'vector' })).toBeInstanceOf(Uint8Array)
})
