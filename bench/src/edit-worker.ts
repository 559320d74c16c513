import * as Y from 'yjs'
import { stepOneOfNothing, update, updateFrame, updateIn } from './document-frames.ts'
import { processorMs, readInput } from './processes.ts'
import type { EditInput, WriteResult } from './scenarios/documents.ts'
import { openSocket, until } from './sockets.ts'

/** Writers who type one character after the other at one document, each when the one before has come back, or at a pace. */
async function run({ url, pid, writers, readers, seconds, perSecond }: EditInput): Promise<WriteResult> {
  const reading = await Promise.all(Array.from({ length: readers }, () => openReader(url)))
  const writing = await Promise.all(
    Array.from({ length: writers }, () => openWriter(url, perSecond && (writers / perSecond) * 1000)),
  )
  const written = () => writing.reduce((sum, writer) => sum + writer.edits, 0)
  for (const writer of writing) writer.type()
  await new Promise((resolve) => setTimeout(resolve, (seconds / 4) * 1000))
  const before = { edits: written(), at: performance.now(), cpuMs: await processorMs(pid) }
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  for (const writer of writing) writer.stop()
  await until(() => reading.every(({ edits }) => edits === written()))
  const writes = written() - before.edits
  return {
    perSecond: (writes / (performance.now() - before.at)) * 1000,
    cpuMs: ((await processorMs(pid)) - before.cpuMs) / writes,
  }
}

async function openReader(url: string) {
  const reader = { edits: 0 }
  const socket = await openSocket(url, (frame) => {
    const bytes = updateIn(frame, update)
    if (!bytes) return
    const { from, to } = Y.parseUpdateMeta(bytes)
    for (const [client, clock] of to) reader.edits += clock - (from.get(client) ?? 0)
  })
  socket.send(stepOneOfNothing)
  return reader
}

async function openWriter(url: string, everyMs?: number) {
  const doc = new Y.Doc()
  const text = doc.getText('text')
  let isStopped = false
  const writer = {
    edits: 0,
    type(): void {
      if (isStopped) return
      writer.edits += 1
      text.insert(text.length, 'x')
      // Not all of them at the same time.
      if (everyMs !== undefined) setTimeout(writer.type, everyMs * (0.5 + Math.random()))
    },
    stop(): void {
      isStopped = true
    },
  }
  const socket = await openSocket(url, (frame) => {
    const bytes = updateIn(frame, update)
    if (everyMs === undefined && bytes && Y.parseUpdateMeta(bytes).to.get(doc.clientID) === writer.edits)
      writer.type()
  })
  doc.on('update', (bytes) => socket.send(updateFrame(bytes)))
  return writer
}

process.stdout.write(JSON.stringify(await run(await readInput<EditInput>())), () => process.exit())
