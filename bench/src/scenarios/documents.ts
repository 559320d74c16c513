import * as Y from 'yjs'
import { stepOneOfNothing, stepTwo, update, updateFrame, updateIn } from '../document-frames.ts'
import { Kith, tempDir } from '../kith.ts'
import { type Figure, median, repeat, timeFigure } from '../measure.ts'
import { runOn } from '../processes.ts'
import type { Settings } from '../settings.ts'
import { openSocket, realtimeFile, until } from '../sockets.ts'

const worker = new URL('../edit-worker.ts', import.meta.url)
const writers = 10
const readers = 50
const paced = 100
const paragraphs = 50_000
const paragraph = 'A paragraph of a long document. '.repeat(6)
// Longer than a document stays open after its last reader has gone.
const closedAfterMs = 3000

export interface EditInput {
  readonly url: string
  readonly pid: number
  readonly writers: number
  readonly readers: number
  readonly seconds: number
  /** So many letters a second in all, whatever comes back; if absent each when the one before has come back. */
  readonly perSecond?: number
}

export interface WriteResult {
  readonly perSecond: number
  /** Processor time of the server per write, in milliseconds. */
  readonly cpuMs: number
}

/** Durable edits of one document, each sent to everybody who has it open. */
export async function documentEdits({ runs, seconds, ...settings }: Settings): Promise<Figure[]> {
  await using data = await tempDir()
  await using kith = await Kith.start(data.path, settings)
  const token = await kith.signIn()
  const measure = (perSecond?: number) =>
    repeat(runs, async () => {
      const url = await realtimeFile(kith, token, 'CRDT')
      const pace = perSecond === undefined ? {} : { perSecond }
      const input: EditInput = { url, pid: kith.pid, writers, readers, seconds, ...pace }
      return await runOn<WriteResult>(1, worker, input)
    })
  const name = `document edits, ${writers} writers, ${readers} readers`
  const figure = { ...writeFigure(name, await measure()), rssMb: await kith.residentMb() }
  return [figure, writeFigure(`${name}, ${paced} a second`, await measure(paced))]
}

/** A document of 10 MB, from the connection to its whole state: read from the disk, and with a reader who has it open. */
export async function documentOpen(settings: Settings): Promise<Figure[]> {
  await using data = await tempDir()
  await using kith = await Kith.start(data.path, settings)
  const url = await realtimeFile(kith, await kith.signIn(), 'CRDT')
  const bytes = await fillDocument(url)
  const runs = await repeat(settings.runs, async () => {
    await new Promise((resolve) => setTimeout(resolve, closedAfterMs))
    const first = await openDocument(kith, url, bytes)
    const second = await openDocument(kith, url, bytes)
    first.close()
    second.close()
    return { first, second }
  })
  return (['first', 'second'] as const).map((reader) => {
    const opened = runs.map((run) => run[reader])
    const figure = timeFigure(
      `document of 10 MB, ${reader} reader`,
      opened.map(({ tookMs }) => tookMs),
    )
    return { ...figure, cpuMs: median(opened.map(({ cpuMs }) => cpuMs)) }
  })
}

export function writeFigure(name: string, results: readonly WriteResult[]): Figure {
  const runs = results.map(({ perSecond }) => perSecond)
  const cpuMs = median(results.map((result) => result.cpuMs))
  return { name, unit: '1/s', isRate: true, runs, median: median(runs), cpuMs }
}

/** Answers how many bytes it has, when they are stored. */
async function fillDocument(url: string): Promise<number> {
  const doc = new Y.Doc()
  doc
    .getArray('paragraphs')
    .push(Array.from({ length: paragraphs }, (_, at) => new Y.Text(`${at} ${paragraph}`)))
  const bytes = Y.encodeStateAsUpdate(doc)
  let isStored = false
  const socket = await openSocket(url, (frame) => {
    isStored ||= updateIn(frame, update) !== undefined
  })
  socket.send(updateFrame(bytes))
  await until(() => isStored)
  socket.close()
  return bytes.length
}

async function openDocument(kith: Kith, url: string, bytes: number) {
  const before = await kith.processorMs()
  const startedAt = performance.now()
  const { promise, resolve } = Promise.withResolvers<number>()
  const socket = await openSocket(url, (frame) => {
    const state = updateIn(frame, stepTwo)
    if (state) resolve(state.length)
  })
  socket.send(stepOneOfNothing)
  const length = await promise
  const tookMs = performance.now() - startedAt
  if (length < bytes) throw new Error(`the document has ${length} bytes instead of ${bytes}`)
  return { tookMs, cpuMs: (await kith.processorMs()) - before, close: () => socket.close() }
}
